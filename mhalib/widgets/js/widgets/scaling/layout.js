// Where the two charts and the four small ones are, in pixels. No DOM.

const within = (value, low, high) => Math.max(low, Math.min(high, value));

/** { charts: [scores, weights], tiles: [4], height }; each { x, y, w, h } is the inside of its axes. */
export function layout(width) {
  const wide = width >= 600;
  const half = wide ? (width - 20) / 2 : width;
  const high = wide ? 140 : 118;
  const charts = [
    { x: 8, y: 44, w: half - 16, h: high },
    { x: (wide ? half + 20 : 0) + 26, y: wide ? 44 : 44 + high + 66, w: half - 34, h: high },
  ];
  const top = charts[1].y + high + 26;
  const columns = wide ? 4 : 2;
  const step = width / columns;
  const small = wide ? 74 : 62;
  const tiles = Array.from({ length: 4 }, (_, k) => ({
    x: (k % columns) * step + 8,
    y: top + Math.floor(k / columns) * (small + 66) + 38,
    w: step - 26,
    h: small,
  }));
  return { wide, charts, tiles, height: tiles[3].y + small + 20 };
}

const inside = ({ x, y, w, h }, px, py, more) => px >= x - 8 && px <= x + w + 8 && py >= y - more && py <= y + h + 18;

/** What is at a point: { part, j }; of a small chart j is its number and `share` how far across, 0 to 1. */
export function locate({ charts, tiles }, { bins, keys }, x, y) {
  const across = (part, count) => within(Math.floor(((x - part.x) / part.w) * count), 0, count - 1);
  if (inside(charts[0], x, y, 20)) return { part: "scores", j: across(charts[0], bins) };
  if (inside(charts[1], x, y, 20)) return { part: "weights", j: across(charts[1], keys) };
  const j = tiles.findIndex((tile) => inside(tile, x, y, 50));
  if (j < 0) return null;
  return { part: "tile", j, share: within((x - tiles[j].x) / tiles[j].w, 0, 1) };
}

/** Where an arrow key leads. */
export function step({ part, j }, { bins, keys }, di, dj) {
  const counts = { scores: bins, weights: keys, tile: 4 };
  if (di > 0 && part !== "tile") return { part: "tile", j: part === "scores" ? 0 : 2 };
  if (di < 0 && part === "tile") return { part: j < 2 ? "scores" : "weights", j: 0 };
  if (Number.isFinite(dj) && part === "scores" && j + dj >= bins) return { part: "weights", j: 0 };
  if (Number.isFinite(dj) && part === "weights" && j + dj < 0) return { part: "scores", j: bins - 1 };
  return { part, j: within(j + dj, 0, counts[part] - 1) };
}
