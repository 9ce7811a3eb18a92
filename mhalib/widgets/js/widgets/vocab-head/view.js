// Chapter 7: from the last layer's vector to the next word.

import { fixed } from "../../math/format.js";
import { word } from "../../math/normals.js";
import { dot, matrix, row } from "../../math/tensor.js";
import { draw, samplingProbabilities } from "../../math/vocab.js";
import { button, sentence, slider, toolbar } from "../../parts/bar.js";
import { assign, cached, h, rich, say, watch } from "../../parts/dom.js";
import { frame } from "../../parts/frame.js";
import { predictions } from "../../parts/predictions.js";
import { show, showExact } from "../../parts/tokens.js";
import { exactNext, withModel } from "../../parts/with-model.js";
import { productPicture } from "./picture.js";

const NAMES = ["text", "position", "word", "temperature", "top_k", "top_p", "generated", "seed"];

export default function view(model, el) {
  return withModel(model, el, (course) => build(model, el, course));
}

function build(model, el, course) {
  const { transformer, tokenizer } = course;
  const stops = [];
  const longest = model.get("limits").position.max + 1;
  const stop = tokenizer.encode(".")[0];
  const read = cached((key) => transformer.forward(key.split(",").map(Number)));
  const exactAfter = cached((key) => exactNext(course, key.split(",").map(Number)));
  let now = null;

  const ids = () => [...course.read(model.get("text")), ...model.get("generated")].slice(0, longest);
  const settings = () => ({
    temperature: model.get("temperature"),
    topK: model.get("top_k"),
    topP: model.get("top_p"),
  });
  function write(count) {
    const generated = [...model.get("generated")];
    const all = ids();
    for (let k = 0; k < count && all.length && all.length < longest; k++) {
      const logits = row(transformer.forward(all).logits, all.length - 1);
      const luck = word(model.get("seed"), generated.length + 1) / 2 ** 32;
      const id = draw(samplingProbabilities(logits, settings()), luck);
      generated.push(id);
      all.push(id);
      if (id === stop) break;
    }
    assign(model, { generated, position: Math.max(0, all.length - 1) });
  }

  const tokens = toolbar({
    label: "read the prediction after",
    className: "mh-writing",
    flip: (position) => assign(model, { position }),
  });
  const list = predictions({ count: 8, onPick: (id) => assign(model, { word: id }) });
  const plane = productPicture(stops, { now: () => now, told: (feature) => now && box.say(logitOf(), feature) });
  const against = h("p", { class: "mh-note" });
  const range = (from, to, step) =>
    Array.from({ length: Math.round((to - from) / step) + 1 }, (_, i) => Number((from + i * step).toFixed(2)));
  const board = h(
    "div",
    { class: "mh-next" },
    h("div", { class: "mh-next-list" }, list.element, against),
    h("div", { class: "mh-product" }, h("p", { class: "mh-title" }, rich("the logit: `x` · its row of `E`")), plane.element),
  ); // prettier-ignore
  const box = frame(model, el, stops, {
    names: NAMES,
    top: sentence(model, stops, tokenizer, { also: { generated: [] } }),
    controls: [
      slider(model, "temperature", stops, { label: "temperature", steps: range(0.1, 3, 0.1) }),
      slider(model, "top_k", stops, { label: "top-k", steps: range(0, 40, 1) }),
      slider(model, "top_p", stops, { label: "top-p", steps: range(0.05, 1, 0.05) }),
    ],
    picture: h(
      "div",
      { class: "mh-next-board" },
      h(
        "div",
        { class: "mh-write-row" },
        button("+ next token", () => write(1), { class: "mh-button mh-primary" }),
        button("to the full stop", () => write(longest)),
        button("undo", () =>
          assign(model, { generated: model.get("generated").slice(0, -1), position: Math.max(0, ids().length - 2) }),
        ),
        button("new seed", () => assign(model, { seed: (model.get("seed") + 1) % 2 ** 32, generated: [] })),
      ),
      tokens.element,
      board,
    ),
    key: [
      h("span", { class: "mh-key-item mh-key-whole" }, "model"),
      h("span", { class: "mh-key-item mh-key-changed" }, "sampling"),
      h("span", { class: "mh-key-item mh-key-tick" }, "exact, from the grammar"),
    ],
    numbers: () => (now ? [likeliest()] : []),
  });

  const logitOf = () => [
    `logit of “${now.name}” = sum of ${now.strips[0].cols} products = `,
    h("b", {}, fixed(now.sum, 3)),
  ];
  const likeliest = () => ({
    title: "Logits and probabilities of the likeliest tokens (top-k 0: all)",
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
  });

  function compare(exact, before) {
    if (!exact?.size) return exact ? "In the course’s language the text ends here." : "No text of the course’s language starts like this: there is no exact answer."; // prettier-ignore
    const entries = [...exact];
    const least = entries.reduce((total, [, p]) => total - p * Math.log(p), 0);
    const ours = entries.reduce((total, [id, p]) => total - p * Math.log(before[id]), 0);
    return `Expected loss here: ${fixed(ours, 3)} nats; the least anyone can reach: ${fixed(least, 3)}.`;
  }

  stops.push(
    watch(model, NAMES, () => {
      const all = ids();
      const prompt = all.length - Math.min(model.get("generated").length, all.length);
      const position = Math.max(0, Math.min(model.get("position"), all.length - 1));
      const labels = all.map((id) => show(tokenizer, id));
      tokens.update(labels.map((label, i) => ({ label, on: i === position, className: i < prompt ? "" : "mh-made" })));
      board.hidden = all.length === 0;
      if (!all.length) {
        now = null;
        plane.redraw();
        box.say("Type the beginning of a sentence.");
        box.changed();
        return;
      }
      const trace = read(all.join());
      const logits = row(trace.logits, position);
      const before = row(trace.probabilities, position);
      const after = samplingProbabilities(logits, settings());
      const exact = exactAfter(all.slice(0, position + 1).join());
      const chosen = Math.min(model.get("word"), logits.length - 1);
      list.update(tokenizer, `after “${labels[position]}”`, before, { after, exact, chosen });
      say(against, compare(exact, before));
      const [x, e] = [row(trace.output, position), row(transformer.parameters.E, chosen)];
      const strips = [x, e, x.map((value, t) => value * e[t])].map((data) => matrix(1, x.length, data));
      now = { logits, before, after, exact, strips, name: show(tokenizer, chosen), sum: dot(x, e) };
      plane.redraw();
      box.say(
        logitOf(),
        [`softmax makes it the probability `, h("b", {}, fixed(before[chosen], 4)), `; sampling draws it with ${fixed(after[chosen], 4)}`], // prettier-ignore
      );
      box.changed();
    }),
  );
  return () => stops.forEach((end) => end());
}
