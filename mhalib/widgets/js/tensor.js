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
  return product(A, B.data, B.cols, B.cols, 1, 1);
}

/** scale · A Bᵀ */
export function matmulT(A, B, scale = 1) {
  return product(A, B.data, B.rows, 1, B.cols, scale);
}

/**
 * C[i, j] = scale · Σ_t A[i, t] · b[t · down + j · across]. Four rows by two columns at a time: six
 * numbers are read for eight products, which is several times as fast as one by one.
 */
function product(A, b, m, down, across, scale) {
  const [a, n, inner] = [A.data, A.rows, A.cols];
  const C = matrix(n, m);
  const c = C.data;
  const whole = [n - (n % 4), m - (m % 2)];
  for (let i = 0; i < whole[0]; i += 4) {
    for (let j = 0; j < whole[1]; j += 2) {
      let [c00, c01, c10, c11, c20, c21, c30, c31] = [0, 0, 0, 0, 0, 0, 0, 0];
      let at = i * inner;
      let left = j * across;
      for (let t = 0; t < inner; t++, at++, left += down) {
        const b0 = b[left];
        const b1 = b[left + across];
        const a0 = a[at];
        const a1 = a[at + inner];
        const a2 = a[at + 2 * inner];
        const a3 = a[at + 3 * inner];
        c00 += a0 * b0;
        c01 += a0 * b1;
        c10 += a1 * b0;
        c11 += a1 * b1;
        c20 += a2 * b0;
        c21 += a2 * b1;
        c30 += a3 * b0;
        c31 += a3 * b1;
      }
      const out = i * m + j;
      c[out] = scale * c00;
      c[out + 1] = scale * c01;
      c[out + m] = scale * c10;
      c[out + m + 1] = scale * c11;
      c[out + 2 * m] = scale * c20;
      c[out + 2 * m + 1] = scale * c21;
      c[out + 3 * m] = scale * c30;
      c[out + 3 * m + 1] = scale * c31;
    }
  }
  for (let i = 0; i < n; i++) {
    for (let j = i < whole[0] ? whole[1] : 0; j < m; j++) {
      let sum = 0;
      for (let t = 0; t < inner; t++) sum += a[i * inner + t] * b[t * down + j * across];
      c[i * m + j] = scale * sum;
    }
  }
  return C;
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
