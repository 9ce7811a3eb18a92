// Matrices as { data: Float64Array, rows, cols }, stored row by row.

import code from "./product.js";

export function matrix(rows, cols, data = new Float64Array(rows * cols)) {
  return { data, rows, cols };
}

export function fromRows(nested) {
  return matrix(nested.length, nested[0]?.length ?? 0, Float64Array.from(nested.flat()));
}

export function row(A, i) {
  return A.data.subarray(i * A.cols, (i + 1) * A.cols);
}

export function dot(a, b) {
  let sum = 0;
  for (let t = 0; t < a.length; t++) sum += a[t] * b[t];
  return sum;
}

/** Several matrices of one size in one array: many small arrays cost more than their numbers. */
export function stacked(count, rows, cols) {
  const size = rows * cols;
  const data = new Float64Array(count * size);
  return Array.from({ length: count }, (_, i) => matrix(rows, cols, data.subarray(i * size, (i + 1) * size)));
}

/** A B, written into C. */
export function matmul(A, B, C = matrix(A.rows, B.cols)) {
  return product(A, B.data, B.cols, 1, C);
}

/** scale · A Bᵀ, written into C. */
export function matmulT(A, B, scale = 1, C = matrix(A.rows, B.rows)) {
  product(A, B.data, 1, B.cols, C);
  if (scale !== 1) for (let c = 0; c < C.data.length; c++) C.data[c] *= scale;
  return C;
}

/** What `product.wat` exports, or null where a page may not run WebAssembly, or a browser is too old. */
export function compiled() {
  try {
    const bytes = Uint8Array.from(atob(code), (c) => c.charCodeAt(0));
    return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  } catch {
    return null;
  }
}
const wasm = compiled();

/** C[i, j] = Σ_t A[i, t] · b[t · down + j · across] */
function product(A, b, down, across, C) {
  if (!wasm) plain(A, b, C, down, across);
  else if (C.data.length && A.cols) fast(wasm, A, b, C, down, across);
  return C;
}

export function plain(A, b, C, down, across) {
  for (let i = 0; i < C.rows; i++) {
    for (let j = 0; j < C.cols; j++) {
      let sum = 0;
      for (let t = 0; t < A.cols; t++) sum += A.data[i * A.cols + t] * b[t * down + j * across];
      C.data[i * C.cols + j] = sum;
    }
  }
}

/** The same sums in WebAssembly, several times as fast: A, b and C in its memory, in whole fours. */
export function fast({ memory, product }, A, b, C, down, across) {
  const [n, k, m] = [(C.rows + 3) & ~3, A.cols, (C.cols + 3) & ~3];
  const [atB, atC, end] = [n * k, n * k + k * m, n * k + k * m + n * m];
  if (8 * end > memory.buffer.byteLength) memory.grow(Math.ceil((8 * end - memory.buffer.byteLength) / 65536));
  const numbers = new Float64Array(memory.buffer);
  numbers.set(A.data);
  if (across !== 1) {
    for (let j = 0; j < C.cols; j++) for (let t = 0; t < k; t++) numbers[atB + t * m + j] = b[t + j * across];
  } else if (down === m) numbers.set(b, atB);
  else for (let t = 0; t < k; t++) numbers.set(b.subarray(t * down, t * down + C.cols), atB + t * m);
  product(0, 8 * atB, 8 * atC, n, k, m);
  if (C.cols === m) C.data.set(numbers.subarray(atC, atC + C.data.length));
  else for (let i = 0; i < C.rows; i++) C.data.set(numbers.subarray(atC + i * m, atC + i * m + C.cols), i * C.cols);
}

export function transpose(A) {
  const C = matrix(A.cols, A.rows);
  for (let i = 0; i < A.rows; i++) for (let j = 0; j < A.cols; j++) C.data[j * A.rows + i] = A.data[i * A.cols + j];
  return C;
}

export function add(A, B) {
  const C = matrix(A.rows, A.cols);
  for (let c = 0; c < C.data.length; c++) C.data[c] = A.data[c] + B.data[c];
  return C;
}

/** Fill C with the columns of A from `from` on. */
export function copyColumns(A, from, C) {
  for (let i = 0; i < A.rows; i++) {
    for (let j = 0; j < C.cols; j++) C.data[i * C.cols + j] = A.data[i * A.cols + from + j];
  }
}

/** Columns from … to−1 of A. */
export function columns(A, from, to) {
  const C = matrix(A.rows, to - from);
  copyColumns(A, from, C);
  return C;
}

/** Matrices of equal height, side by side. */
export function concat(parts) {
  const C = matrix(
    parts[0].rows,
    parts.reduce((sum, A) => sum + A.cols, 0),
  );
  for (let i = 0; i < C.rows; i++) {
    let at = i * C.cols;
    for (const A of parts) {
      C.data.set(row(A, i), at);
      at += A.cols;
    }
  }
  return C;
}

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
