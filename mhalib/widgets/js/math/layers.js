// Mirrors mhalib/layers.py (chapter 6).

import { multiHeadTrace } from "./multihead.js";
import { matmul, matrix } from "./tensor.js";

/** gamma · (x − mean x) / √(var x + eps) + beta, each row */
export function layerNorm(X, gamma, beta, eps = 1e-5) {
  const Y = matrix(X.rows, X.cols);
  const d = X.cols;
  for (let start = 0; start < X.data.length; start += d) {
    let average = 0;
    for (let t = 0; t < d; t++) average += X.data[start + t] / d;
    let variance = 0;
    for (let t = 0; t < d; t++) variance += (X.data[start + t] - average) ** 2 / d;
    const deviation = Math.sqrt(variance + eps);
    for (let t = 0; t < d; t++) {
      Y.data[start + t] = (gamma.data[t] * (X.data[start + t] - average)) / deviation + beta.data[t];
    }
  }
  return Y;
}

const geluTanh = (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
const ACTIVATIONS = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
  gelu_tanh: geluTanh,
};

/** X W + b */
export function linear(X, W, b) {
  const Y = matmul(X, W);
  for (let start = 0; start < Y.data.length; start += Y.cols) {
    for (let j = 0; j < Y.cols; j++) Y.data[start + j] += b.data[j];
  }
  return Y;
}

/** activation(X W_1 + b_1) W_2 + b_2, and what is between the two layers; without W_2 the output is 0. */
export function feedForward(X, p, activation) {
  const hidden = linear(X, p.W_1, p.b_1);
  const f = ACTIVATIONS[activation];
  for (let c = 0; c < hidden.data.length; c++) hidden.data[c] = f(hidden.data[c]);
  return { hidden, output: p.W_2 ? linear(hidden, p.W_2, p.b_2) : matrix(X.rows, X.cols) };
}

/** The error function: its series near 0, its continued fraction further out. */
export function erf(x) {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  if (size < 2.5) {
    let term = size;
    let sum = size;
    for (let k = 1; Math.abs(term) > 1e-17 * sum; k++) {
      term *= (-size * size) / k;
      sum += term / (2 * k + 1);
    }
    return (Math.sign(x) * 2 * sum) / Math.sqrt(Math.PI);
  }
  let fraction = 0;
  for (let k = 60; k >= 1; k--) fraction = k / 2 / (size + fraction);
  return Math.sign(x) * (1 - Math.exp(-size * size) / (Math.sqrt(Math.PI) * (size + fraction)));
}

/** One block with post-norm or pre-norm: every intermediate of it. */
export const BLOCKS = {
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
