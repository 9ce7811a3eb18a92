// The picture of an attention of one's own: the geometry of the single head, with numbers in the cells.

import { fixed } from "../../math/format.js";
import { matrix, row } from "../../math/tensor.js";
import { cells, hatchMask, largestSize, moved, strength } from "../../parts/cells.js";
import { picture } from "../../parts/picture.js";
import { area, locate, step } from "../single-head/layout.js";
import { layout } from "./layout.js";

const rect = ([x, y, width, height], name) => ["rect", { x, y, width, height, class: name }];
const text = (x, y, words, name = "") => ["text", { x, y, class: name }, words];
const short = (label) => ([...label].length > 9 ? `${[...label].slice(0, 8).join("")}…` : label);

export function ownPicture(stops, { now, at, chosen, peek, pick, enter, drag, typed, shown, brush, value }) {
  let place = null;
  let flashed = null;
  const plane = picture(stops, {
    label: "your attention: queries, keys, weights, values, output",
    draw,
    peek,
    pick,
    drag,
    hit: (x, y) => place && now().labels.length > 0 && locate(place, x, y, now()),
    arrow: (di, dj) => now().labels.length && pick(step(place, chosen(), di, dj), true),
    enter,
  });
  plane.surface.addEventListener("keydown", (event) => {
    const sign = { "+": 1, "=": 1, "-": -1, "−": -1 }[event.key];
    if (sign) typed(sign * 0.1);
  });
  const [back, lines, words] = [plane.layer(), plane.layer(), plane.layer()];

  function draw(width) {
    const state = now();
    const n = state.labels.length;
    const seen = at();
    const [query, key] = seen.part === "weights" ? [seen.i, seen.j] : [state.query, state.key];
    shown.hidden = brush.hidden = n === 0;
    if (!n) {
      for (const layer of [back, lines, words]) layer.write([]);
      plane.flash("");
      plane.tell("");
      return { height: 40, paint() {} };
    }
    place = layout(width, { n, d: state.Q.cols });
    if (!place.wide) {
      const rows = { Q: query, K: key, V: key, output: query };
      for (const [name, i] of Object.entries(rows)) place.parts[name].i = i;
    }
    const { parts, labels: room, wide, bars } = place;
    plane.place(brush, 0, wide ? 20 : 0);
    plane.place(value, wide ? 0 : 120, wide ? 50 : 2);
    plane.place(shown, wide ? bars.x - 150 : width - 143, wide ? bars.y + 3 : 0);
    const middle = (i) => parts.weights.y + (i + 0.5) * parts.weights.h;
    back.write([
      ["path", { d: state.mask ? hatchMask(state.mask, parts.weights) : "", class: "mh-hatching" }],
      rect([0, middle(query) - 11, room - 4, 22], "mh-pill"),
      rect([0, middle(key) - 11, room - 4, 22], "mh-pill-asked"),
      ...rowBars(state, place, query, key),
      ...(wide ? entropyBars(state, place, middle) : []),
    ]);
    lines.write([
      rect(area(parts.weights, query, 0, query, n - 1), "mh-outline"),
      rect(area(parts.weights, query, key), "mh-outline mh-strong"),
      rect(area(parts.Q, query, 0, query, state.Q.cols - 1), "mh-box mh-line-q"),
      rect(area(parts.K, key, 0, key, state.Q.cols - 1), "mh-box mh-line-k"),
      rect(area(parts.V, key, 0, key, state.Q.cols - 1), "mh-box mh-line-v"),
      rect(area(parts.output, query, 0, query, state.Q.cols - 1), "mh-outline"),
      seen.part !== "weights" && rect(area(parts[seen.part], seen.i, seen.j), "mh-outline mh-strong"),
    ]);
    words.write([
      ...state.labels.map((label, i) =>
        text(room - 10, middle(i) + 4.5, short(label), `mh-end${i === query ? " mh-on-pill" : ""}`),
      ),
      ...(parts.weights.w >= 32 ? numbers(state, parts.weights) : []),
      ...(wide ? titles(state, place) : strips(place)),
    ]);
    if (state.before !== flashed) {
      flashed = state.before;
      plane.flash(flashed ? moved(flashed, state.weights, parts.weights) : "");
    }
    const share = fixed(state.weights.data[query * n + key], 3);
    plane.tell(`${state.labels[query]} gives ${state.labels[key]} the weight ${share}.`);
    return { height: place.height, paint: (pen, colours) => paint(pen, colours, state, place) };
  }

  return plane;
}

