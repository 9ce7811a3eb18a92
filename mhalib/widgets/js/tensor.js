// Matrices as { data: Float64Array, rows, cols }, stored row by row. Plain loops: the largest
// matrix of the course has some ten thousand entries.

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

/** A B */
export function matmul(A, B) {
  const C = matrix(A.rows, B.cols);
  for (let i = 0; i < A.rows; i++) {
    const out = row(C, i);
    for (let t = 0; t < A.cols; t++) {
      const a = A.data[i * A.cols + t];
      if (a === 0) continue; // a masked weight keeps what its value holds out of the sum
      const b = row(B, t);
      for (let j = 0; j < out.length; j++) out[j] += a * b[j];
    }
  }
  return C;
}

/** scale · A Bᵀ */
export function matmulT(A, B, scale = 1) {
  const C = matrix(A.rows, B.rows);
  for (let i = 0; i < A.rows; i++) {
    const a = row(A, i);
    for (let j = 0; j < B.rows; j++) C.data[i * B.rows + j] = scale * dot(a, row(B, j));
  }
  return C;
}

export function map(A, f) {
  return matrix(A.rows, A.cols, A.data.map(f));
}

export function add(A, B) {
  return map(A, (value, i) => value + B.data[i]);
}

/** Columns from … to−1 of A. */
export function columns(A, from, to) {
  const C = matrix(A.rows, to - from);
  for (let i = 0; i < A.rows; i++) C.data.set(row(A, i).subarray(from, to), i * C.cols);
  return C;
}

/** Matrices of equal height, side by side. */
export function concat(parts) {
  const C = matrix(parts[0].rows, parts.reduce((sum, A) => sum + A.cols, 0));
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
