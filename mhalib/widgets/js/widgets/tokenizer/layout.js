// Where the tokens and the tree of a word are, in pixels. No DOM.

const within = (value, low, high) => Math.max(low, Math.min(high, value));
const GAP = 8; // between words
const ROW = 50;
const TREE = 196;

/**
 * Every byte has its place for good, so that a merge moves nothing: [{ x, y }] for each byte of each word, the
 * width `u` of a byte, and the place of the tree below.
 */
export function layout(width, words, leaves) {
  const flow = (u) => {
    let [x, y] = [0, 0];
    const places = words.map((bytes) => {
      if (x > 0 && x + bytes.length * u > width) [x, y] = [0, y + ROW];
      const spots = bytes.map(() => {
        if (x + u > width) [x, y] = [0, y + ROW];
        const spot = { x, y };
        x += u;
        return spot;
      });
      x += GAP;
      return spots;
    });
    return { u, places, height: y + ROW };
  };
  const most = width >= 600 ? 2 : 4;
  let fit = flow(26);
  for (let u = 25; u >= 12 && fit.height > most * ROW; u--) fit = flow(u);
  const top = fit.height + 26;
  const leaf = within((width - 110) / Math.max(1, leaves), 4, 64);
  return { ...fit, row: ROW, leaf, tree: { x: 4, y: top, w: leaf * leaves, h: TREE, end: width }, height: top + TREE + 4 }; // prettier-ignore
}

/** The height of a level of the tree, 0 for the bytes. */
export function levelAt({ tree }, level, levels) {
  const step = Math.min(34, (tree.h - 56) / Math.max(1, levels));
  return tree.y + tree.h - 44 - level * step;
}

/** The pieces of a token, row by row: [{ x, y, w }]. */
export function boxes({ places, u }, w, from, to) {
  const list = [];
  for (const { x, y } of places[w].slice(from, to)) {
    const last = list.at(-1);
    if (last?.y === y) last.w += u;
    else list.push({ x, y, w: u });
  }
  return list;
}

/** What is at a point: { w, byte } for a byte, { level } in the tree, or null. */
export function locate(place, levels, x, y) {
  const { places, u, row, tree } = place;
  for (let w = 0; w < places.length; w++) {
    const byte = places[w].findIndex((spot) => x >= spot.x && x < spot.x + u && y >= spot.y && y < spot.y + row);
    if (byte >= 0) return { w, byte };
  }
  if (y < tree.y - 20 || y > tree.y + tree.h || !levels) return null;
  const base = levelAt(place, 0, levels);
  const step = base - levelAt(place, 1, levels);
  return { level: within(Math.round((base - y) / step - 0.5), 0, levels) };
}
