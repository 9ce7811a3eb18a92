// At the right of the picture: the likeliest next words with their probabilities, or the loss by relation;
// and the fan that splits the last road by probability.

import { fixed } from "../../math/format.js";
import { lit } from "./paint.js";

const short = (label, most) => ([...label].length > most ? `${[...label].slice(0, most - 1).join("")}…` : label);
const text = (x, y, words, name = "") => ["text", { x, y, class: name }, words];
const rect = (x, y, width, height, name) => ["rect", { x, y, width: Math.max(0, width), height, class: name }];

/** Where the rows of the list are: { x, y of the first, pitch, bar: [from, to] }. */
export function listPlace(place, now) {
  const { words, turned } = place;
  const count = now.list.length;
  if (turned) return { x: words.x, y: (words.inside?.[0] ?? words.top + 32) + 2, pitch: words.pitch, bar: [92, place.width - 96] }; // prettier-ignore
  const first = place.header + (now.off.length ? 18 : 0);
  const pitch = Math.min(words.pitch, (place.end - first) / Math.max(1, count));
  const middle = place.rows[now.position] ?? first;
  const y = Math.max(first, Math.min(middle - (count * pitch) / 2, place.end - count * pitch));
  return { x: words.x, y, pitch, bar: [words.x, place.width] };
}

/** The shapes of the list. */
export function listShapes(place, now) {
  const { turned, words } = place;
  const { x, y, pitch, bar } = listPlace(place, now);
  const apart = turned ? 58 : 35; // of the two numbers
  const changed = now.changed && now.list.some(({ after }) => after !== null);
  const light = lit(now, "words");
  const shapes = [];
  const wide = words.inside && !turned;
  const [from, to] = wide ? [x + (place.width - x) * 0.45, place.width] : bar;
  if (changed && !turned) {
    shapes.push(rect(x, place.header + 5, 10, 4, "mh-word-bar"), text(x + 13, place.header + 11, "whole", "mh-small-text mh-soft")); // prettier-ignore
    shapes.push(rect(x + 58, place.header + 5, 10, 4, "mh-word-after"), text(x + 71, place.header + 11, "changed", "mh-small-text mh-of-changed")); // prettier-ignore
  }
  if (changed && turned && place.width >= 340) {
    const base = words.top + 14;
    shapes.push(text(place.width - apart, base, "whole", "mh-end mh-small-text mh-soft"), text(place.width, base, "changed", "mh-end mh-small-text mh-of-changed")); // prettier-ignore
  }
  now.list.forEach(({ id, name, before, after, figure, part, partAfter }, k) => {
    const top = y + k * pitch;
    const chosen = id !== undefined && id === now.chosenWord;
    const second = changed && after !== null;
    const base = turned || wide ? top + 16 : top + 12;
    const strong = k === 0 && id !== undefined;
    shapes.push(text(x, base, short(name, 12), `${second && !wide && name.length > 8 ? "mh-small-text " : ""}${strong || chosen ? "mh-strong-text" : ""}${chosen ? " mh-chosen-name" : ""}`)); // prettier-ignore
    if (wide && figure) shapes.push(text(from - 12, base, figure, "mh-end mh-soft"));
    const line = turned || wide ? top + 8 : top + 17;
    const limit = wide ? to - 100 : to;
    const length = limit - from;
    shapes.push(rect(from, line, length, 5, "mh-word-road"));
    shapes.push(rect(from, line, length * Math.min(1, part), 5, "mh-word-bar"));
    if (second) shapes.push(rect(from, line + 6, length * Math.min(1, partAfter), 5, "mh-word-after"));
    const places = second ? 2 : 3;
    const right = turned || wide ? place.width : to;
    if (second) {
      const fits = turned || wide || right - x >= 138 || name.length <= 8;
      if (fits) shapes.push(text(right - apart, base, fixed(before, places), "mh-end mh-soft mh-small-text"));
      shapes.push(text(right, base, fixed(after, places), "mh-end mh-strong-text mh-small-text mh-of-changed"));
    } else shapes.push(text(right, base, fixed(before, places), `mh-end${strong ? " mh-strong-text" : ""}`));
  });
  return shapes.map(([tag, attributes, words]) => [tag, light < 1 ? { ...attributes, opacity: light } : attributes, words]); // prettier-ignore
}

/** The road of the chosen token, split by probability. */
export function fanShapes(place, now) {
  if (place.turned || now.right !== "next word" || !now.list.length) return [];
  const { words, size, rows } = place;
  const { y, pitch } = listPlace(place, now);
  const changed = now.changed && now.shown === now.changed;
  let at = rows[now.position] - size / 2;
  const light = lit(now, "words");
  return now.list.flatMap(({ before, after }, k) => {
    const p = changed ? after : before;
    const start = at + (p * size) / 2;
    at += p * size;
    if (p < 0.005) return [];
    const end = y + k * pitch + (words.inside ? 11 : 9);
    const [a, b] = words.fan;
    const [m, third] = [(a + b) / 2, (b - a) * 0.2];
    const d = `M${a - 4} ${start}C${m + third} ${start} ${m - third} ${end} ${b} ${end}`;
    const name = `mh-fan${changed ? " mh-fan-changed" : ""}`;
    return [["path", { d, class: name, "stroke-width": Math.max(0.8, size * p), opacity: light === 1 ? 0.6 : 0.1 }]];
  });
}

/** The number of the list's row at a point, or −1. */
export function listRow(place, now, x, y) {
  const list = listPlace(place, now);
  if (!place.turned && x < list.x - 6) return -1;
  const k = Math.floor((y - list.y) / list.pitch);
  return k >= 0 && k < now.list.length ? k : -1;
}
