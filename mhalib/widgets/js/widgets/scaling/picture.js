// All scores and the weights of one query; below, four measures over d_k under each divisor.

import { fmt } from "../../math/format.js";
import { SCALES } from "../../math/scaling.js";
import { row } from "../../math/tensor.js";
import { bars, line, linear, log } from "../../parts/chart.js";
import { picture } from "../../parts/picture.js";
import { layout, locate, step } from "./layout.js";

const text = (x, y, words, name = "") => ["text", { x, y, class: name }, words];
const path = (d, name, more = {}) => ["path", { d, class: name, ...more }];

export const MEASURES = [
  ["variance", "score variance"],
  ["largest", "largest weight"],
  ["entropy", "entropy"],
  ["jacobian", "Jacobian norm"],
];

export function scalingPicture(stops, { now, at, chosen, peek, pick }) {
  let place = null;
  const counts = () => ({ bins: now().counts.length, keys: now().nKeys });
  const plane = picture(stops, {
    label: "the scores, the weights, and four measures",
    draw,
    peek,
    pick,
    hit: (x, y) => place && locate(place, counts(), x, y),
    arrow: (di, dj) => pick(step(chosen(), counts(), di, dj)),
    enter: () => pick(chosen()),
    drag: {
      start(position) {
        if (position.part === "tile") pick(position);
        return position.part === "tile";
      },
      move: (position) => position?.part === "tile" && pick({ ...position, j: chosen().j }),
    },
  });
  const shapes = plane.layer();

  function draw(width) {
    const state = now();
    place = layout(width);
    const seen = at();
    shapes.write([
      ...histogram(state, place.charts[0], seen),
      ...softmax(state, place.charts[1], seen),
      ...place.tiles.flatMap((tile, k) => measure(state, tile, k, seen)),
    ]);
    plane.tell(`Largest weight ${fmt(state.result.largest)} at d_k ${state.dK}.`);
    return { height: place.height, paint() {} };
  }

  return plane;
}

function histogram({ counts, half, result, scale }, { x: left, y: top, w, h }, seen) {
  const base = top + h;
  const spread = Math.sqrt(result.theory);
  const width = (2 * half) / counts.length;
  const x = linear([-half, half], [left, left + w]);
  const density = [...counts].map((count) => count / (result.scores.data.length * width));
  const normal = (s, sd) => Math.exp(-((s / sd) ** 2) / 2) / (sd * Math.sqrt(2 * Math.PI));
  const y = linear([0, 1.1 * Math.max(normal(0, Math.max(spread, width)), ...density)], [base, top]);
  const curve = (sd) =>
    line(Array.from({ length: 161 }, (_, i) => [x(half * (i / 80 - 1)), y((normal(half * (i / 80 - 1), sd) * sd) / spread)])); // prettier-ignore
  const bar = w / counts.length;
  const ticks = [-half, -half / 2, 0, half / 2, half];
  return [
    text(left, top - 28, "all scores", "mh-strong-text"),
    text(left + 86, top - 28, `spread ${fmt(Math.sqrt(result.variance))}, theory ${fmt(spread)}`, "mh-soft mh-small-text"), // prettier-ignore
    text(left, top - 10, "— theory", "mh-small-text mh-theory-text"),
    text(left + 86, top - 10, "- - variance 1, same height", "mh-small-text mh-soft"),
    path(`M${left} ${base}h${w}`, "mh-base"),
    path(bars(density.map((d, i) => [left + i * bar + 0.5, bar - 1, y(d)]), base), "mh-own-bars", { "data-scale": scale }), // prettier-ignore
    path(curve(1), "mh-unit-curve"),
    path(curve(spread), "mh-theory-curve"),
    seen.part === "scores" && ["rect", { x: left + seen.j * bar, y: top, width: bar, height: h, class: "mh-outline mh-strong" }], // prettier-ignore
    ...ticks.map(
      (s, k) =>
      text(x(s), base + 16, fmt(s, 3).replace(/\.0+$/, ""), `mh-soft mh-small-text ${["", "mh-middle", "mh-middle", "mh-middle", "mh-end"][k]}`), // prettier-ignore
    ),
  ];
}

function softmax({ nKeys, result, scale }, { x: left, y: top, w, h }, seen) {
  const base = top + h;
  const bar = w / nKeys;
  const gap = Math.min(1, bar / 5);
  const y = linear([0, 1], [base, top]);
  const weights = [...row(result.weights, 0)];
  return [
    text(left - 20, top - 28, "softmax: the weights of the first query", "mh-strong-text"),
    path(`M${left} ${base}h${w}`, "mh-base"),
    path(bars(weights.map((p, j) => [left + j * bar + gap, bar - 2 * gap, y(p)]), base), "mh-own-bars", { "data-scale": scale }), // prettier-ignore
    seen.part === "weights" && ["rect", { x: left + seen.j * bar, y: top, width: bar, height: h, class: "mh-outline mh-strong" }], // prettier-ignore
    ...[0, 0.5, 1].map((p) => text(left - 6, y(p) + 4.5, String(p), "mh-end mh-soft mh-small-text")),
    text(left, base + 16, "key 1", "mh-soft mh-small-text"),
    text(left + w, base + 16, `key ${nKeys}`, "mh-end mh-soft mh-small-text"),
  ];
}

/** One measure: its value, and how it goes with d_k under each divisor. */
function measure({ dK, nKeys, scale, result, lines, drawn }, { x: left, y: top, w, h }, k, seen) {
  const [key, title] = MEASURES[k];
  const base = top + h;
  const x = log([1, 1024], [left, left + w]);
  const all = Object.values(lines).flatMap((values) => values.map((each) => each[key]));
  const high = { variance: Math.max(...all), largest: 1, entropy: Math.log(nKeys), jacobian: Math.max(...all) }[key];
  const y = key === "variance" ? log([Math.min(...all), high], [base, top]) : linear([0, high], [base, top]);
  const order = Object.keys(SCALES).sort((a, b) => (a === scale) - (b === scale));
  const own = seen.part === "tile" && seen.j === k;
  return [
    own && ["rect", { x: left - 6, y: top - 38, width: w + 14, height: h + 58, class: "mh-outline" }],
    text(left, top - 24, title, "mh-strong-text"),
    text(left, top - 8, fmt(result[key]), "mh-strong-text"),
    text(left + w, top - 8, key === "variance" ? `theory ${fmt(result.theory)}` : `top ${fmt(high)}`, "mh-end mh-soft mh-small-text"), // prettier-ignore
    path(`M${left} ${base}h${w}`, "mh-base"),
    ...order.map(
      (name) =>
      path(line(lines[name].map((each, i) => [x(drawn[i]), y(each[key])])), "mh-measure", { "data-scale": name, "stroke-width": name === scale ? 3 : 1.3, opacity: name === scale ? 1 : 0.5 }), // prettier-ignore
    ),
    ["circle", { cx: x(dK), cy: Math.max(top, Math.min(base, y(result[key]))), r: 4.5, class: "mh-here" }],
    ...[1, 32, 1024].map((d, t) => text(x(d), base + 15, String(d), `mh-soft mh-small-text ${["", "mh-middle", "mh-end"][t]}`)), // prettier-ignore
  ];
}
