// Chapter 6: the stream through the layers, two meanings of one word, what a change reaches.

import { chart, line, linear, place } from "../../parts/chart.js";
import { choice, dropdown, pick, resetButton, textBox, valuesOf } from "../../parts/controls.js";
import { idsOf, sentenceBox, show, withModel } from "../../parts/course.js";
import { fixed, fmt } from "../../math/format.js";
import { cached, h, rich, say, set, svg, watch } from "../../parts/dom.js";
import { colourKey, heatmap, largestSize } from "../../parts/heatmap.js";
import { changes, cosines, stages, streamOf } from "../../math/stream.js";
import { dataTable } from "../../parts/table.js";
import { matrix, row } from "../../math/tensor.js";
import { predictions } from "../../parts/predictions.js";

const NAMES = ["text", "other", "position", "replacement", "depth", "norm"];

export default function view(model, el) {
  const first = valuesOf(model, NAMES); // a new variant builds the view again
  return withModel(model, el, (course) => build(model, el, course, first), "norm");
}

function build(model, el, { transformer, tokenizer, variants }, first) {
  const stops = [];
  const { n_layers: N, norm } = transformer.config;
  // All layers of three texts (the sentence, the other one, the sentence with a token changed); fewer
  // layers are the first of their stages.
  const [mine, others, swapped] = Array.from({ length: 3 }, () =>
    cached((key) => stages(transformer.forward(key.split(",").map(Number), { head: false }), norm)),
  );
  let now;

  const token = pick(model, "position", stops, "the token to follow");
  const streamRead = h("p", { class: "mh-readout", "aria-live": "polite" });
  const stream = heatmap({
    label: "The stream of the chosen token",
    onMove: (i, j) => {
      stream.mark([
        [i, 0, 1, now.stream.cols],
        [i, j, 1, 1, "mh-strong"],
      ]);
      say(streamRead, `${now.list[i][0]}, feature ${j}: ${fixed(now.stream.data[i * now.stream.cols + j], 4)}`);
    },
  });
  const changeRead = h("p", { class: "mh-readout", "aria-live": "polite" });
  const change = heatmap({
    label: "How much each token changed at each stage",
    onMove: (i, j) => {
      change.mark([
        [i, 0, 1, now.changes.cols],
        [i, j, 1, 1, "mh-strong"],
      ]);
      const value = now.changes.data[i * now.changes.cols + j];
      say(
        changeRead,
        `${now.list[i][0]}, “${now.labels[j]}”: ${value === 0 ? "not changed at all" : `changed by ${fmt(100 * value)} % of its length`}`,
      );
    },
  });
  const reach = h("p", { class: "mh-note", "aria-live": "polite" });
  const apart = chart({ width: 340, height: 200, left: 34, bottom: 30 });
  const curve = apart.path("mh-line mh-theory");
  const dots = svg("g");
  apart.element.append(dots);
  const apartText = h("p", { class: "mh-readout", "aria-live": "polite" });
  const table = dataTable("The cosines in numbers", () => ({
    head: ["stage", "cosine"],
    rows: (now.cosines ?? []).map((value, s) => [now.list[s][0], fixed(value, 4)]),
  }));
  const next = predictions();
  const words = model.get("words").map((id) => [id, show(tokenizer, id)]);
  const numbered = (from, to) =>
    Object.fromEntries(Array.from({ length: to - from + 1 }, (_, i) => [from + i, String(from + i)]));

  el.append(
    h(
      "div",
      { class: "mh-controls" },
      sentenceBox(model, stops, tokenizer),
      token.element,
      h(
        "div",
        { class: "mh-row" },
        choice(model, "depth", stops, { label: "`N` layers used", options: numbered(0, N), number: true }),
        Object.keys(variants).length > 1
          ? choice(model, "norm", stops, {
              label: "norm (a model trained with each)",
              options: { post: "post-norm", pre: "pre-norm" },
            })
          : null,
        resetButton(model, NAMES, first),
      ),
    ),
    h(
      "div",
      { class: "mh-panel" },
      h("p", { class: "mh-title" }, rich("the stream of the token: `d_model` features, stage by stage")),
      stream.element,
      streamRead,
    ),
    h(
      "div",
      { class: "mh-grid-2" },
      h(
        "div",
        { class: "mh-panel" },
        h("p", { class: "mh-title" }, "the same word in another sentence"),
        textBox(model, "other", stops, { label: "the other sentence", limit: 400 }),
        apart.element,
        apartText,
        table.element,
      ),
      h(
        "div",
        { class: "mh-panel" },
        h("p", { class: "mh-title" }, "what comes next, after the chosen token"),
        next.element,
      ),
    ),
    h(
      "div",
      { class: "mh-panel" },
      h("p", { class: "mh-title" }, "change one token: who notices?"),
      dropdown(model, "replacement", stops, { label: "put in its place", options: words, number: true }),
      change.element,
      changeRead,
      reach,
      colourKey("share"),
    ),
  );

  stops.push(
    watch(model, NAMES, () => {
      const ids = idsOf(tokenizer, model.get("text"));
      const labels = ids.map((id) => show(tokenizer, id));
      const depth = Math.min(model.get("depth"), N);
      const used = (list) => list.slice(0, 1 + 2 * depth);
      token.update(labels);
      if (!ids.length) return;
      const position = Math.min(model.get("position"), ids.length - 1);
      const list = used(mine(ids.join()));
      now = { labels, list, stream: streamOf(list, position) };
      stream.update({
        matrix: now.stream,
        rows: list.map(([name]) => shorten(name)),
        kind: "signed",
        max: largestSize(now.stream),
      });

      const otherIds = idsOf(tokenizer, model.get("other"));
      const found = otherIds.indexOf(ids[position]);
      now.cosines = found < 0 ? null : cosines(list, position, used(others(otherIds.join())), found);
      drawApart();

      const last = row(list.at(-1)[1], position);
      const { probabilities } = transformer.readOut(matrix(1, last.length, last));
      next.update(
        tokenizer,
        `after “${labels[position]}”, read after ${depth} layer${depth === 1 ? "" : "s"}`,
        row(probabilities, 0),
      );

      now.changes = changes(list, used(swapped(ids.with(position, model.get("replacement")).join())));
      change.update({ matrix: now.changes, rows: list.map(([name]) => shorten(name)), cols: labels });
      const counts = list.map((_, s) => row(now.changes, s).filter((value) => value > 0).length);
      say(reach, `tokens that changed, stage by stage: ${counts.join(" → ")}. Only attention makes the number grow.`);
      table.update();
    }),
  );

  function drawApart() {
    const count = now.list.length;
    const x = linear([0, Math.max(1, count - 1)], [apart.inner.left + 8, apart.inner.right - 8]);
    const values = now.cosines ?? [];
    const low = Math.min(0, ...values);
    const y = linear([low, 1], [apart.inner.bottom, apart.inner.top]);
    apart.ticks({
      x: now.list.map(([name], s) => [s, s ? (s % 2 ? `attn ${(s - 1) / 2}` : `ffn ${s / 2 - 1}`) : "X"]),
      y: [0, 0.5, 1].map((v) => [v, String(v)]),
      xScale: x,
      yScale: y,
    });
    set(curve, { d: line(values.map((value, s) => [x(s), y(value)])) });
    dots.replaceChildren(
      ...values.map((value, s) => {
        const dot = svg("circle", { r: 4, class: "mh-dot" });
        place(dot, x(s), y(value));
        return dot;
      }),
    );
    const word = now.labels[Math.min(model.get("position"), now.labels.length - 1)];
    say(
      apartText,
      values.length
        ? `cosine of the two vectors of “${word}”: ${fixed(values[0], 3)} at the start, ${fixed(values.at(-1), 3)} at the end`
        : `“${word}” is not in the other sentence.`,
    );
  }
  return () => stops.forEach((stop) => stop());
}

function shorten(name) {
  return name.replace("layer ", "").replace(", after attention", ": attn").replace(", after feed-forward", ": ffn");
}
