import { test } from "node:test";

import { softmax } from "../../mhalib/widgets/js/math/attention.js";
import * as lib from "../../mhalib/widgets/js/math/model.js";
import { samplingProbabilities, topPFilter } from "../../mhalib/widgets/js/math/vocab.js";
import { mean, row } from "../../mhalib/widgets/js/math/tensor.js";
import { assertClose, fixture, parameters } from "./close.js";

for (const [i, c] of fixture("model").entries()) {
  test(`model, case ${i} (${c.config.norm}-norm, ${JSON.stringify(c.ablate)}) equals NumPy`, () => {
    const model = new lib.Transformer(c.config, parameters(c.parameters));
    const trace = model.forward(c.ids, { ablate: c.ablate });
    for (const [name, expected] of Object.entries(c.trace)) {
      const [first, layer, part] = name.split(".");
      const holder = first === "layers" ? trace.layers.find(({ index }) => index === Number(layer)) : trace;
      assertClose(holder[part ?? first], expected, name);
    }
    assertClose(mean(lib.losses(trace)), c.loss, "loss");
    const logits = row(trace.logits, 0);
    assertClose(samplingProbabilities(logits, { topK: 3 }), c.filtered.top_k, "top_k");
    assertClose(softmax(topPFilter(logits, 0.6)), c.filtered.top_p, "top_p");
  });
}
