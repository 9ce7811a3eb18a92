// The sentence with arcs, in the place of the matrix.

import { fixed } from "../../math/format.js";
import { path, short, text } from "./shapes.js";

/** The sentence as arcs: from who asks to who is asked, as wide as the weight; the chosen row's stand out. */
export function bows({ weights, labels }, { parts: { weights: part, V }, wide }, query, key) {
  const n = labels.length;
  const x = part.x + (wide ? 72 : 4);
  const room = (wide ? V.x - 18 : part.x + n * part.w) - x - 44;
  const y = (i) => part.y + (i + 0.5) * part.h;
  const bow = (i, j) => 10 + (Math.abs(i - j) / n) * room * 1.3;
  const list = [];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const share = weights.data[i * n + j];
      if (share < 0.04) continue;
      const own = i === query ? (j === key ? "mh-bow mh-bow-key" : "mh-bow mh-bow-own") : "mh-bow";
      const d = `M${x} ${y(i)}C${x + bow(i, j)} ${y(i)} ${x + bow(i, j)} ${y(j)} ${x} ${y(j)}`;
      list.push([i === query, path(d, own, { "stroke-width": Math.max(1, 14 * share) })]);
    }
  }
  return list.sort(([a], [b]) => a - b).map(([, shape]) => shape);
}

/** Beside the arcs: the names again, and what the chosen row gives each. */
export function bowNames({ weights, labels, allowed }, { parts: { weights: part, V }, wide }, query, key) {
  const n = labels.length;
  const end = wide ? V.x - 18 : part.x + n * part.w;
  return labels.flatMap((label, j) => {
    const y = part.y + (j + 0.5) * part.h + 4.5;
    const share = weights.data[query * n + j];
    const strong = j === key ? "mh-strong-text" : "mh-soft";
    return [
      wide && text(part.x + 66, y, short(label), `mh-end mh-small-text ${j === query ? "mh-strong-text" : "mh-soft"}`),
      text(end, y, allowed(query, j) ? fixed(share, 2) : "masked", `mh-end mh-small-text ${strong}`),
    ];
  });
}
