// One head on small numbers, as mhalib/widgets/by_hand.py computes it: every table can be typed over.

import { causalMask } from "./attention.js";
import { fromRows, matmul, matmulT, matrix } from "./tensor.js";

export const LONG = ["scores", "scaled", "exp", "weights"]; // tables with a column for each token

/** The mask of a setting, 1 = may attend. */
export function handMask({ n, mask, hidden }) {
  if (mask === "causal") return causalMask(n);
  const allowed = matrix(n, n, new Uint8Array(n * n).fill(1));
  if (mask === "painted") for (const [i, j] of hidden) if (i < n && j < n) allowed.data[i * n + j] = 0;
  return allowed;
}

/** Every table by its name, and the mask. */
export function byHand(given, state) {
  const { n, scaled, values } = state;
  const found = {};
  const put = (name, A) => {
    for (const [key, value] of Object.entries(values)) {
      const [part, i, j] = key.split(".");
      if (part === name && Number(i) < A.rows && Number(j) < A.cols) A.data[Number(i) * A.cols + Number(j)] = value;
    }
    return (found[name] = A);
  };
  for (const [name, rows] of Object.entries(given)) put(name, fromRows(name === "X" ? rows.slice(0, n) : rows));
  for (const name of "QKV") put(name, matmul(found.X, found[`W_${name}`]));
  const allowed = handMask(state);
  put("scores", matmulT(found.Q, found.K));
  const scale = scaled ? 1 / Math.sqrt(found.Q.cols) : 1;
  put(
    "scaled",
    matrix(
      n,
      n,
      found.scores.data.map((s) => s * scale),
    ),
  );
  const exp = matrix(n, n);
  found.top = largest(found.scaled, allowed);
  for (let c = 0; c < n * n; c++)
    if (allowed.data[c]) exp.data[c] = Math.exp(found.scaled.data[c] - found.scaled.data[found.top[Math.floor(c / n)]]);
  put("exp", exp);
  const sums = Float64Array.from({ length: n }, (_, i) =>
    exp.data.subarray(i * n, (i + 1) * n).reduce((a, b) => a + b, 0),
  );
  put("sum", matrix(n, 1, sums));
  put(
    "weights",
    matrix(
      n,
      n,
      exp.data.map((e, c) => (sums[Math.floor(c / n)] ? e / sums[Math.floor(c / n)] : 0)),
    ),
  );
  put("output", matmul(found.weights, found.V));
  put("result", matmul(found.output, found.W_O));
  return { ...found, allowed };
}

/** In each row the number of the cell with the largest allowed score; −1 where all are masked. */
function largest({ data, rows, cols }, allowed) {
  return Array.from({ length: rows }, (_, i) => {
    let best = -1;
    for (let c = i * cols; c < (i + 1) * cols; c++) if (allowed.data[c] && (best < 0 || data[c] > data[best])) best = c;
    return best;
  });
}

const upTo = (count) => Array.from({ length: count }, (_, t) => t);
const PRODUCTS = {
  Q: ["X", "W_Q"],
  K: ["X", "W_K"],
  V: ["X", "W_V"],
  output: ["weights", "V"],
  result: ["output", "W_O"],
};

/** The cells that cell (i, j) of a table is computed from, as [name, i, j]; none for given ones. */
export function sources(found, name, i, j) {
  if (PRODUCTS[name]) {
    const [left, right] = PRODUCTS[name];
    return upTo(found[left].cols).flatMap((t) => [[left, i, t], [right, t, j]]); // prettier-ignore
  }
  if (name === "scores") return upTo(found.Q.cols).flatMap((t) => [["Q", i, t], ["K", j, t]]); // prettier-ignore
  if (name === "scaled") return [["scores", i, j]];
  if (name === "exp") {
    const n = found.scaled.cols;
    const top = found.top[i];
    if (!found.allowed.data[i * n + j]) return [["mask", i, j]];
    return [["scaled", i, j], ["scaled", i, top % n], ["mask", i, j]]; // prettier-ignore
  }
  if (name === "sum") return upTo(found.exp.cols).map((t) => ["exp", i, t]);
  if (name === "weights") return [["exp", i, j], ["sum", i, 0]]; // prettier-ignore
  return [];
}
