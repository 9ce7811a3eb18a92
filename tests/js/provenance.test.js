// Every number of a trace can be followed back to an embedding, a position or a hidden key.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Transformer } from "../../mhalib/widgets/js/math/model.js";
import { Provenance } from "../../mhalib/widgets/js/math/provenance.js";
import { nameOf, parse } from "../../mhalib/widgets/js/math/trace-names.js";
import { assertClose, fixture, parameters } from "./close.js";

const ENDS = ["embedded", "positions", "weights", "heads", "ffn_hidden"];
const PER_HEAD = ["Q", "K", "V", "scores", "weights", "heads"];
const LINEAR = { logits: 0, O: 0, heads: 0, Q: 0, K: 0, V: 0, residual_1: 0, residual_2: 0, ffn: "b_2" };

for (const [i, c] of fixture("model").entries()) {
  const model = new Transformer(c.config, parameters(c.parameters));
  const trace = model.forward(c.ids, { ablate: c.ablate });
  const source = new Provenance(model, trace, c.ablate);

  test(`case ${i}: from every probability all ways lead back, through numbers of the trace`, () => {
    const seen = new Set();
    const walk = (ref) => {
      const name = nameOf(ref);
      if (seen.has(name)) return;
      seen.add(name);
      assert.deepEqual(parse(name), ref);
      const found = source.explain(ref);
      assert.ok(found, `${name} has an explanation`);
      assert.ok(Number.isFinite(found.value), name);
      const silent = ref.stage === "ffn" && c.ablate.ffn?.includes(ref.layer);
      if (!found.terms.length) assert.ok(silent || ENDS.includes(ref.stage), `${name} is an end`);
      for (const term of found.terms) walk(term.ref);
    };
    for (let j = 0; j < c.config.vocab_size; j++) {
      walk({ layer: null, stage: "probabilities", head: null, i: 4, j });
    }
    const stages = new Set([...seen].map((name) => parse(name).stage));
    for (const stage of ["logits", "output", "X", "embedded", "positions"]) assert.ok(stages.has(stage), stage);
    assert.ok(stages.has("scores") && stages.has("ffn_hidden"));
  });

  test(`case ${i}: each name of NumPy's trace is explained here, with its value`, () => {
    for (const [name, array] of Object.entries(c.trace)) {
      if (name === "ids") continue; // where all ways end
      const head = PER_HEAD.includes(name.split(".").at(-1)) ? [c.config.n_heads - 1] : [];
      const at = [...head, 4, 1];
      const expected = at.reduce((rows, k) => rows[k], array);
      const found = source.explain(parse([name, ...at].join(".")));
      assertClose(found?.value, expected, name);
      assert.ok(found.formula.length > 3, name);
    }
    for (const left of c.ablate.layers ?? []) assert.equal(source.explain(parse(`layers.${left}.ffn.4.1`)), null);
  });

  test(`case ${i}: the products add up to the number`, () => {
    trace.layers.forEach((block, layer) => {
      if (!block) return;
      for (const [stage, bias] of Object.entries(LINEAR)) {
        const head = ["heads", "Q", "K", "V"].includes(stage) ? 0 : null;
        const ref = { layer: stage === "logits" ? null : layer, stage, head, i: 3, j: 1 };
        if (c.ablate[{ O: "W_O", ffn: "ffn" }[stage]]?.includes(layer)) continue;
        const { value, terms } = source.explain(ref);
        const products = terms.filter(({ product }) => product !== undefined);
        const sum = products.reduce((total, { product }) => total + product, 0);
        const extra = bias ? model.layers[layer][bias].data[1] : 0;
        assert.ok(Math.abs(sum + extra - value) < 1e-9, `${nameOf(ref)}: ${sum + extra} ${value}`);
      }
    });
  });
}
