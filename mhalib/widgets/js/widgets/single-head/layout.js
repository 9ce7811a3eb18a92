// Where the parts of the head's picture are, in pixels, and how a position moves among them. No DOM.

const within = (value, low, high) => Math.max(low, Math.min(high, value));

/**
 * The parts of the picture for a width: { wide, height, cell, parts, bars, … }. A part is { x, y, w, h (of a
 * cell), rows, cols, turned, i }: `turned` has its rows across, `i` holds the one row that a strip shows.
 */
export function layout(width, { n, dK, dV, query, key }) {
  return width >= 600 ? sideBySide(width, n, dK, dV) : stacked(width, n, dK, dV, query, key);
}

/** The product's own geometry: Q to the left of the matrix, Kᵀ above it, V above the output. */
function sideBySide(width, n, dK, dV) {
  const [labels, side] = [74, 96];
  const x = labels + 2 + side + 16;
  const cw = within((width - x - 18 - side - 135) / Math.max(1, n), 4, 44);
  const ch = within(260 / Math.max(1, n), 11.5, 28);
  const above = n > 20 ? 40 : 64;
  const y = 18 + above + 6;
  const v = x + n * cw + 18;
  const bottom = y + n * ch + 6;
  return {
    wide: true,
    labels,
    height: bottom + 60,
    bars: { x, y: bottom, w: cw, heights: [26, 26], gap: 8 },
    parts: {
      Q: { x: labels + 2, y, w: side / dK, h: ch, rows: n, cols: dK },
      K: { x, y: 18, w: cw, h: above / dK, rows: n, cols: dK, turned: true },
      weights: { x, y, w: cw, h: ch, rows: n, cols: n },
      V: { x: v, y: 18, w: side / dV, h: above / Math.max(1, n), rows: n, cols: dV },
      output: { x: v, y, w: side / dV, h: ch, rows: n, cols: dV },
    },
  };
}

/** On a phone: the matrix, the bars of its row, and the vectors of the chosen pair as strips. */
function stacked(width, n, dK, dV, query, key) {
  const labels = 66;
  const x = labels + 4;
  const cw = within((width - x - 8) / Math.max(1, n), 4, 40);
  const ch = within(260 / Math.max(1, n), 12, 28);
  const bottom = 38 + n * ch + 8;
  const first = bottom + 34 + 8 + 34 + 12;
  const strip = (k, d, i) => ({
    x: labels,
    y: first + 28 * k,
    w: (width - labels - 64) / d,
    h: 22,
    rows: n,
    cols: d,
    i,
  });
  return {
    wide: false,
    labels,
    height: first + 28 * 5 - 6,
    bars: { x, y: bottom, w: cw, heights: [34, 34], gap: 8 },
    products: strip(2, dK, null),
    parts: {
      weights: { x, y: 38, w: cw, h: ch, rows: n, cols: n },
      Q: strip(0, dK, query),
      K: strip(1, dK, key),
      V: strip(3, dV, key),
      output: strip(4, dV, query),
    },
  };
}

/** The rectangle of rows i0 … i1 and columns j0 … j1 of a part: [x, y, width, height]. */
export function area(part, i0, j0, i1 = i0, j1 = j0) {
  const { x, y, w, h, turned, i } = part;
  if (i !== undefined) return [x + j0 * w, y, (j1 - j0 + 1) * w, h];
  if (turned) return [x + i0 * w, y + j0 * h, (i1 - i0 + 1) * w, (j1 - j0 + 1) * h];
  return [x + j0 * w, y + i0 * h, (j1 - j0 + 1) * w, (i1 - i0 + 1) * h];
}

/** What is at a point: { part, i, j }, or null. A token's name stands for its row, a bar for its column. */
export function locate({ parts, bars, labels }, x, y, { query, key }) {
  for (const [name, part] of Object.entries(parts)) {
    const across = Math.floor((x - part.x) / part.w);
    const down = Math.floor((y - part.y) / part.h);
    const [i, j] = part.turned ? [across, down] : [part.i === undefined ? down : part.i, across];
    const inside = part.i === undefined || down === 0;
    if (inside && i >= 0 && i < part.rows && j >= 0 && j < part.cols) return { part: name, i, j };
  }
  const { weights } = parts;
  const down = Math.floor((y - weights.y) / weights.h);
  if (x < labels && down >= 0 && down < weights.rows) return { part: "weights", i: down, j: key };
  const across = Math.floor((x - bars.x) / bars.w);
  if (y >= bars.y && y < bars.y + 80 && across >= 0 && across < weights.cols)
    return { part: "weights", i: query, j: across };
  return null;
}

// Over the edge of a part into its neighbour: [part, edge] → [part, how its row and column follow].
const WIDE = {
  "weights left": (at, to) => ({ part: "Q", i: at.i, j: to.Q.cols - 1 }),
  "weights right": (at) => ({ part: "output", i: at.i, j: 0 }),
  "weights up": (at, to) => ({ part: "K", i: at.j, j: to.K.cols - 1 }),
  "Q right": (at) => ({ part: "weights", i: at.i, j: 0 }),
  "K down": (at) => ({ part: "weights", i: 0, j: at.i }),
  "K right": () => ({ part: "V", i: 0, j: 0 }),
  "V left": (at, to) => ({ part: "K", i: to.K.rows - 1, j: 0 }),
  "V down": (at) => ({ part: "output", i: 0, j: at.j }),
  "output left": (at, to) => ({ part: "weights", i: at.i, j: to.weights.cols - 1 }),
  "output up": (at, to) => ({ part: "V", i: to.V.rows - 1, j: at.j }),
};
const STRIPS = ["weights", "Q", "K", "V", "output"];

/** Where an arrow key leads from a position. */
export function step({ wide, parts }, at, di, dj) {
  const part = parts[at.part];
  const strip = part.i !== undefined;
  let [i, j] = part.turned ? [at.i + dj, at.j + di] : [strip ? at.i : at.i + di, at.j + dj];
  const leaves = (value, delta, count) => Number.isFinite(delta) && delta !== 0 && (value < 0 || value >= count);
  if (wide) {
    const edge = dj < 0 ? "left" : dj > 0 ? "right" : di < 0 ? "up" : "down";
    const out = part.turned ? leaves(i, dj, part.rows) || leaves(j, di, part.cols) : leaves(i, di, part.rows) || leaves(j, dj, part.cols); // prettier-ignore
    if (out && WIDE[`${at.part} ${edge}`]) return WIDE[`${at.part} ${edge}`](at, parts);
  } else if (di && (strip || leaves(i, di, part.rows))) {
    const next = STRIPS[STRIPS.indexOf(at.part) + Math.sign(di)];
    if (next === "weights") return { part: next, i: parts.Q.i, j: parts.K.i };
    if (next) return { part: next, i: parts[next].i, j: within(at.j, 0, parts[next].cols - 1) };
  }
  i = within(i, 0, part.rows - 1);
  j = within(j, 0, part.cols - 1);
  return { part: at.part, i, j };
}
