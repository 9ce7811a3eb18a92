// The experiment of chapter 4: random queries and keys, their scores and weights, for any d_k.
// mhalib/widgets/scaling.py computes the same with NumPy.

import { attentionWeights, entropy, jacobianNorm, largest } from "./attention.js";
import { normals } from "./normals.js";
import { matrix, mean, row } from "./tensor.js";

export const N_QUERIES = 32;
export const MAX_KEYS = 64;
export const MAX_D_K = 1024;
export const N_HEADS = 8; // d_model = 8 d_k, as in the paper
export const SWEEP = Array.from({ length: 21 }, (_, i) => Math.round(2 ** (i / 2)));

export const SCALES = {
  none: () => 1,
  sqrt_d_k: (dK) => 1 / Math.sqrt(dK),
  d_k: (dK) => 1 / dK,
  sqrt_d_model: (dK) => 1 / Math.sqrt(N_HEADS * dK),
};

/**
 * The raw products of all queries and keys of a seed, for σ = 1. Feature t of every query and
 * key is drawn before feature t+1, so a larger d_k adds terms to the same sums.
 */
export function drawSample(seed) {
  const width = N_QUERIES + MAX_KEYS;
  const z = normals(seed, MAX_D_K * width);
  const addFeature = (sums, t) => {
    for (let i = 0; i < N_QUERIES; i++) {
      const q = z[t * width + i];
      for (let j = 0; j < MAX_KEYS; j++) {
        sums[i * MAX_KEYS + j] += q * z[t * width + N_QUERIES + j];
      }
    }
  };
  const sums = new Float64Array(N_QUERIES * MAX_KEYS);
  const products = new Map();
  for (let t = 0; t < MAX_D_K; t++) {
    addFeature(sums, t);
    if (SWEEP.includes(t + 1)) products.set(t + 1, sums.slice());
  }
  return (dK) => {
    if (products.has(dK)) return products.get(dK);
    const start = Math.max(...SWEEP.filter((d) => d < dK)); // SWEEP[0] is 1
    const rest = products.get(start).slice();
    for (let t = start; t < dK; t++) addFeature(rest, t);
    return rest;
  };
}

/** Scores, weights and statistics (averaged over the queries) of one setting. */
export function experiment(products, { dK, sigma, nKeys, scale }) {
  const factor = SCALES[scale](dK) * sigma * sigma;
  const raw = products(dK);
  const scores = matrix(N_QUERIES, nKeys);
  for (let i = 0; i < N_QUERIES; i++) {
    for (let j = 0; j < nKeys; j++) scores.data[i * nKeys + j] = factor * raw[i * MAX_KEYS + j];
  }
  const weights = attentionWeights(scores);
  const rows = Array.from({ length: N_QUERIES }, (_, i) => row(weights, i));
  const average = mean(scores.data);
  return {
    scores,
    weights,
    variance: mean(scores.data.map((s) => (s - average) ** 2)),
    theory: factor * factor * dK, // σ⁴ d_k, times the squared scale,
    entropy: mean(rows.map(entropy)),
    largest: mean(rows.map(largest)),
    jacobian: mean(rows.map(jacobianNorm)),
  };
}
