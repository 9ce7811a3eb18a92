// The head as a picture: queries, keys, the matrix between them, values, the output; the chosen row as bars.

import { fixed } from "../../math/format.js";
import { matrix, row } from "../../math/tensor.js";
import { cells, hatch, hatchMask, largestSize, moved } from "../../parts/cells.js";
import { picture } from "../../parts/picture.js";
import { area, layout, locate, step } from "./layout.js";
import { bowNames, bows } from "./arcs.js";
import { path, short, text } from "./shapes.js";

const rect = ([x, y, width, height], name) => ["rect", { x, y, width, height, class: name }];
const mid = ([x, y, width, height]) => [x + width / 2, y + height / 2];

export function headPicture(stops, { now, at, chosen, peek, pick, shown }) {
  let place = null; // the layout as it was drawn
  let flashed = null;
  const arcs = () => now().shown === "arcs";
  const plane = picture(stops, {
    label: "the head: queries, keys, weights, values, output",
    draw,
    peek,
    pick,
    hit(x, y) {
      const found = place && now().labels.length > 0 && locate(place, x, y, now());
      return found && arcs() && found.part === "weights" && y < place.bars.y ? { ...found, j: now().key } : found;
    },
    arrow: (di, dj) => now().labels.length && pick(step(place, chosen(), di, dj)),
    enter: () => now().labels.length && pick(chosen()),
  });
  const [back, lines, words] = [plane.layer(), plane.layer(), plane.layer()];

  function draw(width) {
    const state = now();
    const { labels, Q, V, mask } = state;
    const n = labels.length;
    const seen = at();
    const [query, key] = seen.part === "weights" ? [seen.i, seen.j] : [state.query, state.key];
    place = layout(width, { n, dK: Q.cols, dV: V.cols, query, key });
    const { parts, bars, wide } = place;
    plane.place(shown, 0, wide ? 36 : 0);
    shown.hidden = n === 0;
    if (!n) {
      for (const layer of [back, lines, words]) layer.write([]);
      plane.flash("");
      plane.tell("");
      return { height: 40, paint() {} };
    }
    back.write([
      path(mask && !arcs() ? hatchMask(mask, parts.weights) : "", "mh-hatching"),
      rect(tokenBox(place, query), "mh-pill"),
      rect(tokenBox(place, key), "mh-pill-asked"),
      ...rowBars(state, place, query, key),
    ]);
    lines.write([
      ...outlines(state, place, seen, query, key, arcs()),
      ...(arcs() ? bows(state, place, query, key) : []),
      ...(wide ? flows(state, place, query, key) : []),
    ]);
    words.write([...names(state, place, query, key), ...(arcs() ? bowNames(state, place, query, key) : []), ...barNames(place), ...(wide ? titles(state, place, query, key) : stripNames(state, place, query, key))]); // prettier-ignore
    if (state.before !== flashed) {
      flashed = state.before;
      plane.flash(flashed && !arcs() ? moved(flashed, state.weights, parts.weights) : "");
    }
    plane.tell(`${labels[query]} gives ${labels[key]} the weight ${fixed(state.weights.data[query * n + key], 3)}.`);
    return { height: place.height, paint: (pen, colours) => paint(pen, colours, state, place, query, key) };
  }

  return plane;
}

function paint(pen, colours, state, { parts, products, wide }, query, key) {
  const { Q, K, V, output, sizes, mask } = state;
  const shares = state.shown === "weights";
  const matrixShown = shares ? { matrix: state.weights, kind: "share" } : { matrix: state.scores, max: sizes.scores };
  if (state.shown !== "arcs") cells(pen, colours, { ...parts.weights, ...matrixShown, gap: 1, mask });
  const vectors = { Q: [Q, sizes.feature], K: [K, sizes.feature], V: [V, sizes.value], output: [output, sizes.value] };
  for (const [name, [A, max]] of Object.entries(vectors)) {
    const { i } = parts[name];
    const shown = i === undefined ? A : matrix(1, A.cols, row(A, i));
    cells(pen, colours, { ...parts[name], matrix: shown, max });
  }
  if (wide) return;
  const [q, k] = [row(Q, query), row(K, key)];
  const product = matrix(1, Q.cols, q.map((value, t) => value * k[t])); // prettier-ignore
  cells(pen, colours, { ...products, matrix: product, max: largestSize(product) });
}

