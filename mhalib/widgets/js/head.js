// One head on its own (chapter 3), as mhalib/widgets/single_head.py computes it.

import { attention, causalMask, paddingMask } from "./attention.js";
import { normals } from "./normals.js";
import { columns, matmul, matrix } from "./tensor.js";

/** W_Q, W_K, W_V of one head of a layer, or random ones of the same shape and spread. */
export function headWeights(transformer, { layer, head, weights, seed }) {
  const { d_model: d, d_k: dK, d_v: dV } = transformer.config;
  if (weights === "random") {
    const z = normals(seed, d * (2 * dK + dV)).map((value) => value / Math.sqrt(d));
    const cut = (from, cols) => matrix(d, cols, z.subarray(from, from + d * cols));
    return { W_Q: cut(0, dK), W_K: cut(d * dK, dK), W_V: cut(2 * d * dK, dV) };
  }
  const p = transformer.layers[layer];
  const cut = (W, width) => columns(W, head * width, (head + 1) * width);
  return { W_Q: cut(p.W_Q, dK), W_K: cut(p.W_K, dK), W_V: cut(p.W_V, dV) };
}

export function headMask(n, mask, padding) {
  if (mask === "none") return null;
  const real = Array.from({ length: n }, (_, j) => !padding.includes(j));
  return mask === "causal" ? causalMask(n) : paddingMask(real);
}

/** Every step of one head that reads X. */
export function singleHead(X, { W_Q, W_K, W_V }, mask) {
  const [Q, K, V] = [W_Q, W_K, W_V].map((W) => matmul(X, W));
  return { Q, K, V, ...attention(Q, K, V, { mask }) };
}
