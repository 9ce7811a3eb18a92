// Mirrors mhalib/attention.py (chapters 3 and 4). Masks: 1 = may attend.

import { matmul, matmulT, matrix, row } from "./tensor.js";

/** exp(x − max x) / Σ exp(x − max x); a row of nothing but −∞ is all 0. */
export function softmax(x) {
  let maximum = -Infinity;
  for (const value of x) if (value > maximum) maximum = value;
  const out = new Float64Array(x.length);
  if (maximum === -Infinity) return out;
  let total = 0;
  for (let i = 0; i < x.length; i++) total += out[i] = Math.exp(x[i] - maximum);
  for (let i = 0; i < x.length; i++) out[i] /= total;
  return out;
}

/** x − max x − log Σ exp(x − max x) */
export function logSoftmax(x) {
  let maximum = -Infinity;
  for (const value of x) if (value > maximum) maximum = value;
  if (maximum === -Infinity) return Float64Array.from(x);
  let total = 0;
  for (const value of x) total += Math.exp(value - maximum);
  const shift = maximum + Math.log(total);
  return Float64Array.from(x, (value) => value - shift);
}

/** mask[i, j] = (j ≤ i + n_k − n_q): the last query sees the last key. */
export function causalMask(nQ, nK = nQ) {
  const mask = matrix(nQ, nK, new Uint8Array(nQ * nK));
  for (let i = 0; i < nQ; i++) row(mask, i).fill(1, 0, Math.max(0, i + nK - nQ + 1));
  return mask;
}

/** mask[i, j] = real[j]: nobody looks at padding. */
export function paddingMask(real, nQ = real.length) {
  const mask = matrix(nQ, real.length, new Uint8Array(nQ * real.length));
  for (let i = 0; i < nQ; i++) row(mask, i).set(real.map(Number));
  return mask;
}

export function bothMasks(a, b) {
  if (!a || !b) return a ?? b;
  return matrix(a.rows, a.cols, a.data.map((value, i) => value & b.data[i]));
}

/** scale · Q Kᵀ, by default with scale = 1/√d_k */
export function scores(Q, K, scale = 1 / Math.sqrt(Q.cols)) {
  return matmulT(Q, K, scale);
}

/** softmax(S) over the keys the mask allows; a query with no allowed key gets 0. */
export function attentionWeights(S, mask = null) {
  const weights = matrix(S.rows, S.cols);
  for (let i = 0; i < S.rows; i++) {
    const s = row(S, i).slice();
    for (let j = 0; mask && j < s.length; j++) if (!mask.data[i * S.cols + j]) s[j] = -Infinity;
    weights.data.set(softmax(s), i * S.cols);
  }
  return weights;
}

/** softmax(scale · Q Kᵀ) V, with what it is made of. */
export function attention(Q, K, V, { mask = null, scale } = {}) {
  const S = scores(Q, K, scale);
  const weights = attentionWeights(S, mask);
  return { scores: S, weights, output: matmul(weights, V) };
}

// Statistics of one row of weights (chapter 4).

/** −Σ p log p, in nats, with 0 log 0 = 0 */
export function entropy(p) {
  let sum = 0;
  for (const share of p) if (share > 0) sum -= share * Math.log(share);
  return sum;
}

export function largest(p) {
  return p.reduce((a, b) => Math.max(a, b), -Infinity);
}

/** Frobenius norm of the softmax Jacobian diag(p) − p pᵀ: how much of a gradient gets through. */
export function jacobianNorm(p) {
  let square = 0;
  let cube = 0;
  for (const share of p) {
    square += share * share;
    cube += share * share * share;
  }
  return Math.sqrt(Math.max(0, square - 2 * cube + square * square));
}
