import assert from "node:assert/strict";
import { test } from "node:test";

import { softmax } from "../../mhalib/widgets/js/math/attention.js";
import * as lib from "../../mhalib/widgets/js/math/model.js";
import { samplingProbabilities, topPFilter } from "../../mhalib/widgets/js/math/vocab.js";
import { mean, row } from "../../mhalib/widgets/js/math/tensor.js";
import { assertClose, fixture, flat, parameters } from "./close.js";

for (const [i, c] of fixture("model").entries()) {
  test(`model, case ${i} (${c.config.norm}-norm, ${JSON.stringify(c.ablate)}) equals NumPy`, () => {
    const model = new lib.Transformer(c.config, parameters(c.parameters));
    const trace = model.forward(c.ids, { ablate: c.ablate });
    const named = flat(trace);
    assert.deepEqual(Object.keys(named).sort(), Object.keys(c.trace).sort());
    for (const [name, expected] of Object.entries(c.trace)) assertClose(named[name], expected, name);
    assertClose(mean(lib.losses(trace)), c.loss, "loss");
    const logits = row(trace.logits, 0);
    assertClose(samplingProbabilities(logits, { topK: 3 }), c.filtered.top_k, "top_k");
    assertClose(softmax(topPFilter(logits, 0.6)), c.filtered.top_p, "top_p");
  });
}
