// Chapter 7: from the last layer's vector to the next word.

import { button, pick, resetButton, slider } from "../../parts/controls.js";
import { exactNext, idsOf, sentenceBox, show, showExact, withModel } from "../../parts/course.js";
import { fixed } from "../../math/format.js";
import { assign, cached, h, rich, say, watch } from "../../parts/dom.js";
import { heatmap } from "../../parts/heatmap.js";
import { draw, samplingProbabilities } from "../../math/vocab.js";
import { word } from "../../math/normals.js";
import { dataTable } from "../../parts/table.js";
import { dot, matrix, row } from "../../math/tensor.js";
import { predictions } from "../../parts/predictions.js";

const NAMES = ["text", "position", "word", "temperature", "top_k", "top_p", "generated", "seed"];
const MAX_LENGTH = 48;

export default function view(model, el) {
  return withModel(model, el, (course) => build(model, el, course));
}

function build(model, el, course) {
  const { transformer, tokenizer } = course;
  const stops = [];
  const stop = tokenizer.encode(".")[0];
  const read = cached((key) => transformer.forward(key.split(",").map(Number)));
  const exactAfter = cached((key) => exactNext(course, key.split(",").map(Number)));
  let now;

  const token = pick(model, "position", stops, "read the prediction after");
  const list = predictions({ count: 8, onPick: (id) => assign(model, { word: id }) });
  const against = h("p", { class: "mh-readout", "aria-live": "polite" });
  const product = heatmap({
    label: "Dot product, feature by feature",
    onMove: (i, t) => {
      product.mark([
        [0, t, 3, 1],
        [i, t, 1, 1, "mh-strong"],
      ]);
      const [x, e, p] = [0, 1, 2].map((r) => fixed(now.product.data[r * now.product.cols + t], 3));
      say(feature, `feature ${t}: ${x} × ${e} = ${p}`);
    },
  });
  const feature = h("p", { class: "mh-readout", "aria-live": "polite" });
  const sum = h("p", { class: "mh-readout", "aria-live": "polite" });
  const writing = h("p", { class: "mh-writing" });
  const table = dataTable("Logits and probabilities of the likeliest tokens", () => ({
    head: ["token", "logit", "probability", "with the sampling controls", "exact"],
    rows: [...now.after.keys()]
      .sort((a, b) => now.before[b] - now.before[a])
      .slice(0, 20)
      .map((id) => [
        showExact(tokenizer, id),
        fixed(now.logits[id], 3),
        fixed(now.before[id], 4),
        fixed(now.after[id], 4),
        now.exact ? fixed(now.exact.get(id) ?? 0, 4) : "unknown",
      ]),
  }));

  const prompt = () => idsOf(tokenizer, model.get("text"));
  const ids = () => [...prompt(), ...model.get("generated")].slice(0, MAX_LENGTH);
  const settings = () => ({
    temperature: model.get("temperature"),
    topK: model.get("top_k"),
    topP: model.get("top_p"),
  });
  const nextId = (all, step) => {
    const logits = row(transformer.forward(all).logits, all.length - 1);
    return draw(samplingProbabilities(logits, settings()), word(model.get("seed"), step + 1) / 2 ** 32);
  };
  function write(count) {
    const generated = [...model.get("generated")];
    const all = ids();
    for (let k = 0; k < count && all.length && all.length < MAX_LENGTH; k++) {
      const id = nextId(all, generated.length);
      generated.push(id);
      all.push(id);
      if (id === stop) break;
    }
    assign(model, { generated, position: Math.max(0, all.length - 1) });
  }

  const range = (from, to, step) =>
    Array.from({ length: Math.round((to - from) / step) + 1 }, (_, i) => Number((from + i * step).toFixed(2)));
  el.append(
    h(
      "div",
      { class: "mh-controls" },
      sentenceBox(model, stops, tokenizer, { also: { generated: [] } }),
      token.element,
      slider(model, "temperature", stops, { label: "temperature", steps: range(0.1, 3, 0.1), integer: false }),
      slider(model, "top_k", stops, { label: "top-k (0: all)", steps: range(0, 40, 1) }),
      slider(model, "top_p", stops, { label: "top-p", steps: range(0.05, 1, 0.05), integer: false }),
    ),
    h(
      "div",
      { class: "mh-panel" },
      h("p", { class: "mh-title" }, "generate"),
      writing,
      h(
        "div",
        { class: "mh-row" },
        button("next token", () => write(1)),
        button("to the full stop", () => write(MAX_LENGTH)),
        button("take back", () =>
          assign(model, { generated: model.get("generated").slice(0, -1), position: Math.max(0, ids().length - 2) }),
        ),
        button("other luck", () => assign(model, { seed: (model.get("seed") + 1) % 2 ** 32, generated: [] })),
        resetButton(model, NAMES),
      ),
    ),
    h(
      "div",
      { class: "mh-grid-2" },
      h(
        "div",
        { class: "mh-panel" },
        h("p", { class: "mh-title" }, "probabilities of the next token"),
        list.element,
        h(
          "p",
          { class: "mh-legend" },
          h("span", { class: "mh-key mh-key-before" }, "model"),
          h("span", { class: "mh-key mh-key-exact" }, "exact, from the grammar"),
          h("span", { class: "mh-key mh-key-after" }, "with the sampling controls"),
        ),
        against,
      ),
      h(
        "div",
        { class: "mh-panel" },
        h("p", { class: "mh-title" }, rich("the logit of the chosen word: `x` · its row of `E`")),
        product.element,
        h("p", { class: "mh-note" }, "each row of colours has its own scale"),
        feature,
        sum,
        table.element,
      ),
    ),
  );

  stops.push(
    watch(model, NAMES, () => {
      const all = ids();
      const labels = all.map((id) => show(tokenizer, id));
      token.update(labels);
      if (!all.length) {
        say(writing, "Type the beginning of a sentence.");
        return;
      }
      const position = Math.min(model.get("position"), all.length - 1);
      const trace = read(all.join());
      const logits = row(trace.logits, position);
      const before = row(trace.probabilities, position);
      const after = samplingProbabilities(logits, settings());
      const exact = exactAfter(all.slice(0, position + 1).join());
      const chosen = Math.min(model.get("word"), logits.length - 1);
      list.update(tokenizer, `after “${labels[position]}”`, before, { after, exact, chosen });
      if (exact?.size) {
        const entries = [...exact];
        const least = entries.reduce((total, [, p]) => total - p * Math.log(p), 0);
        const ours = entries.reduce((total, [id, p]) => total - p * Math.log(before[id]), 0);
        say(against, `Expected loss here: ${fixed(ours, 3)} nats; the least anyone can reach: ${fixed(least, 3)}.`);
      } else
        say(
          against,
          exact
            ? "In the course’s language the text is over here."
            : "No text of the course’s language starts like this: there is no exact answer.",
        );

      const x = row(trace.output, position);
      const e = row(transformer.parameters.E, chosen);
      const strip = matrix(3, x.length);
      strip.data.set(x);
      strip.data.set(e, x.length);
      strip.data.set(
        x.map((value, t) => value * e[t]),
        2 * x.length,
      );
      now = { logits, before, after, exact, product: strip };
      const shades = matrix(3, x.length);
      for (const r of [0, 1, 2]) {
        const part = row(strip, r);
        const max = part.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-12);
        shades.data.set(
          part.map((value) => value / max),
          r * x.length,
        );
      }
      product.update({ matrix: shades, rows: ["x", "E row", "product"], kind: "signed" });
      say(
        sum,
        `logit of “${show(tokenizer, chosen)}” = sum of ${x.length} products = ${fixed(dot(x, e), 3)}; softmax makes it the probability ${fixed(before[chosen], 4)}`,
      );

      const start = prompt().length;
      writing.replaceChildren(tokenizer.decode(all.slice(0, start)), h("mark", {}, tokenizer.decode(all.slice(start))));
      table.update();
    }),
  );
  return () => stops.forEach((end) => end());
}