const tokenBox = ({ parts: { weights }, labels }, i) => [0, weights.y + i * weights.h + 0.5, labels - 4, weights.h - 1];

/** The outlines of what the chosen number comes from, and of the number. */
function outlines({ labels, Q, V }, { parts, wide }, seen, query, key, arcs) {
  const n = labels.length;
  const { weights } = parts;
  const cell = area(weights, query, key);
  const list = [
    !arcs && rect(area(weights, query, 0, query, n - 1), "mh-outline"),
    !arcs && rect(cell, "mh-outline mh-strong"),
    rect(area(parts.Q, query, 0, query, Q.cols - 1), "mh-box mh-line-q"),
    rect(area(parts.K, key, 0, key, Q.cols - 1), "mh-box mh-line-k"),
    rect(area(parts.V, key, 0, key, V.cols - 1), "mh-box mh-line-v"),
    rect(area(parts.output, query, 0, query, V.cols - 1), "mh-outline"),
  ];
  if (wide && !arcs) {
    const [x, y] = mid(cell);
    list.push(
      path(`M${parts.Q.x + 98} ${y}H${cell[0]}`, "mh-dots mh-line-q"),
      path(`M${x} ${parts.weights.y - 6}V${cell[1]}`, "mh-dots mh-line-k"),
    );
  }
  if (seen.part in parts && seen.part !== "weights") list.push(rect(area(parts[seen.part], seen.i, seen.j), "mh-outline mh-strong")); // prettier-ignore
  return list;
}

/** From the rows of V to the row of the output: as wide as the weight. */
function flows({ weights, labels }, { parts: { V, output } }, query, key) {
  const x = V.x + V.w * V.cols + 2;
  const [, end] = mid(area(output, query, 0));
  return labels.flatMap((_, j) => {
    const share = weights.data[query * labels.length + j];
    if (share < 0.02) return [];
    const [, start] = mid(area(V, j, 0));
    const bulge = j === key ? 34 : 22;
    const d = `M${x} ${start}C${x + bulge} ${start + (end - start) * 0.2} ${x + bulge} ${end - (end - start) * 0.2} ${x + 2} ${end}`;
    return [path(d, j === key ? "mh-flow mh-flow-chosen" : "mh-flow", { "stroke-width": Math.max(0.8, 7 * share) })];
  });
}

/** The names of the tokens: rows at the left, columns on the diagonal where the mask leaves room. */
function names({ labels, mask, allowed, shown }, { parts: { weights, V }, labels: room, wide }, query, key) {
  const baseline = (i) => weights.y + (i + 0.5) * weights.h + 4.5;
  const rows = labels.map((label, i) =>
    text(room - 10, baseline(i), short(label), `mh-end${i === query ? " mh-on-pill" : ""}`),
  );
  const end = wide ? V.x - 4 : Infinity;
  const free = (j) => shown !== "arcs" && mask && j + 1 < labels.length && !allowed(j, j + 1);
  const columns = labels.flatMap((label, j) => {
    const x = weights.x + (j + 1) * weights.w + 4;
    if (!free(j) || x + 7 * [...short(label)].length > end) return [];
    return [text(x, baseline(j), short(label), `mh-small-text ${j === key ? "mh-strong-text" : "mh-soft"}`)];
  });
  return [...rows, ...columns];
}

