// Mirrors mhalib/multihead.py (chapter 5).

import { attentionWeights, scores } from "./attention.js";
import { concat, copyColumns, matmul, stacked } from "./tensor.js";

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
