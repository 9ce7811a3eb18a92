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

/** A B, four rows of B at a time, which halves the time */
export function matmul(A, B) {
  const [n, inner, m] = [A.rows, A.cols, B.cols];
  const [a, b, c] = [A.data, B.data, new Float64Array(n * m)];
  for (let i = 0; i < n; i++) {
    const out = i * m;
    let t = 0;
    for (; t + 3 < inner; t += 4) {
      const at = i * inner + t;
      const [f0, f1, f2, f3] = [a[at], a[at + 1], a[at + 2], a[at + 3]];
      if (f0 === 0 && f1 === 0 && f2 === 0 && f3 === 0) continue;
      const [b0, b1, b2, b3] = [t * m, (t + 1) * m, (t + 2) * m, (t + 3) * m];
      for (let j = 0; j < m; j++) {
        c[out + j] += f0 * b[b0 + j] + f1 * b[b1 + j] + f2 * b[b2 + j] + f3 * b[b3 + j];
      }
    }
    for (; t < inner; t++) {
      const f = a[i * inner + t];
      for (let j = 0; j < m; j++) c[out + j] += f * b[t * m + j];
    }
  }
  return matrix(n, m, c);
}

/** scale · A Bᵀ */
export function matmulT(A, B, scale = 1) {
  const [n, inner, m] = [A.rows, A.cols, B.rows];
  const [a, b, c] = [A.data, B.data, new Float64Array(n * m)];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      const [ai, bj] = [i * inner, j * inner];
      let [even, odd, t] = [0, 0, 0];
      for (; t + 1 < inner; t += 2) {
        even += a[ai + t] * b[bj + t];
        odd += a[ai + t + 1] * b[bj + t + 1];
      }
      if (t < inner) even += a[ai + t] * b[bj + t];
      c[i * m + j] = scale * (even + odd);
    }
  }
  return matrix(n, m, c);
}

export function map(A, f) {
  return matrix(A.rows, A.cols, A.data.map(f));
}

export function add(A, B) {
  const C = matrix(A.rows, A.cols);
  for (let c = 0; c < C.data.length; c++) C.data[c] = A.data[c] + B.data[c];
  return C;
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
