// Where the table of the stages is, in pixels, and how a position moves in it. No DOM.

const within = (value, low, high) => Math.max(low, Math.min(high, value));
const WORDS = 5; // of what comes next

/**
 * One row a stage, in three columns: the stream of the token, the cosine with the other sentence, who notices.
 * On a phone the stream has a block of its own above the other two.
 */
export function layout(width, { stages, n, d, both }) {
  const wide = width >= 600;
  const labels = 64;
  const names = n > 20 ? 38 : 78; // above the columns of the tokens
  const rows = wide ? 23 : 26;
  const room = wide ? Math.min(288, width - 430) : width - labels;
  const stream = { x: labels, y: wide ? names : 20, w: room / d, h: rows, rows: stages, cols: d };
  const second = wide ? stream.x + room + 14 : labels;
  const top = wide ? names : stream.y + stages * rows + names + 8;
  const bar = wide ? 74 : 64;
  const cosine = { x: second, y: top, w: bar, h: rows, rows: stages, cols: 1 };
  const third = second + bar + (wide ? 52 : 42);
  const free = width - third - (wide ? 20 : 14);
  const change = { x: third, y: top, w: within(free / Math.max(1, n), 3, 22), h: rows, rows: stages, cols: n };
  const bottom = top + stages * rows + 14;
  const list = 22 + WORDS * 20;
  const half = wide ? (width - 24) / 2 : width;
  return {
    wide,
    labels,
    title: top - names + 12,
    parts: {
      stream,
      cosine,
      change,
      next: { x: 0, y: bottom + 22, w: half, h: 20, rows: WORDS, cols: 1 },
      other: {
        x: wide ? half + 24 : 0,
        y: (wide ? bottom : bottom + list + 10) + 22,
        w: half,
        h: 20,
        rows: both ? WORDS : 0,
        cols: 1,
      },
    },
    height: bottom + list + (wide ? 0 : list + 10),
  };
}

/** What is at a point: { part, i, j } or null. The name of a stage stands for its cosine. */
export function locate({ parts, labels }, x, y) {
  for (const [name, part] of Object.entries(parts)) {
    const i = Math.floor((y - part.y) / part.h);
    const j = Math.floor((x - part.x) / part.w);
    if (i < 0 || i >= part.rows) continue;
    if (j >= 0 && j < part.cols) return { part: name, i, j };
    if (name === "cosine" && x >= part.x && x < parts.change.x) return { part: name, i, j: 0 };
    if (x < labels && name in TABLE) return { part: "cosine", i, j: 0 };
  }
  return null;
}

// Over the edge of a part into its neighbour.
export const TABLE = {
  stream: { right: "cosine", down: "next" },
  cosine: { left: "stream", right: "change", down: "next" },
  change: { left: "cosine", down: "other" },
};
const NEXT = { ...TABLE, next: { right: "other", up: "cosine" }, other: { left: "next", up: "change" } };

/** Where an arrow key leads. */
export function step({ parts }, at, di, dj) {
  const part = parts[at.part];
  const [i, j] = [at.i + di, at.j + dj];
  const way = j < 0 ? "left" : j >= part.cols ? "right" : i < 0 ? "up" : i >= part.rows ? "down" : null;
  const next = Number.isFinite(di + dj) ? NEXT[at.part][way] : null;
  const to = parts[next];
  if (to?.rows) {
    if (di) return { part: next, i: di > 0 ? 0 : to.rows - 1, j: 0 };
    return { part: next, i: Math.min(i, to.rows - 1), j: dj < 0 ? to.cols - 1 : 0 };
  }
  return { part: at.part, i: within(i, 0, part.rows - 1), j: within(j, 0, part.cols - 1) };
}
