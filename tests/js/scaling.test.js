import { test } from "node:test";

import { normals } from "../../mhalib/widgets/js/math/normals.js";
import { drawSample, experiment } from "../../mhalib/widgets/js/math/scaling.js";
import { assertClose, fixture } from "./close.js";

for (const [i, c] of fixture("scaling").entries()) {
  test(`scaling, case ${i} (d_k ${c.d_k}, ${c.scale}) equals NumPy`, () => {
    assertClose(normals(c.seed, 7), c.normals, "normals");
    const result = experiment(drawSample(c.seed), { dK: c.d_k, sigma: c.sigma, nKeys: c.n_keys, scale: c.scale });
    assertClose(result.scores, c.scores, "scores");
    assertClose(result.weights, c.weights, "weights");
    for (const [ours, theirs] of Object.entries({
      variance: "variance",
      theory: "theory",
      largest: "largest weight",
      entropy: "entropy",
      jacobian: "jacobian norm",
    })) {
      assertClose(result[ours], c.statistics[theirs], ours);
    }
  });
}
