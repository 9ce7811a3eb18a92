// Chapter 4: what the spread of the scores does to the softmax.

import { bars, chart, line, linear, log, place, unitsAt } from "../../parts/chart.js";
import { button, choice, resetButton, slider } from "../../parts/controls.js";
import { cursor } from "../../parts/cursor.js";
import { fixed, fmt } from "../../math/format.js";
import { assign, cached, h, rich, say, set, svg, watch } from "../../parts/dom.js";
import { drawSample, experiment, SCALES, statistics, SWEEP } from "../../math/scaling.js";
import { dataTable } from "../../parts/table.js";
import { row } from "../../math/tensor.js";

const NAMES = ["d_k", "sigma", "n_keys", "scale", "seed"];
const BINS = 48;
const DRAWN = SWEEP.filter((_, i) => i % 2 === 0); // the powers of 2: enough for a small line
const D_K_STEPS = [...new Set(Array.from({ length: 81 }, (_, i) => Math.round(2 ** (i / 8))))];
const SIGMA_STEPS = Array.from({ length: 30 }, (_, i) => (i + 1) / 10);
const KEY_STEPS = Array.from({ length: 63 }, (_, i) => i + 2);
const SCALE_LABELS = { none: "none", sqrt_d_k: "√`d_k`", d_k: "`d_k`", sqrt_d_model: "√`d_model`" };

export default function scaling(model, el) {
  const stops = [];
  const sample = cached(drawSample);
  const sweep = cached((seed, sigma, nKeys) =>
    Object.fromEntries(
      Object.keys(SCALES).map((scale) => [
        scale,
        DRAWN.map((dK) => statistics(sample(seed), { dK, sigma, nKeys, scale })),
      ]),
    ),
  );

  const histogram = histogramChart();
  const softmax = softmaxChart();
  const tiles = [
    tile("Score variance", "variance", (r, dK) => `theory ${fmt(r.theory)}`, true),
    tile("Largest weight", "largest", (r, n) => `even share: 1/${n} = ${fmt(1 / n)}`),
    tile("Entropy", "entropy", (r, n) => `of at most ln ${n} = ${fmt(Math.log(n))}`),
    tile("Jacobian norm", "jacobian", () => "gradient let through"),
  ];
  const table = dataTable("The numbers of the first query", () => {
    const { result } = current;
    return {
      head: ["key", "score", "weight"],
      rows: [...row(result.scores, 0)].map((s, j) => [j + 1, fixed(s, 4), fixed(result.weights.data[j], 6)]),
    };
  });

  let current;
  el.append(
    h(
      "div",
      { class: "mh-controls" },
      slider(model, "d_k", stops, { label: "`d_k`", steps: D_K_STEPS }),
      slider(model, "sigma", stops, { label: "σ of queries and keys", steps: SIGMA_STEPS, integer: false }),
      slider(model, "n_keys", stops, { label: "keys", steps: KEY_STEPS }),
      h(
        "div",
        { class: "mh-row" },
        choice(model, "scale", stops, { label: "divide the scores by", options: SCALE_LABELS }),
        button("New sample", () => assign(model, { seed: (model.get("seed") + 1) % 2 ** 32 })),
        resetButton(model, NAMES),
      ),
    ),
    h("div", { class: "mh-grid-2" }, histogram.element, softmax.element),
    h(
      "div",
      { class: "mh-tiles" },
      tiles.map((t) => t.element),
    ),
    table.element,
  );

  stops.push(
    watch(model, NAMES, () => {
      const setting = {
        dK: model.get("d_k"),
        sigma: model.get("sigma"),
        nKeys: model.get("n_keys"),
        scale: model.get("scale"),
      };
      const result = experiment(sample(model.get("seed")), setting);
      current = { ...setting, result };
      el.dataset.scale = setting.scale;
      histogram.update(current);
      softmax.update(current);
      const lines = sweep(model.get("seed"), setting.sigma, setting.nKeys);
      for (const each of tiles) each.update(current, lines);
      table.update();
    }),
  );
  return () => stops.forEach((stop) => stop());
}

function figure(title, picture, ...rest) {
  return h("div", { class: "mh-panel" }, h("p", { class: "mh-title" }, rich(title)), picture, ...rest);
}

function histogramChart() {
  const plot = chart({ width: 340, height: 190, left: 14, right: 14, bottom: 26 });
  const area = plot.path("mh-bars");
  const theory = plot.path("mh-line mh-theory");
  const unit = plot.path("mh-line mh-unit");
  const text = h("p", { class: "mh-readout" });
  const { left, right, top, bottom } = plot.inner;
  return {
    element: figure(
      "All scores",
      plot.element,
      h(
        "p",
        { class: "mh-legend" },
        h("span", { class: "mh-key mh-theory" }, "theory: normal, variance σ⁴", rich("`d_k`"), " × scale²"),
        h("span", { class: "mh-key mh-unit" }, "variance 1, drawn as high"),
      ),
      text,
    ),
    update({ result }) {
      const spread = Math.sqrt(result.theory);
      const half = 2 ** Math.max(2, Math.ceil(Math.log2(3.2 * spread))); // the axis grows by doubling
      const x = linear([-half, half], [left, right]);
      const counts = new Float64Array(BINS);
      for (const s of result.scores.data) {
        const bin = Math.floor(((s + half) / (2 * half)) * BINS);
        if (bin >= 0 && bin < BINS) counts[bin] += 1;
      }
      const width = (2 * half) / BINS;
      const density = counts.map((count) => count / (result.scores.data.length * width));
      const normal = (s, sd) => Math.exp(-((s / sd) ** 2) / 2) / (sd * Math.sqrt(2 * Math.PI));
      const y = linear([0, 1.25 * Math.max(normal(0, Math.max(spread, width)), ...density)], [bottom, top]);
      const curve = (sd) =>
        line(
          Array.from({ length: 241 }, (_, i) => {
            const s = half * (i / 120 - 1);
            return [x(s), y((normal(s, sd) * sd) / spread)];
          }),
        );
      set(area, {
        d: bars(
          [...density].map((d, i) => [x(i * width - half) + 0.5, x(width) - x(0) - 1, y(d)]),
          bottom,
        ),
      });
      set(theory, { d: curve(spread) });
      set(unit, { d: curve(1) });
      const ticks = [-half, -half / 2, 0, half / 2, half].map((s) => [s, String(s).replace("-", "−")]);
      plot.ticks({ x: ticks, xScale: x });
      say(text, `spread (standard deviation) ${fmt(Math.sqrt(result.variance))}, theory ${fmt(spread)}`);
    },
  };
}

