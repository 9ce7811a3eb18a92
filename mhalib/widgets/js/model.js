// Mirrors mhalib/model.py: ids → logits, with every intermediate kept, and what can be taken out.

import { attentionWeights, bothMasks, causalMask, logSumExp, scores, softmax } from "./attention.js";
import { embed, feedForward, layerNorm, sinusoidalPositions } from "./layers.js";
import { add, concat, copyColumns, matmul, matrix, row, stacked, transpose } from "./tensor.js";

/** Undo the packing of mhalib/widgets/models.py: { config, tensors: [[name, shape]], grid, data }. */
export function unpack({ config, tensors, grid, data }) {
  const numbers = grid ? multiples(data, grid) : new Float64Array(viewBytes(data).slice().buffer);
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
function multiples(text, grid) {
  const bytes = atob(text);
  const count = bytes.length / 2;
  const numbers = new Float64Array(count);
  for (let i = 0; i < count; i++) {
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
   * embedding_scale, residual, norm: true, W_O: [layer], heads: [[layer, head]], layers: [layer] }.
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
    const layers = [];
    this.layers.forEach((layer, i) => {
      if (ablate.layers?.includes(i)) return;
      const silenced = (ablate.heads ?? []).filter(([l]) => l === i).map(([, head]) => head);
      const W_O = ablate.W_O?.includes(i) ? null : layer.W_O;
      const block = BLOCKS[config.norm](stream, { ...layer, W_O }, { ...options, silenced });
      layers.push({ index: i, ...block });
      stream = block.output;
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

/** Every intermediate of multi-head attention; Q, K, V, scores, weights and heads are one per head. */
export function multiHeadTrace(X, p, { config, scale, mask, silenced = [] }) {
  const { n_heads: h, d_k: dK, d_v: dV } = config;
  const n = X.rows;
  const split = (W, d) => {
    const all = matmul(X, W);
    const parts = stacked(h, n, d);
    parts.forEach((part, i) => copyColumns(all, i * d, part));
    return parts;
  };
  const [Q, K, V] = [split(p.W_Q, dK), split(p.W_K, dK), split(p.W_V, dV)];
  const [S, weights, heads] = [stacked(h, n, n), stacked(h, n, n), stacked(h, n, dV)];
  for (let i = 0; i < h; i++) {
    scores(Q[i], K[i], scale, S[i]);
    attentionWeights(S[i], mask, weights[i]);
    if (!silenced.includes(i)) matmul(weights[i], V[i], heads[i]);
  }
  const side = concat(heads);
  return { Q, K, V, scores: S, weights, heads, concat: side, O: p.W_O ? matmul(side, p.W_O) : side };
}

const BLOCKS = {
  post(X, p, options) {
    const { norm, residual, config } = options;
    const attention = multiHeadTrace(X, p, options);
    const residual_1 = residual(X, attention.O);
    const norm_1 = norm(residual_1, p.gamma_1, p.beta_1);
    const ffn = feedForward(norm_1, p, config.activation);
    const residual_2 = residual(norm_1, ffn.output);
    const norm_2 = norm(residual_2, p.gamma_2, p.beta_2);
    return {
      ...attention,
      residual_1,
      norm_1,
      ffn_hidden: ffn.hidden,
      ffn: ffn.output,
      residual_2,
      norm_2,
      output: norm_2,
    };
  },
  pre(X, p, options) {
    const { norm, residual, config } = options;
    const norm_1 = norm(X, p.gamma_1, p.beta_1);
    const attention = multiHeadTrace(norm_1, p, options);
    const residual_1 = residual(X, attention.O);
    const norm_2 = norm(residual_1, p.gamma_2, p.beta_2);
    const ffn = feedForward(norm_2, p, config.activation);
    const residual_2 = residual(residual_1, ffn.output);
    return {
      ...attention,
      norm_1,
      residual_1,
      norm_2,
      ffn_hidden: ffn.hidden,
      ffn: ffn.output,
      residual_2,
      output: residual_2,
    };
  },
};

/** −log p of the token that did come next, at each place but the last. */
export function losses({ logits, ids }) {
  return ids.slice(1).map((target, i) => logSumExp(row(logits, i)) - logits.data[i * logits.cols + target]);
}

// Choosing the next token: mirrors mhalib/vocab.py.

/** Ids from the largest logit down; among equals the smaller id first. */
export function ranked(logits) {
  return Array.from(logits, (_, id) => id).sort((a, b) => logits[b] - logits[a] || a - b);
}

function keep(logits, ids) {
  const kept = new Set(ids);
  return logits.map((value, id) => (kept.has(id) ? value : -Infinity));
}

export function topKFilter(logits, k) {
  return keep(logits, ranked(logits).slice(0, k));
}

/** The fewest tokens, likeliest first, whose probabilities reach p together. */
export function topPFilter(logits, p) {
  const shares = softmax(logits);
  let before = 0;
  return keep(
    logits,
    ranked(logits).filter((id) => {
      const kept = before < p;
      before += shares[id];
      return kept;
    }),
  );
}

/** The probabilities that sampling draws from: temperature, then top_k, then top_p (0: not used). */
export function samplingProbabilities(logits, { temperature = 1, topK = 0, topP = 1 } = {}) {
  let tempered = logits.map((value) => value / temperature);
  if (topK) tempered = topKFilter(tempered, topK);
  if (topP < 1) tempered = topPFilter(tempered, topP);
  return softmax(tempered);
}

/** The id whose share of [0, 1) holds `u`. */
export function draw(probabilities, u) {
  const total = probabilities.reduce((sum, share) => sum + share, 0);
  let sum = 0;
  return probabilities.findIndex((share) => (sum += share) > u * total);
}
