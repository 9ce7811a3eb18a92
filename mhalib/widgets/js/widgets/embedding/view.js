// Chapter 2: the map of the vocabulary, neighbours, and the code of the positions.

import { chart, line, linear as scaleLinear, unitsAt } from "../../parts/chart.js";
import { choice, dropdown, resetButton, slider } from "../../parts/controls.js";
import { show, withModel } from "../../parts/course.js";
import { cursor } from "../../parts/cursor.js";
import { fixed } from "../../math/format.js";
import { assign, h, rich, say, set, svg, watch } from "../../parts/dom.js";
import { heatmap } from "../../parts/heatmap.js";
import { sinusoidalPositions } from "../../math/embedding.js";
import { normals } from "../../math/normals.js";
import { dataTable } from "../../parts/table.js";
import { dot, matrix, row } from "../../math/tensor.js";
import { neighbours, principalPlane, unitRows } from "../../math/embedding.js";

const NAMES = ["word", "table", "d_model", "n", "seed"];
const SHOWN = 8;

export default function view(model, el) {
  return withModel(model, el, ({ transformer, tokenizer }) => build(model, el, transformer, tokenizer));
}

function build(model, el, transformer, tokenizer) {
  const stops = [];
  const words = model.get("words"); // ids of the tokens on the map
  const labels = words.map((id) => show(tokenizer, id));
  const width = transformer.config.d_model;
  const trained = matrix(words.length, width);
  words.forEach((id, i) => trained.data.set(row(transformer.parameters.E, id), i * width));

  const plot = chart({ width: 620, height: 380, left: 10, right: 10, top: 10, bottom: 10 });
  const dots = svg("g");
  const links = plot.path("mh-line mh-links");
  plot.element.append(dots);
  const surface = h("div", { class: "mh-surface" }, plot.element);
  const near = h("ol", { class: "mh-near" });
  const said = h("p", { class: "mh-note", "aria-live": "polite" });
  const share = h("p", { class: "mh-note" });
  let plane;
  let spots = [];
  let marks = [];
  let embedding;
  let order = [];

  const index = () => Math.max(0, words.indexOf(model.get("word")));
  const position = cursor(surface, {
    label: "Map of the vocabulary",
    size: () => [1, words.length],
    locate: (event) => {
      const [x, y] = unitsAt(event, plot.element);
      let best = 0;
      spots.forEach(([a, b], i) => {
        if ((a - x) ** 2 + (b - y) ** 2 < (spots[best][0] - x) ** 2 + (spots[best][1] - y) ** 2) best = i;
      });
      return [0, order.indexOf(best)];
    },
    show: (_, at, pressed) => {
      if (pressed || surface.matches(":focus-visible")) assign(model, { word: words[order[at]] });
      else say(said, `under the pointer: ${labels[order[at]]}`);
    },
  });

  const positions = heatmap({
    label: "Positions",
    compact: true,
    onMove: (i, j) => {
      const d = model.get("d_model");
      const pair = j - (j % 2);
      const value = P.data[i * d + j];
      say(
        pointed,
        `position ${i}, column ${j}: ${j % 2 ? "cos" : "sin"}(${i} / 10000^(${pair}/${d})) = ${fixed(value, 4)}`,
      );
      positions.mark([
        [i, 0, 1, d],
        [i, j, 1, 1, "mh-strong"],
      ]);
    },
  });
  const pointed = h("p", { class: "mh-readout", "aria-live": "polite" });
  let P;
  const similarity = chart({ width: 340, height: 170, left: 34, bottom: 34 });
  const curve = similarity.path("mh-line mh-theory");
  const tablePositions = dataTable("Similarity in numbers", () => ({
    head: ["distance", "P[0] · P[distance]"],
    rows: Array.from({ length: P.rows }, (_, k) => [k, fixed(dot(row(P, 0), row(P, k)), 4)]),
  }));

  el.append(
    h(
      "div",
      { class: "mh-controls" },
      h(
        "div",
        { class: "mh-row" },
        dropdown(model, "word", stops, {
          label: "word",
          number: true,
          options: words.map((id, i) => [id, labels[i]]),
        }),
        choice(model, "table", stops, { label: "rows of E", options: { trained: "trained", random: "random" } }),
        resetButton(model, NAMES),
      ),
    ),
    h(
      "div",
      { class: "mh-split" },
      h("div", { class: "mh-panel" }, h("p", { class: "mh-title" }, "map of the vocabulary"), surface, share, said),
      h("div", { class: "mh-panel" }, h("p", { class: "mh-title" }, "nearest by cosine"), near),
    ),
    h(
      "div",
      { class: "mh-controls mh-even" },
      slider(model, "n", stops, { label: "`n` positions", steps: Array.from({ length: 63 }, (_, i) => i + 2) }),
      slider(model, "d_model", stops, { label: "`d_model`", steps: Array.from({ length: 64 }, (_, i) => 2 * (i + 1)) }),
    ),
    h(
      "div",
      { class: "mh-grid-2" },
      h(
        "div",
        { class: "mh-panel" },
        h("p", { class: "mh-title" }, "positions: one row each"),
        positions.element,
        pointed,
      ),
      h(
        "div",
        { class: "mh-panel" },
        h("p", { class: "mh-title" }, rich("`P`[0] · `P`[k]: similarity by distance")),
        similarity.element,
        tablePositions.element,
      ),
    ),
  );

  let drawn = "";
  stops.push(
    watch(model, NAMES, () => {
      const key = `${model.get("table")} ${model.get("seed")}`;
      if (key !== drawn) {
        drawn = key;
        embedding =
          model.get("table") === "random"
            ? matrix(words.length, width, normals(model.get("seed"), words.length * width))
            : trained;
        plane = principalPlane(unitRows(embedding));
        const [xs, ys] = [0, 1].map((axis) => plane.points.map((point) => point[axis]));
        const range = (list) => [Math.min(...list), Math.max(...list)];
        const x = scaleLinear(range(xs), [24, 596]);
        const y = scaleLinear(range(ys), [362, 18]);
        spots = plane.points.map(([a, b]) => [x(a), y(b)]);
        order = spots.map((_, i) => i).sort((a, b) => spots[a][0] - spots[b][0]);
        marks = spots.map(([a, b], i) =>
          svg(
            "g",
            {},
            svg("circle", { cx: a.toFixed(1), cy: b.toFixed(1), r: 3 }),
            svg("text", { x: (a + 5).toFixed(1), y: (b + 4).toFixed(1) }, labels[i]),
          ),
        );
        dots.replaceChildren(...marks);
        say(
          share,
          `rows scaled to length 1, on the two directions in which they differ most (${fixed(100 * plane.share, 0)} % of the variance)`,
        );
      }
      const at = index();
      position.move(0, order.indexOf(at));
      const nearest = neighbours(embedding, at).slice(0, SHOWN);
      say(said, `chosen: ${labels[at]}; nearest: ${labels[nearest[0][0]]}`);
      const close = new Map(nearest.map(([i], rank) => [i, rank]));
      marks.forEach((mark, i) => {
        set(mark, { class: `mh-word${i === at ? " mh-chosen" : close.has(i) ? " mh-close" : ""}` });
      });
      dots.append(...nearest.map(([i]) => marks[i]), marks[at]); // on top
      set(links, { d: nearest.map(([i]) => line([spots[at], spots[i]])).join("") });
      near.replaceChildren(
        ...nearest.map(([i, value]) => {
          const bar = h("span", { class: "mh-meter" });
          bar.style.setProperty("--part", Math.max(0, value));
          return h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "mh-link", onclick: () => assign(model, { word: words[i] }) },
              labels[i],
            ),
            bar,
            fixed(value, 3),
          );
        }),
      );
      const [n, d] = [model.get("n"), model.get("d_model")];
      if (P?.rows !== n || P?.cols !== d) {
        P = sinusoidalPositions(n, d);
        positions.update({
          matrix: P,
          kind: "signed",
          rows: n <= 24 ? Array.from({ length: n }, (_, i) => String(i)) : [],
        });
        const x = scaleLinear([0, n - 1], [similarity.inner.left, similarity.inner.right]);
        const values = Array.from({ length: n }, (_, k) => dot(row(P, 0), row(P, k)));
        const low = Math.min(0, ...values);
        const y = scaleLinear([low, d / 2], [similarity.inner.bottom, similarity.inner.top]);
        similarity.ticks({
          x: [0, n - 1].map((k) => [k, String(k)]),
          y: [0, d / 2].map((v) => [v, String(v)]),
          xScale: x,
          yScale: y,
        });
        set(curve, { d: line(values.map((v, k) => [x(k), y(v)])) });
        tablePositions.update();
      }
    }),
  );
  return () => stops.forEach((stop) => stop());
}