function softmaxChart() {
  const plot = chart({ width: 340, height: 190, left: 30, bottom: 26 });
  const area = plot.path("mh-bars");
  const mark = plot.path("mh-mark");
  const text = h("p", { class: "mh-readout", "aria-live": "polite" });
  const { left, right, top, bottom } = plot.inner;
  const y = linear([0, 1], [bottom, top]);
  let current;
  const surface = h("div", { class: "mh-surface" }, plot.element);
  const show = (_, j) => {
    const x = linear([0, current.nKeys], [left, right]);
    set(mark, { d: bars([[x(j), x(1) - x(0), top]], bottom) });
    const { scores, weights } = current.result;
    say(text, `key ${j + 1} of ${current.nKeys}: score ${fixed(scores.data[j], 2)}, weight ${fmt(weights.data[j])}`);
  };
  const position = cursor(surface, {
    label: "Weights of the first query",
    size: () => [1, current.nKeys],
    locate: (event) => [0, Math.floor(linear([left, right], [0, current.nKeys])(unitsAt(event, plot.element)[0]))],
    show,
  });
  return {
    element: figure("Softmax: the weights of the first query", surface, text),
    update(now) {
      const moved = current?.nKeys !== now.nKeys;
      current = now;
      const x = linear([0, now.nKeys], [left, right]);
      const gap = Math.min(1, 60 / now.nKeys / 4);
      const weights = row(now.result.weights, 0);
      set(area, {
        d: bars(
          [...weights].map((w, j) => [x(j) + gap, x(1) - x(0) - 2 * gap, y(w)]),
          bottom,
        ),
      });
      if (moved) {
        plot.ticks({
          x: [
            [left + 14, "key 1"],
            [right - 17, `key ${now.nKeys}`],
          ],
          y: [0, 0.5, 1].map((w) => [w, String(w)]),
          xScale: (at) => at,
          yScale: y,
        });
        position.move(0, Math.min(position.at()[1], now.nKeys - 1));
      }
      show(...position.at());
    },
  };
}

/** One statistic: its value, and how it goes with d_k under each scale. */
function tile(title, key, note, logarithmic = false) {
  const plot = chart({ width: 220, height: 92, left: 30, right: 10, top: 8, bottom: 20 });
  const { left, right, top, bottom } = plot.inner;
  const x = log([1, 1024], [left, right]);
  const paths = Object.fromEntries(
    Object.keys(SCALES).map((scale) => [scale, plot.path("mh-line", { "data-scale": scale })]),
  );
  const dot = svg("circle", { r: 4.5, class: "mh-dot" });
  plot.element.append(dot);
  const value = h("output", { class: "mh-value", "aria-live": "off" });
  const small = h("span", { class: "mh-note" });
  let drawn;
  let y;
  return {
    element: h("div", { class: "mh-panel mh-tile" }, h("p", { class: "mh-title" }, title), value, small, plot.element),
    update({ dK, nKeys, scale, result }, lines) {
      if (drawn !== lines) {
        drawn = lines;
        const all = Object.values(lines)
          .flat()
          .map((r) => r[key]);
        if (logarithmic) {
          const [low, high] = [Math.min(...all), Math.max(...all)];
          y = log([low, high], [bottom, top]);
          plot.ticks({
            x: [1, 32, 1024].map((d) => [d, String(d)]),
            y: [1, 1000].filter((v) => v > low && v < high).map((v) => [v, String(v)]),
            xScale: x,
            yScale: y,
          });
        } else {
          const high = key === "entropy" ? Math.log(nKeys) : key === "largest" ? 1 : Math.max(...all);
          y = linear([0, high], [bottom, top]);
          plot.ticks({
            x: [1, 32, 1024].map((d) => [d, String(d)]),
            y: [0, high].map((v) => [v, fmt(v, 2)]),
            xScale: x,
            yScale: y,
          });
        }
        for (const [name, path] of Object.entries(paths)) {
          set(path, { d: line(lines[name].map((r, i) => [x(DRAWN[i]), y(r[key])])) });
        }
      }
      plot.element.append(paths[scale], dot); // the chosen line on top
      place(dot, x(dK), y(result[key]));
      say(value, fmt(result[key]));
      say(small, note(result, nKeys));
    },
  };
}
