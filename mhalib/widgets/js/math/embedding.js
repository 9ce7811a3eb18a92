// Mirrors mhalib/embedding.py (chapter 2), and compares embeddings as mhalib/widgets/embedding.py does.

import { dot, matrix, row } from "./tensor.js";

/** Rows of E, times `scale`. */
export function embed(ids, E, scale = Math.sqrt(E.cols)) {
  const X = matrix(ids.length, E.cols);
  ids.forEach((id, i) => {
    for (let t = 0; t < E.cols; t++) X.data[i * E.cols + t] = scale * E.data[id * E.cols + t];
  });
  return X;
}

/** P[pos, 2i] = sin(pos / base^(2i/d_model)), P[pos, 2i+1] = cos(the same angle) */
export function sinusoidalPositions(n, dModel, base = 10000) {
  const P = matrix(n, dModel);
  for (let t = 0; t < dModel; t++) {
    const period = base ** ((t - (t % 2)) / dModel);
    for (let pos = 0; pos < n; pos++)
      P.data[pos * dModel + t] = t % 2 ? Math.cos(pos / period) : Math.sin(pos / period);
  }
  return P;
}

export function cosine(a, b) {
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

/** A with each row scaled to length 1. */
export function unitRows(A) {
  const lengths = Array.from({ length: A.rows }, (_, i) => Math.sqrt(dot(row(A, i), row(A, i))));
  return matrix(
    A.rows,
    A.cols,
    A.data.map((value, c) => value / lengths[Math.floor(c / A.cols)]),
  );
}

/** The other rows by their cosine with row `index`: [[row, cosine]], nearest first. */
export function neighbours(A, index) {
  const own = row(A, index);
  return Array.from({ length: A.rows }, (_, i) => [i, cosine(row(A, i), own)])
    .filter(([i]) => i !== index)
    .sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

/**
 * The rows of A on their two directions of largest variance (principal components), and the share
 * of the variance these hold. Jacobi rotations diagonalise the covariance.
 */
export function principalPlane(A) {
  const d = A.cols;
  const centre = new Float64Array(d);
  for (let c = 0; c < A.data.length; c++) centre[c % d] += A.data[c] / A.rows;
  const C = matrix(
    A.rows,
    d,
    A.data.map((value, c) => value - centre[c % d]),
  );
  const S = Array.from({ length: d }, () => new Float64Array(d));
  for (let i = 0; i < C.rows; i++) {
    const x = row(C, i);
    for (let a = 0; a < d; a++) for (let b = 0; b < d; b++) S[a][b] += x[a] * x[b];
  }
  const V = Array.from({ length: d }, (_, i) => Float64Array.from({ length: d }, (_, j) => Number(i === j)));
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0;
    for (let a = 0; a < d; a++) for (let b = 0; b < a; b++) off += S[a][b] ** 2;
    if (off < 1e-26 * S.reduce((sum, r, a) => sum + r[a] ** 2, 0)) break;
    for (let a = 0; a < d; a++) for (let b = a + 1; b < d; b++) rotate(S, V, a, b);
  }
  const order = Array.from({ length: d }, (_, a) => a).sort((a, b) => S[b][b] - S[a][a]);
  const axes = order.slice(0, 2).map((a) => {
    const axis = Float64Array.from(V, (r) => r[a]);
    const strongest = axis.reduce((best, value, t) => (Math.abs(value) > Math.abs(axis[best]) ? t : best), 0);
    return axis[strongest] < 0 ? axis.map((value) => -value) : axis; // its largest entry is positive
  });
  const total = S.reduce((sum, r, a) => sum + r[a], 0);
  return {
    points: Array.from({ length: C.rows }, (_, i) => axes.map((axis) => dot(row(C, i), axis))),
    share: order.slice(0, 2).reduce((sum, a) => sum + S[a][a], 0) / total,
  };
}

function rotate(S, V, a, b) {
  if (S[a][b] === 0) return;
  const theta = (S[b][b] - S[a][a]) / (2 * S[a][b]);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  const turn = (x, y) => [c * x - s * y, s * x + c * y];
  const n = S.length;
  for (let k = 0; k < n; k++) [S[k][a], S[k][b]] = turn(S[k][a], S[k][b]);
  for (let k = 0; k < n; k++) [S[a][k], S[b][k]] = turn(S[a][k], S[b][k]);
  for (let k = 0; k < n; k++) [V[k][a], V[k][b]] = turn(V[k][a], V[k][b]);
}
