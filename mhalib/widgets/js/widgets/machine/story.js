// What happens to one token on its way, stage by stage, in a sentence, a formula and its numbers each.

import { fixed } from "../../math/format.js";
import { row } from "../../math/tensor.js";

/** The stages in their order: { kind, layer }. A step k of the walk shows the first k of them. */
export function stagesOf(N) {
  const layers = Array.from({ length: N }, (_, layer) => [
    { kind: "attention", layer },
    { kind: "ffn", layer },
  ]);
  return [{ kind: "ids" }, { kind: "X" }, ...layers.flat(), { kind: "words" }];
}

/** The weight that a token gives most to, in one layer or in all: { layer, head, i, j, weight } or null. */
export function strongest(trace, i, only = null) {
  let best = null;
  trace.layers.forEach((block, layer) => {
    if (!block || (only !== null && layer !== only)) return;
    block.weights.forEach((W, head) => {
      row(W, i).forEach((weight, j) => {
        if (j === i && i > 0) return; // what it takes from itself is no news
        if (!best || weight > best.weight + 1e-9) best = { layer, head, i, j, weight, stage: "weights" };
      });
    });
  });
  return best;
}

const few = (numbers) => `(${[...numbers].slice(0, 3).map((v) => fixed(v, 2)).join(", ")}, …)`; // prettier-ignore

/** { said, more, lesson, ref } of a stage for the token `now.position`. */
export function tell({ kind, layer }, now) {
  const { position: i, labels, ids, shown, config, off } = now;
  const { trace } = shown;
  const me = `“${labels[i]}”`;
  const { d_model: d, n_heads: H, d_k: dK } = config;
  if (kind === "ids")
    return { said: `${me} is token ${i} of the text. Its id is ${ids[i]}.`, more: `text → ${ids.length} ids: the pieces, by their numbers`, lesson: 1 }; // prettier-ignore
  if (kind === "X") {
    const scale = off.includes("embedding_scale") ? "" : ` · √${d}`;
    return {
      said: `${me} becomes ${d} numbers: its row of E${scale && `, times √${d}`}, plus the code of place ${i}.`,
      more: `X = E[${ids[i]}]${scale} + P[${i}] = ${few(row(trace.X, i))}`,
      lesson: 2,
      ref: { stage: "X", layer: null, head: null, i, j: 0 },
    };
  }
  const block = layer === undefined ? null : trace.layers[layer];
  if (layer !== undefined && !block) return { said: `Layer ${layer} is switched off: nothing is added here.`, more: "x = x", lesson: 6 }; // prettier-ignore
  if (kind === "attention") {
    const best = strongest(trace, i, layer);
    return {
      said: `Layer ${layer}: ${H} heads look back. ${best ? `${me} takes most from “${labels[best.j]}”: ${fixed(best.weight, 3)} in head ${best.head}.` : ""}`,
      more: `each head: softmax(Q Kᵀ${off.includes("scale") ? "" : ` / √${dK}`}) V; then concat · W_O is added to the stream`,
      lesson: layer === 0 ? 3 : 5,
      ref: best,
    };
  }
  if (kind === "ffn") {
    const hidden = row(block.ffn_hidden, i);
    const active = hidden.reduce((count, value) => count + Number(value > 0), 0);
    const largest = hidden.reduce((best, value, t) => (value > hidden[best] ? t : best), 0);
    return {
      said: `Layer ${layer}: the feed-forward network works on ${me} alone: ${active} of its ${hidden.length} neurons are on.`,
      more: `${config.activation}(x · W_1 + b_1) · W_2 + b_2 = ${few(row(block.ffn, i))}, added to the stream`,
      lesson: 6,
      ref: { stage: "ffn_hidden", layer, head: null, i, j: largest },
    };
  }
  const best = now.top[0];
  return {
    said: `The final vector of ${me} meets every row of E: “${best.name}” gets ${fixed(best.after ?? best.before, 3)}.`,
    more: `softmax(x · Eᵀ) = softmax(… ${fixed(trace.logits.data[i * trace.logits.cols + best.id], 2)} …) over ${trace.logits.cols} tokens`,
    lesson: 7,
    ref: { stage: "probabilities", layer: null, head: null, i, j: best.id },
  };
}

/** The whole way as an outline for screen readers: a list of sentences. */
export function outline(now) {
  const list = stagesOf(now.config.n_layers).map((stage) => {
    const { said, more } = tell(stage, now);
    return `${said} ${more}.`;
  });
  const changed = now.off.length ? [now.change] : [];
  return [...changed, ...list, `Next: ${now.top.slice(0, 5).map((t) => `${t.name} ${fixed(t.after ?? t.before, 3)}`).join(", ")}.`]; // prettier-ignore
}
