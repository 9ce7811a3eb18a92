// Where the parts of the machine are, in pixels. No DOM.
//
// The picture has two directions: along (time: tokens, X, the layers, the words) and across (one row a
// token). On a wide screen along is x; on a phone the picture is turned, and along is y.

const within = (value, low, high) => Math.max(low, Math.min(high, value));
export const HEADER = 54; // names and chips above the rows
const OPEN = 84; // the same, with Kᵀ and V in it
const SMALL = 58; // a layer beside an opened part

/** How wide the parts are: [X, each layer, the words]; what is opened takes the room of the others. */
export function widths(width, { N, opened, layer }) {
  const full = width >= 900;
  const first = full ? 76 : 28; // X
  const start = full ? 92 : 86;
  const words = full ? 184 : within(width - start - first - 139 * N, 144, 168); // the fan and the words
  const room = width - start - first - words;
  if (!opened) return [first, ...Array(N).fill(room / N), words];
  const small = Math.min(full ? SMALL : 47, room / (N + (full ? 8 : 7)));
  const extra = room - N * small;
  const parts = [first, ...Array(N).fill(small), words];
  parts[opened === "X" ? 0 : opened === "output" ? N + 1 : layer + 1] += extra;
  return parts;
}

/**
 * { turned, rows, zones, words, … } for a width and what is shown: `n` tokens, `N` layers, `H` heads, what is
 * `opened` ("", "X", "head", "W_O", "ffn", "output") in which `layer`; `parts` (see `widths`) while one opens.
 */
export function layout(width, shape) {
  return width < 600 ? tall(width, shape) : wide(width, shape, shape.parts ?? widths(width, shape));
}

function wide(width, { n, N, H, opened, layer, room }, parts) {
  const full = width >= 900;
  const chipRows = H > 4 ? 2 : 1;
  const top = HEADER + 24 * (chipRows - 1);
  const end = top + Math.max(room, 11.5 * n);
  const header = opened ? Math.max(OPEN, top) : top;
  const pitch = within((end - header) / Math.max(1, n), 9, 29);
  const size = Math.min(16, 0.62 * pitch);
  const rows = Array.from({ length: n }, (_, i) => header + (i + 0.5) * pitch);
  const start = full ? 92 : 86;
  let at = start;
  const [x, ...rest] = parts;
  const X = { kind: "X", from: at, to: at + x, strip: full ? [at + 6, at + Math.min(x, 76) - 6] : [at + 2, at + 24] };
  if (opened === "X") X.inside = true;
  at += x;
  const zones = [X];
  for (let l = 0; l < N; l++) {
    const w = rest[l];
    const zone = { kind: "layer", layer: l, from: at, to: at + w, open: false };
    if (w > 300 && opened) zone.inside = true;
    else if (full && w >= 190) {
      Object.assign(zone, { flow: [at + 6, at + w - 124.7], concat: [at + w - 124.7, at + w - 118.7] });
      if (pitch >= 16) zone.plus = [at + w - 111.7, at + w - 77.7];
      Object.assign(zone, { ffn: [at + w - 104.7, at + w - 84.7], strip: [at + w - 70.7, at + w - 6.7], chips: true });
    } else if (w >= 110) {
      Object.assign(zone, { flow: [at + 6, at + w - 46], concat: [at + w - 46, at + w - 40] });
      Object.assign(zone, { ffn: [at + w - 34, at + w - 14], chips: true });
    } else Object.assign(zone, { flow: [at + 6, at + w - 6] });
    zones.push(zone);
    at += w;
  }
  const after = rest[N];
  const words = { kind: "words", from: at, fan: [at, at + (full ? 34 : 24)], x: at + (full ? 40 : 28), to: width };
  if (opened === "output") words.inside = true;
  words.width = width - words.x;
  words.pitch = 36;
  return { turned: false, full, width, height: end + 4, header, top, end, pitch, size, rows, zones, words, labels: [6, full ? 88 : 80], chipRows, parts, after, opened, layer }; // prettier-ignore
}

/** On a phone: tokens across, time down. More than 14 tokens go past both edges. */
function tall(width, { n, N, H, opened, layer, position, offset = 0, inside = 0, count }) {
  const pitch = n > 14 ? 22 : Math.min(26.5, (width - 4) / Math.max(13, n));
  const over = Math.max(0, n * pitch + 4 - width);
  const shift = within((position + 0.5) * pitch + 2 - width / 2 + offset, 0, over);
  const rows = Array.from({ length: n }, (_, i) => 2 + (i + 0.5) * pitch - shift);
  const bar = H > 4 ? 68 : 36;
  const X = { kind: "X", from: 64, to: 90, strip: [67, 87] };
  const zones = [X];
  let at = 90;
  if (opened === "X") {
    X.inside = [at, at + inside];
    at += inside;
  }
  for (let l = 0; l < N; l++) {
    const zone = { kind: "layer", layer: l, from: at, bar, chips: true };
    if (opened) {
      if (l === layer && ["head", "W_O", "ffn"].includes(opened)) {
        zone.inside = [at + bar + 4, at + bar + 4 + inside];
        at += inside + 8;
      }
      at += bar + 4;
    } else {
      const flow = at + bar + 2;
      Object.assign(zone, { flow: [flow, flow + 82], concat: [flow + 82, flow + 87], ffn: [flow + 90, flow + 104] });
      zone.strip = [flow + 107, flow + 127];
      at = flow + 128;
    }
    zone.to = at;
    zones.push(zone);
  }
  const words = { kind: "words", from: at, top: at + 4, x: 0, width, pitch: 25, to: at + 40 + 25 * count };
  if (opened === "output") {
    words.inside = [at + 40, at + 40 + inside];
    words.to = at + 40 + inside;
  }
  return { turned: true, full: false, width, height: words.to + 2, header: 64, top: 64, pitch, over, size: 16, rows, zones, words, labels: [4, 60], opened, layer }; // prettier-ignore
}

/** A point along and across as [x, y]. */
export const point = ({ turned }, along, across) => (turned ? [across, along] : [along, across]);

/** A rectangle from along a … b of half-size `half` about a row: [x, y, width, height]. */
export function box({ turned }, a, b, across, half) {
  return turned ? [across - half, a, 2 * half, b - a] : [a, across - half, b - a, 2 * half];
}

/** The curve of a flow: from the source's road to the asker's, both shifted to the lane of its head. */
export function curve(place, [a, b], from, to) {
  const third = 0.45 * (b - a);
  const [p, q, r, s] = [
    point(place, a, from),
    point(place, a + third, from),
    point(place, b - third, to),
    point(place, b, to),
  ];
  return [p, q, r, s];
}
const short = (v) => Math.round(v * 10) / 10;
export const path = ([p, ...rest]) => `M${p.map(short)}C${rest.map((each) => each.map(short)).join(" ")}`;

/** How far the lane of a head is from the middle of its road. */
export const lane = (place, H, k) => ((k - (H - 1) / 2) * place.size) / H;

/** The shortest distance from a point to a curve. */
export function distance([p, q, r, s], x, y) {
  let best = Infinity;
  for (let k = 0; k <= 24; k++) {
    const t = k / 24;
    const u = 1 - t;
    const at = (c) => u * u * u * p[c] + 3 * u * u * t * q[c] + 3 * u * t * t * r[c] + t * t * t * s[c];
    best = Math.min(best, Math.hypot(at(0) - x, at(1) - y));
  }
  return best;
}
