// Loss per relation on a few texts of the course's language, computed bit by bit between frames.

import { losses } from "./model.js";

/** Add the losses of one text to `sums`: { relation: [sum, count] }; "all" counts every word. */
function addText(sums, transformer, tokenizer, { text, relations }, ablate) {
  const ids = tokenizer.encode(text);
  losses(transformer.forward(ids, { ablate })).forEach((loss, i) => {
    for (const name of ["all", ...(relations[i + 1] ? [relations[i + 1]] : [])]) {
      const [sum, count] = sums[name] ?? [0, 0];
      sums[name] = [sum + loss, count + 1];
    }
  });
}

/**
 * `run(ablate, onDone)` measures the texts and hands over { relation: mean loss }; a new run, or
 * `stop`, ends the one under way.
 */
export function evaluator(transformer, tokenizer, texts) {
  let timer = 0;
  return {
    run(ablate, onDone) {
      clearTimeout(timer);
      const sums = {};
      let at = 0;
      const next = () => {
        const start = performance.now();
        while (at < texts.length && performance.now() - start < 8) {
          addText(sums, transformer, tokenizer, texts[at++], ablate);
        }
        if (at < texts.length) timer = setTimeout(next, 4);
        else onDone(Object.fromEntries(Object.entries(sums).map(([name, [sum, count]]) => [name, sum / count])));
      };
      timer = setTimeout(next, 60);
    },
    stop: () => clearTimeout(timer),
  };
}