/** The scores and the weights of the chosen row, under their columns. */
function rowBars({ scores, weights, labels, allowed }, { bars }, query, key) {
  const n = labels.length;
  const { x, y, w, gap } = bars;
  const [above, below] = bars.heights;
  const second = y + above + gap;
  const size = Math.max(...[...row(scores, query)].map((s, j) => (allowed(query, j) ? Math.abs(s) : 0)), 1e-9);
  const list = [];
  let hidden = "";
  for (let j = 0; j < n; j++) {
    const left = x + j * w;
    if (!allowed(query, j)) {
      hidden += hatch(left, y, left + w, second + below);
      continue;
    }
    const length = (scores.data[query * n + j] / size) * (above / 2);
    const share = weights.data[query * n + j] * below;
    const thick = Math.max(1, w - 6);
    list.push(["rect", { x: left + (w - thick) / 2, y: y + above / 2 - Math.max(0, length), width: thick, height: Math.max(0.7, Math.abs(length)), class: length < 0 ? "mh-minus-bar" : "mh-plus-bar" }]); // prettier-ignore
    list.push(["rect", { x: left + (w - thick) / 2, y: second + below - share, width: thick, height: Math.max(0.7, share), class: "mh-plus-bar" }]); // prettier-ignore
  }
  return [
    path(hidden, "mh-hatching"),
    path(`M${x} ${y + above / 2}h${n * w}M${x} ${second + below}h${n * w}`, "mh-base"),
    ...list,
    rect([x + key * w, y - 2, w, second + below - y + 4], "mh-outline"),
  ];
}

const barNames = ({ bars }) => [
  text(bars.x - 10, bars.y + bars.heights[0] / 2 + 4, "scores", "mh-end mh-small-text mh-soft"),
  text(
    bars.x - 10,
    bars.y + bars.heights[0] + bars.gap + bars.heights[1] - 4,
    "weights",
    "mh-end mh-small-text mh-soft",
  ),
];

function titles({ labels, Q, K, V, weights }, { parts, bars }, query, key) {
  const n = labels.length;
  const end = parts.weights.x + n * parts.weights.w;
  const [, out] = mid(area(parts.output, query, 0));
  const [, from] = mid(area(parts.V, key, 0));
  const right = parts.V.x + 96;
  const share = weights.data[query * n + key];
  const said = `“${short(labels[key])}” offers`;
  const total = [...row(weights, query)].some((w) => w > 0) ? 1 : 0;
  return [
    text(0, 13, `softmax(Q Kᵀ / √${Q.cols}) V`, "mh-strong-text"),
    text(0, 30, `${n} × ${Q.cols}, ${K.cols} × ${n}, ${n} × ${V.cols}`, "mh-soft mh-small-text"),
    text(parts.Q.x, parts.Q.y - 8, "queries Q", "mh-strong-text mh-of-q"),
    text(parts.K.x, 12, "keys Kᵀ", "mh-strong-text mh-of-k"),
    end - parts.K.x > 170 && text(end, 12, said, "mh-end mh-small-text mh-of-k"),
    text(parts.V.x, 12, "values V", "mh-strong-text mh-of-v"),
    share >= 0.02 && text(right + 32, (from + out) / 2 + 4, `× ${fixed(share, 3)}`, "mh-strong-text mh-of-v"),
    text(right + 8, out + (out - from < 60 ? 16 : 4), "output O", "mh-strong-text"),
    text(right + 8, out + (out - from < 60 ? 32 : 20), "= weights · V", "mh-soft mh-small-text"),
    text(parts.V.x, bars.y + 17, `softmax ↓ row of “${short(labels[query])}”`, "mh-soft mh-small-text"),
    text(parts.V.x, bars.y + 51, `weights of a row: sum ${total}`, "mh-soft mh-small-text"),
  ];
}

function stripNames({ labels, Q, K }, { parts, products }, query, key) {
  const [q, k] = [row(Q, query), row(K, key)];
  const sum = q.reduce((total, value, t) => total + value * k[t], 0);
  const line = (part, name, own, token) => [
    text(0, part.y + 16, name, `mh-strong-text ${own}`),
    text(14, part.y + 16, token && `“${short(token).slice(0, 6)}”`, "mh-soft mh-small-text"),
  ];
  return [
    ...line(parts.Q, "q", "mh-of-q", labels[query]),
    ...line(parts.K, "k", "mh-of-k", labels[key]),
    text(0, products.y + 16, "q · k", "mh-strong-text"),
    text(products.x + products.w * products.cols + 6, products.y + 16, `Σ ${fixed(sum, 1)}`, "mh-strong-text"),
    ...line(parts.V, "v", "mh-of-v", labels[key]),
    ...line(parts.output, "o", "", labels[query]),
  ];
}
