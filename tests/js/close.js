// Comparing with a fixture: same shape, every number within 1e-9 (relative above 1).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { fromRows } from "../../mhalib/widgets/js/math/tensor.js";

export function fixture(name) {
  return JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), "utf8"));
}

/** A matrix of tensor.js as nested lists. */
export function nested({ data, rows, cols }) {
  return Array.from({ length: rows }, (_, i) => [...data.subarray(i * cols, (i + 1) * cols)]);
}

export function assertClose(actual, expected, name) {
  if (Array.isArray(expected)) {
    const list = actual?.rows === undefined ? [...actual] : nested(actual);
    assert.equal(list.length, expected.length, `${name}: length`);
    expected.forEach((value, i) => assertClose(list[i], value, `${name}[${i}]`));
    return;
  }
  const error = Math.abs(actual - expected) / Math.max(1, Math.abs(expected));
  assert.ok(error <= 1e-9, `${name}: ${actual}, NumPy ${expected}`);
}

/** Everything in a trace by name, as `Trace.flat()` in Python: "X", "layers.0.Q", … */
export function flat({ layers, ...rest }) {
  const blocks = layers.flatMap((block, i) =>
    Object.entries(block ?? {}).map(([stage, value]) => [`layers.${i}.${stage}`, value]),
  );
  return { ...rest, ...Object.fromEntries(blocks) };
}

/** Parameters from nested lists: vectors become matrices of one row. */
export function parameters(named) {
  return Object.fromEntries(
    Object.entries(named).map(([name, value]) => [name, fromRows(Array.isArray(value[0]) ? value : [value])]),
  );
}
