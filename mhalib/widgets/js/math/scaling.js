// The experiment of chapter 4: random queries and keys, their scores and weights, for any d_k.
// mhalib/widgets/scaling.py computes the same with NumPy.

import { attentionWeights } from "./attention.js";
import { normals } from "./normals.js";
import { matrix } from "./tensor.js";

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

const factorOf = ({ dK, sigma, scale }) => SCALES[scale](dK) * sigma * sigma;

/** Scores, weights and statistics of one setting. */
export function experiment(products, setting) {
  const { dK, nKeys } = setting;
  const [raw, factor] = [products(dK), factorOf(setting)];
  const scores = matrix(N_QUERIES, nKeys);
  for (let i = 0; i < N_QUERIES; i++) {
    for (let j = 0; j < nKeys; j++) scores.data[i * nKeys + j] = factor * raw[i * MAX_KEYS + j];
  }
  return { scores, weights: attentionWeights(scores), ...statistics(products, setting) };
}

/**
 * The variance of all scores; and averaged over the queries: the largest weight p, the entropy
 * −Σ p log p (nats), the Frobenius norm of the softmax Jacobian diag(p) − p pᵀ. One pass, with
 * p = exp(s − max) / total, since a slider asks for 84 settings.
 */
export function statistics(products, setting) {
  const { dK, nKeys } = setting;
  const [raw, factor] = [products(dK), factorOf(setting)];
  let [sum, squares, entropy, largest, jacobian] = [0, 0, 0, 0, 0];
  for (let start = 0; start < N_QUERIES * MAX_KEYS; start += MAX_KEYS) {
    let maximum = -Infinity;
    for (let c = start; c < start + nKeys; c++) if (factor * raw[c] > maximum) maximum = factor * raw[c];
    let [total, second, third, below] = [0, 0, 0, 0]; // Σ e, Σ e², Σ e³, Σ e · (max − s)
    for (let c = start; c < start + nKeys; c++) {
      const s = factor * raw[c];
      const e = Math.exp(s - maximum);
      sum += s;
      squares += s * s;
      total += e;
      second += e * e;
      third += e * e * e;
      below += e * (maximum - s);
    }
    const [p2, p3] = [second / total ** 2, third / total ** 3];
    largest += 1 / total;
    entropy += Math.log(total) + below / total;
    jacobian += Math.sqrt(Math.max(0, p2 - 2 * p3 + p2 * p2));
  }
  const count = N_QUERIES * nKeys;
  return {
    variance: squares / count - (sum / count) ** 2,
    theory: factor * factor * dK, // σ⁴ d_k, times the squared scale
    entropy: entropy / N_QUERIES,
    largest: largest / N_QUERIES,
    jacobian: jacobian / N_QUERIES,
  };
}
