import assert from "node:assert/strict";
import { test } from "node:test";

import { splitWords, Tokenizer } from "../../mhalib/widgets/js/math/tokenizer.js";
import { fixture } from "./close.js";

for (const [i, c] of fixture("tokenizer").entries()) {
  test(`tokenizer, case ${i} (${c.merges.length} merges) equals Python`, () => {
    const tokenizer = new Tokenizer(c.merges);
    assert.deepEqual(splitWords(c.text), c.words);
    assert.deepEqual(tokenizer.encode(c.text), c.ids);
    assert.deepEqual(
      tokenizer.mergeSteps(c.text).map(({ words }) => words.flat()),
      c.steps,
    );
    assert.equal(tokenizer.decode(c.ids), c.text.toWellFormed());
  });
}
