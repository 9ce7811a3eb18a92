// The code of the positions, and how alike the codes of two places are.

import { fixed } from "../../math/format.js";
import { cells } from "../../parts/cells.js";
import { linear, line } from "../../parts/chart.js";
import { picture } from "../../parts/picture.js";
import { locatePlace, placeLayout, stepPlace } from "./layout.js";

const text = (x, y, words, name = "") => ["text", { x, y, class: name }, words];
const rect = (x, y, width, height, name) => ["rect", { x, y, width, height, class: name }];

export function placePicture(stops, { now, at, chosen, peek, pick }) {
  let place = null;
  const plane = picture(stops, {
    label: "the code of the positions",
    draw,
    peek,
    pick,
    hit: (x, y) => place && locatePlace(place, x, y, chosen().i),
    arrow: (di, dj) => pick(stepPlace(place, chosen(), di, dj)),
    enter: () => pick(chosen()),
  });
  const shapes = plane.layer();

  function draw(width) {
    const { P, alike } = now();
    const { i, j, part } = at();
    place = placeLayout(width, P.rows, P.cols);
    const { codes, curve } = place;
    const x = linear([0, P.rows - 1], [curve.x, curve.x + curve.w]);
    const y = linear([Math.min(0, ...alike), Math.max(...alike)], [curve.y + curve.h, curve.y + 6]);
    const other = part === "curve" ? j : null;
    const rows = [...new Set([0, i, P.rows - 1])].filter((r) => r === i || Math.abs(r - i) * codes.h > 15);
    const spots = [...new Set([i, other ?? i])];
    const ends = [0, P.rows - 1].filter((k) => spots.every((s) => Math.abs(x(k) - x(s)) > 22));
    const near = other !== null && other !== i && Math.abs(x(i) - x(other)) < 22;
    shapes.write([
      text(codes.x, 13, `one row per position: ${P.rows} × ${P.cols}`, "mh-strong-text"),
      ...rows.map((r) => text(codes.x - 6, codes.y + (r + 0.5) * codes.h + 4.5, String(r), `mh-end mh-small-text${r === i ? " mh-strong-text" : " mh-soft"}`)), // prettier-ignore
      rect(codes.x, codes.y + i * codes.h, codes.w * P.cols, codes.h, "mh-outline"),
      part === "codes" && rect(codes.x + j * codes.w, codes.y + i * codes.h, codes.w, codes.h, "mh-outline mh-strong"),
      other !== null && rect(codes.x, codes.y + other * codes.h, codes.w * P.cols, codes.h, "mh-box mh-line-k"),
      text(codes.x, codes.y + codes.h * P.rows + 16, "column 0, fast", "mh-soft mh-small-text"),
      text(codes.x + codes.w * P.cols, codes.y + codes.h * P.rows + 16, `slow, column ${P.cols - 1}`, "mh-soft mh-small-text mh-end"), // prettier-ignore
      text(curve.x, curve.y - 11, `P[${i}] · P[k], for each k`, "mh-strong-text"),
      ["path", { d: `M${curve.x} ${y(0)}h${curve.w}`, class: "mh-base" }],
      ["path", { d: line(alike.map((value, k) => [x(k), y(value)])), class: "mh-curve" }],
      ["circle", { cx: x(i), cy: y(alike[i]), r: 5, class: "mh-spot-near" }],
      other !== null && ["circle", { cx: x(other), cy: y(alike[other]), r: 5, class: "mh-spot-other" }],
      text(curve.x - 8, y(0) + 4.5, "0", "mh-end mh-soft mh-small-text"),
      text(curve.x - 8, y(alike[i]) + 4.5, fixed(alike[i], 0), "mh-end mh-soft mh-small-text"),
      ...ends.map((k) => text(x(k), curve.y + curve.h + 18, String(k), "mh-middle mh-soft mh-small-text")),
      !near && text(x(i), curve.y + curve.h + 18, String(i), "mh-middle mh-small-text mh-strong-text"),
      other !== null && other !== i && text(x(other), curve.y + curve.h + 18, String(other), "mh-middle mh-small-text mh-strong-text mh-of-k"), // prettier-ignore
    ]);
    plane.tell(`Position ${i}.`);
    return { height: place.height, paint: (pen, colours) => cells(pen, colours, { ...codes, matrix: P }) };
  }

  return plane;
}
