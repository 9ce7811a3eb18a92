// The matrices of an opened part, where they are in the picture, and how arrow keys lead through them. No DOM.

const within = (value, low, high) => Math.max(low, Math.min(high, value));
export const SQUARE = ["scores", "weights"];
export const PER_HEAD = ["Q", "K", "V", "scores", "weights", "heads"];

// What is side by side in an opened part: [stage of the trace, its name, how it comes about, share of the width].
const POST = {
  W_O: [
    ["concat", "concat", "of all heads", 1],
    ["O", "O", "concat · W_O", 1],
    ["residual_1", "residual sum", "stream + O", 1],
    ["norm_1", "layer norm", "each row by itself", 1],
  ],
  ffn: [
    ["norm_1", "reads", "layer norm", 1],
    ["ffn_hidden", "neurons", "act(x · W_1 + b_1)", 2.2],
    ["ffn", "FFN", "hidden · W_2 + b_2", 1],
    ["residual_2", "sum", "x + FFN", 1],
    ["norm_2", "norm", "each row", 1],
  ],
};
const PRE = {
  W_O: [
    ["norm_1", "layer norm", "what the heads read", 1],
    ["concat", "concat", "of all heads", 1],
    ["O", "O", "concat · W_O", 1],
    ["residual_1", "residual sum", "stream + O", 1],
  ],
  ffn: [
    ["norm_2", "reads", "layer norm", 1],
    ["ffn_hidden", "neurons", "act(x · W_1 + b_1)", 2.2],
    ["ffn", "FFN", "hidden · W_2 + b_2", 1],
    ["residual_2", "sum", "x + FFN", 1],
  ],
};
const FIRST = [
  ["embedded", "rows of E", "× √d_model", 1],
  ["positions", "positions", "sin and cos of the place", 1],
  ["X", "X", "the sum", 1],
];

/** Which part to open to see a stage of the trace. */
export function partOf({ stage, layer }, norm) {
  if (["embedded", "positions", "X"].includes(stage)) return "X";
  if (["logits", "probabilities"].includes(stage) || (stage === "output" && layer === null)) return "output";
  if (PER_HEAD.includes(stage)) return "head";
  return sideBySide("W_O", norm).some(([name]) => name === stage) ? "W_O" : "ffn";
}

const sideBySide = (opened, norm) => (opened === "X" ? FIRST : (norm === "pre" ? PRE : POST)[opened]);

/** How high the opened part is on a phone. */
export function insideHeight({ opened, n, norm }) {
  if (opened === "head") return 22 + n * within(260 / Math.max(1, n), 12, 20) + 8 + 5 * 28;
  if (opened === "output") return 12 * 25;
  return opened ? 28 * sideBySide(opened, norm).length + 22 : 0;
}

/**
 * The panels of the opened part: { stage, layer, head, x, y, w, h (of a cell), rows, cols, turned, i, title,
 * how }; `i`: the one row that a strip shows.
 */
export function panels(place, now) {
  const { opened, layer, head, config } = now;
  if (!opened || opened === "output") return [];
  const zone = place.zones[opened === "X" ? 0 : layer + 1];
  if (!zone?.inside) return [];
  if (opened === "head") return place.turned ? headStrips(place, zone, now) : headMatrices(place, zone, now);
  const stages = sideBySide(opened, config.norm);
  const of = opened === "X" ? null : layer;
  const width = (stage) => (stage === "ffn_hidden" ? config.d_ff : stage === "concat" ? config.n_heads * config.d_v : config.d_model); // prettier-ignore
  if (place.turned) {
    const [top] = zone.inside;
    return stages.map(([stage, title, how], k) => {
      const cols = width(stage);
      const y = top + 22 + 28 * k;
      return { stage, layer: of, head: null, title, how, x: 96, y, w: (place.width - 100) / cols, h: 22, rows: now.n, cols, i: now.position }; // prettier-ignore
    });
  }
  const shares = stages.reduce((sum, [, , , share]) => sum + share, 0);
  const room = zone.to - zone.from - 16 - 10 * (stages.length - 1);
  let x = zone.from + 8;
  return stages.map(([stage, title, how, share]) => {
    const cols = width(stage);
    const w = (room * share) / shares;
    const panel = { stage, layer: of, head: null, title, how, x, y: place.header, w: w / cols, h: place.pitch, rows: now.n, cols }; // prettier-ignore
    x += w + 10;
    return panel;
  });
}

function headMatrices(place, zone, { n, layer, head, config, square }) {
  const roomy = zone.to - zone.from > 450;
  const side = roomy ? 64 : 44;
  const { header: y, pitch: h } = place;
  const x = zone.from + 10 + side + 14;
  const across = zone.to - x - 14 - side - (roomy ? 107 : 12);
  const v = x + across + 14;
  const own = { layer, head };
  const { d_k: dK, d_v: dV } = config;
  if (roomy) {
    const o = v + side;
    Object.assign(zone, { after: o, plus: [o + 17], ffn: [o + 26, o + 48], strip: [o + 55, zone.to - 6] });
  }
  return [
    { ...own, stage: "Q", x: zone.from + 10, y, w: side / dK, h, rows: n, cols: dK },
    { ...own, stage: "K", x, y: y - 52, w: across / n, h: 48 / dK, rows: n, cols: dK, turned: true },
    { ...own, stage: square, x, y, w: across / n, h, rows: n, cols: n },
    { ...own, stage: "V", x: v, y: y - 52, w: side / dV, h: 48 / n, rows: n, cols: dV },
    { ...own, stage: "heads", x: v, y, w: side / dV, h, rows: n, cols: dV },
  ];
}

