// What is over the matrices of an opened part: their names, the chosen row and column, masked cells.

import { hatchMask } from "../../parts/cells.js";
import { area } from "./panels.js";

const text = (x, y, words, name = "") => ["text", { x, y, class: name }, words];
const rect = ([x, y, width, height], name) => ["rect", { x, y, width, height, class: name }];
const line = (d, name) => ["path", { d, class: name }];
const short = (label, most = 9) => ([...label].length > most ? `${[...label].slice(0, most - 1).join("")}…` : label);

export function openedShapes(place, state) {
  const { panels, opened } = state;
  if (!panels.length) return [];
  const shapes = opened === "head" ? headShapes(place, state) : sideShapes(place, state);
  const { followed } = state;
  const here = followed && panels.find((p) => p.stage === followed.stage && p.layer === followed.layer && p.head === followed.head); // prettier-ignore
  if (here && (here.i === undefined || here.i === followed.i)) shapes.push(rect(area(here, followed.i, followed.j), "mh-outline mh-strong")); // prettier-ignore
  return shapes;
}

function headShapes(place, { panels, position, key, labels, mask, square, config }) {
  const n = labels.length;
  const of = Object.fromEntries(panels.map((panel) => [panel.stage, panel]));
  const grid = of[square];
  const { turned } = place;
  const cell = area(grid, position, key);
  const shapes = [
    line(mask ? hatchMask(mask, grid) : "", "mh-hatching"),
    rect(area(grid, position, 0, position, n - 1), "mh-outline"),
    rect(cell, "mh-outline mh-strong"),
    rect(area(of.Q, position, 0, position, config.d_k - 1), "mh-box mh-line-q"),
    rect(area(of.K, key, 0, key, config.d_k - 1), "mh-box mh-line-k"),
    rect(area(of.V, key, 0, key, config.d_v - 1), "mh-box mh-line-v"),
    rect(area(of.heads, position, 0, position, config.d_v - 1), "mh-box mh-line-v"),
  ];
  if (turned) {
    shapes.push(text(0, grid.y - 8, square, "mh-strong-text"), text(grid.x, grid.y - 8, "rows ask, columns answer", "mh-soft mh-small-text")); // prettier-ignore
    labels.forEach((label, i) => shapes.push(text(grid.x - 6, grid.y + (i + 0.5) * grid.h + 4, short(label), `mh-end mh-small-text${i === position ? " mh-strong-text" : ""}`))); // prettier-ignore
    const own = { Q: "mh-of-q", K: "mh-of-k", V: "mh-of-v" };
    for (const { stage, title, y, i } of panels.slice(1)) {
      shapes.push(text(0, y + 16, title, `mh-strong-text ${own[stage] ?? ""}`));
      if (stage !== "heads") shapes.push(text(14, y + 16, short(`“${labels[i]}”`, 8), "mh-soft mh-small-text"));
    }
    return shapes;
  }
  const x = cell[0] + cell[2] / 2;
  shapes.push(line(`M${x} ${grid.y - 4}V${cell[1]}`, "mh-dots mh-line-k"));
  shapes.push(text(of.Q.x, grid.y - 6, "Q", "mh-strong-text mh-of-q"), text(of.Q.x + of.Q.w * of.Q.cols, grid.y - 6, "asks", "mh-end mh-small-text mh-soft")); // prettier-ignore
  shapes.push(text(of.K.x - 5, of.K.y + 12, "Kᵀ", "mh-end mh-strong-text mh-of-k"));
  shapes.push(text(of.V.x + of.V.w * of.V.cols + 5, of.V.y + 12, "V", "mh-strong-text mh-of-v"));
  shapes.push(text(of.V.x + of.V.w * of.V.cols + 5, grid.y - 6, "O", "mh-strong-text"));
  const size = place.pitch < 14 ? "mh-small-text mh-tight" : "mh-small-text";
  const end = of.V.x - 4;
  labels.forEach((label, j) => {
    const at = grid.x + (j + 1) * grid.w + 4;
    if (!mask || j + 1 >= n || place.pitch < 11 || at + 6.6 * [...short(label)].length > end) return;
    shapes.push(text(at, grid.y + (j + 0.5) * grid.h + 4, short(label), `${size} ${j === key ? "mh-strong-text" : "mh-soft"}`)); // prettier-ignore
  });
  if (!mask || key > n - 3) shapes.push(text(x, grid.y + n * grid.h + 11, "", ""));
  return shapes;
}

function sideShapes(place, { panels, position }) {
  return panels.flatMap((panel) => {
    const { x, y, w, cols, title, how, i } = panel;
    if (i !== undefined) return [text(0, y + 16, title, "mh-small-text"), rect(area(panel, i, 0, i, cols - 1), "mh-outline")]; // prettier-ignore
    const room = w * cols;
    return [
      text(x, 62, title, "mh-strong-text mh-small-text"),
      room > 90 && text(x, 77, how, "mh-soft mh-small-text"),
      rect(area(panel, position, 0, position, cols - 1), "mh-outline"),
    ].filter(Boolean);
  });
}
