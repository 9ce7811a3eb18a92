// Mirrors mhalib/attention.py (chapters 3 and 4). Masks: 1 = may attend.

import { matmul, matmulT, matrix, row } from "./tensor.js";

function largest(x) {
  let maximum = -Infinity;
  for (let i = 0; i < x.length; i++) if (x[i] > maximum) maximum = x[i];
  return maximum;
}

/** exp(x − max x) / Σ exp(x − max x), written into `out`; a row of nothing but −∞ is all 0. */
export function softmax(x, out = new Float64Array(x.length)) {
  const maximum = largest(x);
  if (maximum === -Infinity) return out.fill(0);
  let total = 0;
  for (let i = 0; i < x.length; i++) total += out[i] = Math.exp(x[i] - maximum);
  for (let i = 0; i < x.length; i++) out[i] /= total;
  return out;
}

/** max x + log Σ exp(x − max x) */
export function logSumExp(x) {
  const maximum = largest(x);
  if (maximum === -Infinity) return maximum;
  let total = 0;
  for (let i = 0; i < x.length; i++) total += Math.exp(x[i] - maximum);
  return maximum + Math.log(total);
}

/** x − log Σ exp x */
export function logSoftmax(x) {
  const shift = logSumExp(x);
  return Float64Array.from(x, (value) => (shift === -Infinity ? value : value - shift));
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
  return matrix(
    a.rows,
    a.cols,
    a.data.map((value, i) => value & b.data[i]),
  );
}

/** scale · Q Kᵀ, by default with scale = 1/√d_k */
export function scores(Q, K, scale = 1 / Math.sqrt(Q.cols), S = matrix(Q.rows, K.rows)) {
  return matmulT(Q, K, scale, S);
}

/** softmax(S) over the keys the mask allows; a query with no allowed key gets 0. */
export function attentionWeights(S, mask = null, weights = matrix(S.rows, S.cols)) {
  const [s, w, n] = [S.data, weights.data, S.cols];
  for (let start = 0; start < s.length; start += n) {
    let maximum = -Infinity;
    for (let c = start; c < start + n; c++) if (s[c] > maximum && (!mask || mask.data[c])) maximum = s[c];
    if (maximum === -Infinity) continue;
    let total = 0;
    for (let c = start; c < start + n; c++) {
      if (!mask || mask.data[c]) total += w[c] = Math.exp(s[c] - maximum);
    }
    for (let c = start; c < start + n; c++) w[c] /= total;
  }
  return weights;
}

/** softmax(scale · Q Kᵀ) V, with what it is made of. */
export function attention(Q, K, V, { mask = null, scale } = {}) {
  const S = scores(Q, K, scale);
  const weights = attentionWeights(S, mask);
  return { scores: S, weights, output: matmul(weights, V) };
}
