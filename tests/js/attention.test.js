import assert from "node:assert/strict";
import { test } from "node:test";

import * as lib from "../../mhalib/widgets/js/math/attention.js";
import { fromRows, row } from "../../mhalib/widgets/js/math/tensor.js";
import { assertClose, fixture, nested } from "./close.js";

for (const [i, c] of fixture("attention").entries()) {
  test(`attention, case ${i} (mask ${c.masked}) equals NumPy`, () => {
    const [Q, K, V] = [c.Q, c.K, c.V].map(fromRows);
    const mask = fromRows(c.mask);
    const { scores, weights, output } = lib.attention(Q, K, V, { mask });
    assertClose(scores, c.scores, "scores");
    assertClose(weights, c.weights, "weights");
    assertClose(output, c.O, "O");
    c.log_softmax.forEach((expected, r) => assertClose(lib.logSoftmax(row(scores, r)), expected, "log_softmax"));
  });

  if (c.masked === "causal") {
    test(`causalMask, case ${i}, is aligned bottom-right`, () => {
      assert.deepEqual(nested(lib.causalMask(c.Q.length, c.K.length)), c.mask.map((r) => r.map(Number)));
    });
  }
}

test("paddingMask hides the padded keys from every query", () => {
  const c = fixture("attention").find((each) => each.masked === "padding");
  assert.deepEqual(nested(lib.paddingMask(c.mask[0])), c.mask.map((r) => r.map(Number)));
});

test("softmax of large and of impossible scores has no NaN", () => {
  assert.deepEqual([...lib.softmax([1000, 0])], [1, 0]);
  assert.deepEqual([...lib.softmax([-Infinity, -Infinity])], [0, 0]);
  assert.deepEqual([...lib.logSoftmax([0, -2000])], [0, -2000]);
});