function paint(pen, colours, { Q, K, V, output, weights, scores, mask, shown }, { parts }) {
  const shares = shown === "weights";
  const drawn = shares ? { matrix: weights, kind: "share" } : { matrix: scores, max: largestSize(scores) };
  cells(pen, colours, { ...parts.weights, ...drawn, gap: 1, mask });
  const [feature, value] = [largestSize(Q, K), largestSize(V, output)];
  for (const [name, A, max] of [
    ["Q", Q, feature],
    ["K", K, feature],
    ["V", V, value],
    ["output", output, value],
  ]) {
    // prettier-ignore
    const { i } = parts[name];
    cells(pen, colours, { ...parts[name], matrix: i === undefined ? A : matrix(1, A.cols, row(A, i)), max });
  }
}

/** The numbers in the cells, light on strong ones. */
function numbers({ weights, scores, shown, allowed, labels }, part) {
  const n = labels.length;
  const A = shown === "weights" ? weights : scores;
  const max = shown === "weights" ? 1 : largestSize(scores);
  return labels.flatMap((_, i) =>
    labels.flatMap((_, j) => {
      if (!allowed(i, j)) return [];
      const value = A.data[i * n + j];
      const strong = strength(value, shown === "weights" ? "share" : "signed", max) > 0.85;
      const [x, y] = [part.x + (j + 0.5) * part.w, part.y + (i + 0.5) * part.h + 4];
      return [text(x, y, fixed(value, 2), `mh-middle mh-small-text${strong ? " mh-on-strong" : ""}`)];
    }),
  );
}

/** The chosen row of what the matrix does not show. */
function rowBars({ scores, weights, shown, labels, allowed }, { bars }, query, key) {
  const n = labels.length;
  const A = shown === "weights" ? scores : weights;
  const values = [...row(A, query)].map((value, j) => (allowed(query, j) ? value : 0));
  const size = shown === "weights" ? Math.max(...values.map(Math.abs), 1e-9) : 1;
  const base = bars.y + (shown === "weights" ? bars.h / 2 : bars.h);
  const room = shown === "weights" ? bars.h / 2 : bars.h;
  return [
    ["path", { d: `M${bars.x} ${base}h${n * bars.w}`, class: "mh-base" }],
    ...values.map((value, j) => {
      const length = (Math.abs(value) / size) * room;
      const box = [bars.x + j * bars.w + bars.w * 0.25, value < 0 ? base : base - length, bars.w * 0.5, Math.max(0.7, length)]; // prettier-ignore
      return rect(box, value < 0 ? "mh-minus-bar" : "mh-plus-bar");
    }),
    rect([bars.x + key * bars.w, bars.y - 2, bars.w, bars.h + 4], "mh-outline"),
  ];
}

/** The entropy of each row, from 0 to log n. */
function entropyBars({ entropy, labels }, { right, end, parts }, middle) {
  const room = end - right - 40;
  const tall = Math.min(12, parts.weights.h - 3);
  return entropy.flatMap((value, i) => [
    rect([right, middle(i) - tall / 2, room, tall], "mh-track"),
    rect([right, middle(i) - tall / 2, (value / Math.log(Math.max(2, labels.length))) * room, tall], "mh-plus-bar"),
  ]);
}

function titles({ Q, labels, entropy, shown }, { parts, bars, right, end }) {
  const V = parts.V.x;
  const [n, d] = [labels.length, Q.cols];
  const row = (i) => parts.weights.y + (i + 0.5) * parts.weights.h + 4;
  return [
    text(0, 13, `${n} × ${d}, ${d} × ${n}, ${n} × ${d}`, "mh-soft mh-small-text"),
    text(parts.Q.x, parts.Q.y - 8, "queries Q", "mh-strong-text mh-of-q"),
    text(parts.K.x, 12, "keys Kᵀ", "mh-strong-text mh-of-k"),
    text(V, 12, "values V", "mh-strong-text mh-of-v"),
    text(V, bars.y + 12, "output", "mh-strong-text"),
    text(right, parts.weights.y - 8, "entropy, nats", "mh-strong-text"),
    text(V, bars.y + 30, `bars: the row's ${shown === "weights" ? "scores" : "weights"}`, "mh-soft mh-small-text"),
    ...(parts.weights.h >= 12
      ? entropy.map((value, i) => text(end, row(i), fixed(value, 2), "mh-end mh-small-text"))
      : []),
  ];
}

function strips({ parts }) {
  const names = [["Q", "q", "mh-of-q"], ["K", "k", "mh-of-k"], ["V", "v", "mh-of-v"], ["output", "o", ""]]; // prettier-ignore
  return names.map(([part, name, own]) => text(0, parts[part].y + 16, name, `mh-strong-text ${own}`));
}
