import assert from "node:assert/strict";
import { test } from "node:test";

import { compiled, fast, matmul, matmulT, matrix, plain, transpose } from "../../mhalib/widgets/js/math/tensor.js";
import { word } from "../../mhalib/widgets/js/math/normals.js";

let drawn = 0;
const random = (rows, cols) =>
  matrix(
    rows,
    cols,
    Float64Array.from({ length: rows * cols }, () => word(7, drawn++) / 2 ** 31 - 1),
  );

const SIZES = [0, 1, 2, 3, 4, 5, 8, 11, 13];

test("WebAssembly sums in the order of the plain loops: equal to the last bit, for every size", () => {
  const wasm = compiled();
  assert.notEqual(wasm, null);
  new Float64Array(wasm.memory.buffer).fill(NaN); // what an earlier product left behind
  for (const n of SIZES.slice(1)) {
    for (const k of SIZES.slice(1)) {
      for (const m of SIZES.slice(1)) {
        const [A, B, T] = [random(n, k), random(k, m), random(m, k)];
        for (const [b, down, across] of [
          [B.data, m, 1],
          [T.data, 1, k],
        ]) {
          const [ours, expected] = [matrix(n, m), matrix(n, m)];
          fast(wasm, A, b, ours, down, across);
          plain(A, b, expected, down, across);
          assert.deepEqual(ours.data, expected.data, `${n} × ${k} × ${m}`);
        }
      }
    }
  }
});

test("the memory grows with the matrices", () => {
  const [A, B] = [random(150, 90), random(90, 201)];
  const [ours, expected] = [matrix(150, 201), matrix(150, 201)];
  fast(compiled(), A, B.data, ours, 201, 1);
  plain(A, B.data, expected, 201, 1);
  assert.deepEqual(ours.data, expected.data);
});

test("a matrix without rows, columns or terms", () => {
  matmul(random(8, 8), random(8, 8)); // leaves numbers in the memory
  for (const [n, k, m] of [
    [0, 3, 2],
    [3, 3, 0],
  ])
    assert.deepEqual(matmul(random(n, k), random(k, m)), matrix(n, m));
  assert.deepEqual(matmul(random(2, 0), random(0, 3)), matrix(2, 3));
});

test("without WebAssembly the products are the same", async () => {
  const [A, B] = [random(5, 7), random(7, 3)];
  const { WebAssembly } = globalThis;
  delete globalThis.WebAssembly;
  try {
    const without = await import("../../mhalib/widgets/js/math/tensor.js?without");
    assert.equal(without.compiled(), null);
    assert.deepEqual(without.matmul(A, B).data, matmul(A, B).data);
    assert.deepEqual(without.matmulT(A, transpose(B), 0.5).data, matmulT(A, transpose(B), 0.5).data);
  } finally {
    globalThis.WebAssembly = WebAssembly;
  }
});
