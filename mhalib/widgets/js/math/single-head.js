// One head on its own (chapter 3), as mhalib/widgets/single_head.py computes it.

import { attention, causalMask, paddingMask } from "./attention.js";
import { normals } from "./normals.js";
import { add, columns, matmul, matrix } from "./tensor.js";

/** W_Q, W_K, W_V of one head of a layer and its rows of W_O, or random ones of the same shape. */
export function headWeights(transformer, { layer, head, weights, seed }) {
  const { d_model: d, d_k: dK, d_v: dV } = transformer.config;
  if (weights === "random") {
    const z = normals(seed, d * (2 * dK + 2 * dV)).map((value) => value / Math.sqrt(d));
    const cut = (from, rows, cols) => matrix(rows, cols, z.subarray(from, from + rows * cols));
    return {
      W_Q: cut(0, d, dK),
      W_K: cut(d * dK, d, dK),
      W_V: cut(2 * d * dK, d, dV),
      W_O: cut(d * (2 * dK + dV), dV, d),
    };
  }
  const p = transformer.layers[layer];
  const cut = (W, width) => columns(W, head * width, (head + 1) * width);
  const W_O = matrix(dV, d, p.W_O.data.subarray(head * dV * d, (head + 1) * dV * d));
  return { W_Q: cut(p.W_Q, dK), W_K: cut(p.W_K, dK), W_V: cut(p.W_V, dV), W_O };
}

export function headMask(n, mask, padding) {
  if (mask === "none") return null;
  const real = Array.from({ length: n }, (_, j) => !padding.includes(j));
  return mask === "causal" ? causalMask(n) : paddingMask(real);
}

/** Every step of one head that reads X, to the stream with its correction added. */
export function singleHead(X, { W_Q, W_K, W_V, W_O }, mask) {
  const [Q, K, V] = [W_Q, W_K, W_V].map((W) => matmul(X, W));
  const { output, ...rest } = attention(Q, K, V, { mask });
  const correction = matmul(output, W_O);
  return { Q, K, V, ...rest, output, correction, sum: add(X, correction) };
}
