// Mirrors mhalib/model: ids → logits, with every intermediate kept, and what can be taken out.

import { bothMasks, causalMask, logSumExp, softmax } from "./attention.js";
import { embed, sinusoidalPositions } from "./embedding.js";
import { BLOCKS, layerNorm } from "./layers.js";
import { add, matmul, matrix, row, transpose } from "./tensor.js";

/** Undo the packing of mhalib/widgets/models.py: { config, tensors: [[name, shape]], grid, data }. */
export function unpack(packed) {
  const steps = unpacking(packed);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same in steps, so that a page can answer its reader in between. */
export function* unpacking({ config, tensors, grid, data }) {
  const numbers = grid ? yield* multiples(data, grid) : new Float64Array(viewBytes(data).slice().buffer);
  const parameters = {};
  let at = 0;
  for (const [name, shape] of tensors) {
    const [rows, cols] = shape.length === 2 ? shape : [1, shape[0]];
    parameters[name] = matrix(rows, cols, numbers.subarray(at, (at += rows * cols)));
  }
  return new Transformer(config, parameters);
}

function viewBytes(view) {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** Undo `shrink`: all lower bytes, then all upper ones; 0, 1, 2, 3 … stand for 0, −1, 1, −2 … times `grid`. */
function* multiples(text, grid) {
  const bytes = atob(text);
  const count = bytes.length / 2;
  const numbers = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    if (i % 16384 === 16383) yield;
    const unsigned = bytes.charCodeAt(i) | (bytes.charCodeAt(count + i) << 8);
    numbers[i] = ((unsigned >> 1) ^ -(unsigned & 1)) * grid;
  }
  return numbers;
}

export class Transformer {
  constructor(config, parameters) {
    this.config = config;
    this.parameters = parameters;
    this.unembedding = transpose(parameters.E);
    this.layers = Array.from({ length: config.n_layers }, (_, i) => {
      const prefix = `layers.${i}.`;
      return Object.fromEntries(
        Object.entries(parameters)
          .filter(([name]) => name.startsWith(prefix))
          .map(([name, value]) => [name.slice(prefix.length), value]),
      );
    });
  }

  /**
   * The trace of one text. `ablate` names what to take out: { scale, mask, positions,
   * embedding_scale, residual, norm: true, W_O: [layer], heads: [[layer, head]], ffn: [layer], layers: [layer] }.
   * A layer stands at its own index in the trace; the place of one that was left out holds null.
   * `mask` (1 = may attend) is for padding. Without `head` the trace ends at the last layer.
   */
  forward(ids, { ablate = {}, mask = null, causal = true, head = true } = {}) {
    const { config, parameters: p } = this;
    const embedded = embed(ids, p.E, ablate.embedding_scale ? 1 : undefined);
    const silent = config.positions === "none" || ablate.positions;
    const positions = silent ? matrix(ids.length, config.d_model) : sinusoidalPositions(ids.length, config.d_model);
    const X = add(embedded, positions);
    const options = {
      config,
      norm: ablate.norm ? (A) => A : layerNorm,
      residual: ablate.residual ? (_, correction) => correction : add,
      scale: ablate.scale || !config.scaled ? 1 : undefined,
      mask: causal && !ablate.mask ? bothMasks(mask, causalMask(ids.length)) : mask,
    };
    let stream = X;
    const layers = this.layers.map((layer, i) => {
      if (ablate.layers?.includes(i)) return null;
      const silenced = (ablate.heads ?? []).filter(([l]) => l === i).map(([, head]) => head);
      const W_O = ablate.W_O?.includes(i) ? null : layer.W_O;
      const W_2 = ablate.ffn?.includes(i) ? null : layer.W_2;
      const block = BLOCKS[config.norm](stream, { ...layer, W_O, W_2 }, { ...options, silenced });
      stream = block.output;
      return block;
    });
    const end = head ? this.readOut(stream, ablate) : { output: stream };
    return Object.assign(end, { ids, embedded, positions, X, layers });
  }

  /** What the vocabulary head says about each row of a stream; the softmax is computed when it is asked for. */
  readOut(stream, ablate = {}) {
    const { config, parameters: p } = this;
    const output = config.norm === "pre" && !ablate.norm ? layerNorm(stream, p.gamma_f, p.beta_f) : stream;
    const logits = matmul(output, this.unembedding);
    let shares = null;
    return {
      output,
      logits,
      get probabilities() {
        return (shares ??= softmaxRows(logits));
      },
    };
  }
}

function softmaxRows(A) {
  const B = matrix(A.rows, A.cols);
  for (let i = 0; i < A.rows; i++) softmax(row(A, i), row(B, i));
  return B;
}

/** −log p of the token that did come next, at each place but the last. */
export function losses({ logits, ids }) {
  return ids.slice(1).map((target, i) => logSumExp(row(logits, i)) - logits.data[i * logits.cols + target]);
}
