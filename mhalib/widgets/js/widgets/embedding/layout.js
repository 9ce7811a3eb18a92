// Where words and their names are on the map, and the parts of both pictures, in pixels. No DOM.

const within = (value, low, high) => Math.max(low, Math.min(high, value));
const GLYPH = 8; // pixels for a character of a name, at most
const LINE = 14;

/** The map and the list of neighbours beside it, on a phone below it in two columns. */
export function mapLayout(width, rows) {
  const wide = width >= 600;
  const map = { x: 0, y: 0, w: wide ? width - 283 : width, h: wide ? 376 : 300 };
  const columns = wide ? 1 : 2;
  const list = wide
    ? { x: map.w + 20, y: 28, w: 263, h: 34, rows, columns }
    : { x: 0, y: map.h + 50, w: width / 2, h: 32, rows, columns };
  const high = Math.ceil(rows / columns);
  return { wide, map, list, height: Math.max(map.h + 20, list.y + high * list.h) };
}

/** Points scaled to fill a rectangle, with room for names at its edges. */
export function spots(points, { x, y, w, h }) {
  const fit = (axis, from, to) => {
    const values = points.map((point) => point[axis]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const size = high - low || 1;
    return (value) => from + ((value - low) / size) * (to - from);
  };
  const [across, up] = [fit(0, x + 16, x + w - 30), fit(1, y + h - 16, y + 16)];
  return points.map(([a, b]) => [across(a), up(b)]);
}

const cross = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/**
 * Names beside their points so that none lies over another, and none that is not strong over a point: those of
 * `order`, first come, first served; one that finds no place is left out. Returns [{ index, x, y, w, h }].
 */
export function placeNames(points, labels, order, strong, frame) {
  const dots = points.map(([x, y], index) => {
    const r = strong.includes(index) ? 6 : 3;
    return { x: x - r, y: y - r, w: 2 * r, h: 2 * r, index };
  });
  const placed = [];
  for (const index of order) {
    const [px, py] = points[index];
    const w = GLYPH * [...labels[index]].length;
    const own = strong.includes(index);
    const places = [
      [px + 8, py - LINE / 2],
      [px - 8 - w, py - LINE / 2],
      [px - w / 2, py - 8 - LINE],
      [px - w / 2, py + 8],
    ];
    const box = places
      .map(([x, y]) => ({ index, x, y, w, h: LINE }))
      .find(
        (at) =>
          at.x >= frame.x &&
          at.x + w <= frame.x + frame.w &&
          at.y >= frame.y &&
          at.y + LINE <= frame.y + frame.h &&
          !placed.some((other) => cross(at, other)) &&
          !dots.some((dot) => dot.index !== index && (!own || strong.includes(dot.index)) && cross(at, dot)),
      );
    if (box) placed.push(box);
  }
  return placed;
}

export function nearest(points, x, y) {
  let best = 0;
  const far = ([a, b]) => (a - x) ** 2 + (b - y) ** 2;
  points.forEach((point, i) => {
    if (far(point) < far(points[best])) best = i;
  });
  return best;
}

/** What is at a point of the first picture: { part: "map" | "list", i } or null. */
export function locateWord({ map, list }, points, x, y) {
  if (x >= map.x && x < map.x + map.w && y >= map.y && y < map.y + map.h)
    return { part: "map", i: nearest(points, x, y) };
  const column = Math.floor((x - list.x) / list.w);
  const line = Math.floor((y - list.y) / list.h);
  const high = Math.ceil(list.rows / list.columns);
  const i = column * high + line;
  if (column < 0 || column >= list.columns || line < 0 || line >= high || i >= list.rows) return null;
  return { part: "list", i };
}

/** The codes of the positions and the curve beside them, on a phone below. */
export function placeLayout(width, n, d) {
  const wide = width >= 600;
  const left = 30;
  const room = (wide ? width - 303 : width) - left;
  const high = wide ? 340 : 200;
  const codes = { x: left, y: 24, w: room / d, h: high / n, rows: n, cols: d };
  const curve = wide ? { x: left + room + 60, y: 24, w: 235, h: 280 } : { x: left, y: high + 70, w: room - 12, h: 130 };
  return { wide, codes, curve, height: wide ? 396 : curve.y + curve.h + 26 };
}

/** What is at a point of the second picture: { part: "codes" | "curve", i, j } or null. */
export function locatePlace({ codes, curve }, x, y, row) {
  const i = Math.floor((y - codes.y) / codes.h);
  const j = Math.floor((x - codes.x) / codes.w);
  if (i >= 0 && i < codes.rows && j >= 0 && j < codes.cols) return { part: "codes", i, j };
  if (x < curve.x - 10 || x > curve.x + curve.w + 10 || y < curve.y || y > curve.y + curve.h) return null;
  const k = Math.round(((x - curve.x) / curve.w) * (codes.rows - 1));
  return { part: "curve", i: row, j: within(k, 0, codes.rows - 1) };
}

/** Where an arrow key leads in the second picture. */
export function stepPlace({ codes }, { part, i, j }, di, dj) {
  if (part === "curve") {
    if (Number.isFinite(dj) && j + dj < 0) return { part: "codes", i, j: codes.cols - 1 };
    return { part, i: within(i + di, 0, codes.rows - 1), j: within(j + dj, 0, codes.rows - 1) };
  }
  if (Number.isFinite(dj) && j + dj >= codes.cols) return { part: "curve", i, j: 0 };
  return { part, i: within(i + di, 0, codes.rows - 1), j: within(j + dj, 0, codes.cols - 1) };
}
