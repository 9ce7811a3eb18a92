// What the head adds to the stream: X, the correction O · W_O, and their sum, token by token.

import { cells, largestSize } from "../../parts/cells.js";
import { picture } from "../../parts/picture.js";

const PARTS = { X: "X, what the head reads", correction: "O · W_O, what it adds", sum: "X + O · W_O" };

export function streamPicture(stops, { now, peek, pick }) {
  let place = null;
  let at = { part: "X", i: 0, j: 0 };
  const move = (to) => {
    at = to;
    pick(at);
    plane.redraw();
  };
  const plane = picture(stops, {
    label: "the stream: X, what the head adds, the sum",
    draw,
    peek,
    pick: move,
    hit(x, y) {
      for (const [part, left] of Object.entries(place?.lefts ?? {})) {
        const i = Math.floor((y - 20) / place.h);
        const j = Math.floor((x - left) / place.w);
        if (i >= 0 && i < now().labels.length && j >= 0 && j < now().X.cols) return { part, i, j };
      }
      return null;
    },
    arrow(di, dj) {
      const [n, d] = [now().labels.length, now().X.cols];
      if (!n) return;
      const names = Object.keys(PARTS);
      const over = Number.isFinite(dj) && (at.j + dj < 0 || at.j + dj >= d);
      const part = over ? (names[names.indexOf(at.part) + dj] ?? at.part) : at.part;
      const j = over && part !== at.part ? (dj < 0 ? d - 1 : 0) : Math.max(0, Math.min(d - 1, at.j + dj));
      move({ part, i: Math.max(0, Math.min(n - 1, at.i + di)), j });
    },
  });
  const marks = plane.layer();

  function draw(width) {
    const { labels, X } = now();
    const n = labels.length;
    if (!n) {
      marks.write([]);
      return { height: 0, paint() {} };
    }
    at = { part: at.part, i: Math.min(at.i, n - 1), j: Math.min(at.j, X.cols - 1) };
    const third = Math.floor((width - 24) / 3);
    const [w, h] = [third / X.cols, 12];
    const lefts = Object.fromEntries(Object.keys(PARTS).map((name, k) => [name, k * (third + 12)]));
    place = { w, h, lefts };
    marks.write([
      ...Object.entries(PARTS).map(([name, title]) => [
        "text",
        { x: lefts[name], y: 12, class: "mh-small-text" },
        third > 180 ? title : title.split(",")[0],
      ]),
      ["rect", { x: lefts[at.part] + at.j * w, y: 20 + at.i * h, width: w, height: h, class: "mh-outline mh-strong" }],
    ]);
    const max = largestSize(now().X, now().sum);
    const paint = (pen, colours) => {
      for (const name of Object.keys(PARTS))
        cells(pen, colours, { matrix: now()[name], x: lefts[name], y: 20, w, h, max });
    };
    return { height: 24 + n * h, paint };
  }

  return plane;
}