function headStrips(place, zone, { n, layer, head, config, square, position, key }) {
  const [top] = zone.inside;
  const h = within(260 / Math.max(1, n), 12, 20);
  const x = 70;
  const strips = top + 22 + n * h + 8;
  const own = { layer, head };
  const strip = (k, stage, cols, i, title) => ({ ...own, stage, title, x, y: strips + 28 * k, w: (place.width - x - 8) / cols, h: 22, rows: n, cols, i }); // prettier-ignore
  return [
    { ...own, stage: square, x, y: top + 22, w: (place.width - x - 8) / n, h, rows: n, cols: n },
    strip(0, "Q", config.d_k, position, "q"),
    strip(1, "K", config.d_k, key, "k"),
    strip(2, "V", config.d_v, key, "v"),
    strip(3, "heads", config.d_v, position, "output"),
  ];
}

/** The rectangle of rows i0 … i1 and columns j0 … j1 of a panel. */
export function area({ x, y, w, h, turned, i }, i0, j0, i1 = i0, j1 = j0) {
  if (i !== undefined) return [x + j0 * w, y, (j1 - j0 + 1) * w, h];
  if (turned) return [x + i0 * w, y + j0 * h, (i1 - i0 + 1) * w, (j1 - j0 + 1) * h];
  return [x + j0 * w, y + i0 * h, (j1 - j0 + 1) * w, (i1 - i0 + 1) * h];
}

/** The number of the trace at a point, or null. */
export function numberAt(list, x, y) {
  for (const panel of list) {
    const across = Math.floor((x - panel.x) / panel.w);
    const down = Math.floor((y - panel.y) / panel.h);
    const strip = panel.i !== undefined;
    const [i, j] = panel.turned ? [across, down] : [strip ? panel.i : down, across];
    if ((strip && down !== 0) || i < 0 || i >= panel.rows || j < 0 || j >= panel.cols) continue;
    return { stage: panel.stage, layer: panel.layer, head: panel.head, i, j };
  }
  return null;
}

// Over an edge of a head's matrix: into which, and which of its row and column is kept.
const NEXT = {
  "Q right": ["square", "row"],
  "square left": ["Q", "row"],
  "square right": ["heads", "row"],
  "square up": ["K", "column"],
  "K down": ["square", "row"],
  "K right": ["V"],
  "V left": ["K"],
  "V down": ["heads", "column"],
  "heads left": ["square", "row"],
  "heads up": ["V", "column"],
};

/** Where an arrow key leads from a number: to the next cell, over an edge into the panel beside it. */
export function stepIn(list, ref, di, dj) {
  const k = Math.max(0, list.findIndex(({ stage }) => stage === ref.stage)); // prettier-ignore
  const panel = list[k];
  const [down, right] = panel.turned ? [dj, di] : [di, dj];
  const i = ref.i + (panel.i === undefined ? down : 0);
  const j = ref.j + right;
  const name = ({ stage, layer, head }) => ({ stage, layer, head });
  if (panel.i !== undefined && down) {
    const next = list[within(k + Math.sign(down), 0, list.length - 1)];
    return { ...name(next), i: next.i ?? ref.i, j: within(ref.j, 0, next.cols - 1) };
  }
  const inside = i >= 0 && i < panel.rows && j >= 0 && j < panel.cols;
  if (!inside && Number.isFinite(di + dj)) {
    const edge = dj < 0 ? "left" : dj > 0 ? "right" : di < 0 ? "up" : "down";
    const stage = SQUARE.includes(ref.stage) ? "square" : ref.stage;
    const [to, across] = NEXT[`${stage} ${edge}`] ?? [];
    const headed = to && list.find((each) => each.stage === to || (to === "square" && SQUARE.includes(each.stage)));
    if (headed && panel.i === undefined) {
      const at = across === "row" ? ref.i : across === "column" ? ref.j : 0;
      const first = edge === "right" || edge === "down";
      if (headed.turned) return { ...name(headed), i: within(stage === "V" ? headed.rows - 1 : at, 0, headed.rows - 1), j: headed.cols - 1 }; // prettier-ignore
      if (edge === "up" || edge === "down") return { ...name(headed), i: first ? 0 : headed.rows - 1, j: within(stage === "K" ? ref.i : ref.j, 0, headed.cols - 1) }; // prettier-ignore
      return { ...name(headed), i: within(stage === "K" ? 0 : ref.i, 0, headed.rows - 1), j: first ? 0 : headed.cols - 1 }; // prettier-ignore
    }
    const beside = !panel.turned && dj && PER_HEAD.includes(ref.stage) === false && list[k + Math.sign(dj)];
    if (beside) return { ...name(beside), i: within(beside.i ?? ref.i, 0, beside.rows - 1), j: dj > 0 ? 0 : beside.cols - 1 }; // prettier-ignore
  }
  return { ...name(panel), i: within(i, 0, panel.rows - 1), j: within(j, 0, panel.cols - 1) };
}
