// The losses by relation of the whole model and of the changed one, measured when they are asked for.

import { evaluator } from "../../math/analysis.js";

/** The losses by relation, measured when they are asked for. */
export function measured(transformer, tokenizer, texts, done) {
  const evaluation = evaluator(transformer, tokenizer, texts);
  let [whole, changed, asked] = [null, null, null];
  const measure = {
    found: () => ({ whole, changed }),
    stop: evaluation.stop,
    note: `measured here, on ${texts.length} texts drawn apart from training`,
    ask(ablate) {
      const name = JSON.stringify(ablate);
      if (name === asked) return;
      asked = name;
      evaluation.stop();
      changed = null;
      const then = (found) => {
        changed = found;
        done();
      };
      const compare = () => (ablate ? evaluation.run(ablate, then) : done());
      if (whole) return ablate && compare();
      evaluation.run({}, (found) => {
        whole = found;
        compare();
      });
    },
    list() {
      if (!whole) return [];
      const largest = Math.max(1, ...Object.values(whole), ...Object.values(changed ?? {}));
      return Object.keys(whole).map((name) => ({ name, before: whole[name], after: changed ? changed[name] : null, part: whole[name] / largest, partAfter: changed ? changed[name] / largest : 0 })); // prettier-ignore
    },
  };
  return measure;
}
