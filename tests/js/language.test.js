import assert from "node:assert/strict";
import { test } from "node:test";

import { nextWordDistribution } from "../../mhalib/widgets/js/math/language.js";
import { assertClose, fixture } from "./close.js";

const [{ grammar }, ...cases] = fixture("language");

test(`exact next-word probabilities after ${cases.length} prefixes equal Python's`, () => {
  assert.ok(cases.length > 300);
  for (const { prefix, next } of cases) {
    const ours = nextWordDistribution(grammar, prefix);
    if (next === null) assert.equal(ours, null, prefix);
    else {
      assert.deepEqual(Object.keys(ours).sort(), Object.keys(next).sort(), prefix);
      for (const [word, p] of Object.entries(next)) assertClose(ours[word], p, `${prefix} → ${word}`);
    }
  }
});
