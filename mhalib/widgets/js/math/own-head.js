// An attention of one's own, as mhalib/widgets/own_head.py computes it.

import { attention, causalMask, paddingMask } from "./attention.js";
import { normals } from "./normals.js";
import { columns, matmul, matrix, row } from "./tensor.js";

/** The mask of a setting, 1 = may attend, or null. */
export function ownMask(n, { mask, window, padding, hidden }) {
  if (mask === "none") return null;
  if (mask === "padding") return paddingMask(Array.from({ length: n }, (_, j) => !padding.includes(j)));
  const allowed = mask === "painted" ? matrix(n, n, new Uint8Array(n * n).fill(1)) : causalMask(n);
  if (mask === "window") for (let i = window; i < n; i++) row(allowed, i).fill(0, 0, i - window + 1);
  if (mask === "painted") for (const [i, j] of hidden) if (i < n && j < n) allowed.data[i * n + j] = 0;
  return allowed;
}

/** W_Q, W_K, W_V, (d_model, d_model), of a layer or random. */
export function ownProjections(transformer, layer, projections, seed) {
  const d = transformer.config.d_model;
  if (projections === "trained") return ["W_Q", "W_K", "W_V"].map((name) => transformer.layers[layer][name]);
  const z = normals(seed, 3 * d * d).map((value) => value / Math.sqrt(d));
  return [0, 1, 2].map((k) => matrix(d, d, z.subarray(k * d * d, (k + 1) * d * d)));
}

/** 1/√d_k, 1, or the number that was set. */
export const scaleOf = ({ scale, d_k: dK, factor }) =>
  scale === "sqrt_d_k" ? 1 / Math.sqrt(dK) : scale === "none" ? 1 : factor;

/** −Σ p log p of each row, in nats. */
export function entropies(weights) {
  return Array.from({ length: weights.rows }, (_, i) => {
    let sum = 0;
    for (const p of row(weights, i)) if (p > 0) sum -= p * Math.log(p);
    return sum + 0;
  });
}

/** Each head: { Q, K, V, scores, weights, output, entropy }. */
export function ownHeads(X, W, mask, state) {
  const { d_k: dK, n_heads: h, values } = state;
  const scale = scaleOf(state);
  return Array.from({ length: h }, (_, k) => {
    const parts = W.map((each) => matmul(X, columns(each, k * dK, (k + 1) * dK)));
    for (const [name, value] of Object.entries(values)) {
      const [part, head, i, j] = name.split(".");
      const A = parts["QKV".indexOf(part)];
      if (Number(head) === k && Number(i) < A.rows && Number(j) < dK) A.data[i * dK + Number(j)] = value;
    }
    const [Q, K, V] = parts;
    const found = attention(Q, K, V, { mask, scale });
    return { Q, K, V, ...found, entropy: entropies(found.weights) };
  });
}
