// What is drawn on the canvas: the roads, the numbers of the stream, the lanes of the heads, the feed-forward
// networks, the flows of the tokens that are not chosen.

import { row } from "../../math/tensor.js";
import { cells, largestSize } from "../../parts/cells.js";
import { palette } from "../../parts/theme.js";
import { box, curve, lane } from "./layout.js";

const NAMES = ["road", "control", "soft", "text", "paper", ...Array.from({ length: 8 }, (_, k) => `head-${k}`)];
const UNSEEN = 0.22; // what the chosen token may not see
const resolved = new WeakMap(); // the colours of a theme

export function paint(pen, colours, place, now, element) {
  if (!resolved.has(colours)) resolved.set(colours, palette(element, NAMES));
  const own = { ...colours, ...resolved.get(colours) };
  const brush = { pen, colours: own, place, now, alpha: (i) => (now.causal && i > now.position ? UNSEEN : 1) };
  roads(brush);
  for (const zone of place.zones) {
    if (zone.inside && !place.turned && zone.kind === "layer" && now.opened !== "head") continue;
    stripOf(brush, zone);
    if (zone.kind === "layer" && now.shown.trace.layers[zone.layer]) layerOf(brush, zone);
  }
  pen.globalAlpha = 1;
  for (const panel of now.panels) panelOf(brush, panel);
}

/** How much of a part of the way is drawn: 1, or little of what the walk has not reached. */
export function lit({ step, stages }, kind, layer) {
  if (!step) return 1;
  const k = stages.findIndex((stage) => stage.kind === kind && stage.layer === layer);
  return k < step ? 1 : 0.15;
}

function roads({ pen, colours, place, now, alpha }) {
  const { zones, words, size } = place;
  const gaps = [];
  if (now.gone("residual")) {
    for (const zone of zones) {
      if (zone.flow && now.shown.trace.layers[zone.layer]) gaps.push([zone.flow[0], (zone.concat ?? zone.flow)[1]]);
      if (zone.ffn && now.shown.trace.layers[zone.layer]) gaps.push(zone.ffn);
    }
  }
  const open = zones.filter(({ inside }) => inside);
  for (const zone of open) gaps.push(place.turned ? [zone.inside[0] - (zone.bar ?? 0) - 4, zone.inside[1] + 4] : [zone.from + 4, (zone.after ?? zone.to - 4) + 4]); // prettier-ignore
  gaps.sort((a, b) => a[0] - b[0]);
  pen.fillStyle = colours.road;
  place.rows.forEach((across, i) => {
    pen.globalAlpha = alpha(i) === 1 ? 1 : 0.4;
    let from = zones[0].from;
    for (const [a, b] of [...gaps, [words.from, 0]]) {
      if (a > from) {
        pen.beginPath();
        const [x, y, w, h] = box(place, from, a, across, size / 2);
        pen.roundRect(x, y, w, h, place.turned && open.length ? 0 : size / 2);
        pen.fill();
      }
      from = Math.max(from, b);
    }
  });
}

const scratch = globalThis.document?.createElement("canvas");

/** Rows of a matrix as strips, one pixel a number, stretched to where they go. */
function strips({ pen, colours, place, alpha, now }, A, [a, b], faint) {
  const { rows, cols, data } = A;
  const image = new ImageData(place.turned ? rows : cols, place.turned ? cols : rows);
  const pixels = new Uint32Array(image.data.buffer); // alpha, blue, green, red
  const [plus, minus] = [colours.plus, colours.minus].map((text) => {
    const [r, g, blue] = text.split(" ").map(Number);
    return (blue << 16) | (g << 8) | r;
  });
  const strength = 255 / (largestSize(A) * 0.8);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) {
      const value = data[i * cols + j];
      const alpha = Math.min(255, Math.abs(value) * strength);
      pixels[place.turned ? j * rows + i : i * cols + j] = (alpha << 24) | (value < 0 ? minus : plus);
    }
  }
  scratch.width = image.width;
  scratch.height = image.height;
  scratch.getContext("2d").putImageData(image, 0, 0);
  const half = Math.max(2, place.size / 2 - 2);
  pen.imageSmoothingEnabled = b - a < A.cols;
  place.rows.forEach((across, i) => {
    pen.globalAlpha = faint * (i === now.position ? 1 : alpha(i) === 1 ? 0.5 : UNSEEN);
    const [x, y, w, h] = box(place, a, b, across, half);
    if (place.turned) pen.drawImage(scratch, i, 0, 1, A.cols, x, y, w, h);
    else pen.drawImage(scratch, 0, i, A.cols, 1, x, y, w, h);
  });
}

function stripOf(brush, { kind, layer, strip, inside }) {
  const { now } = brush;
  if (!strip || (inside && kind === "X")) return;
  const A = kind === "X" ? now.shown.trace.X : now.shown.trace.layers[layer]?.output;
  if (A) strips(brush, A, strip, kind === "X" ? lit(now, "X") : lit(now, "ffn", layer));
}

function layerOf(brush, zone) {
  const { pen, place, now, colours } = brush;
  const { layer, flow, concat, ffn, plus } = zone;
  if (flow) others(brush, zone);
  if (concat) lanes(brush, zone);
  if (ffn) units(brush, zone);
  if (plus) {
    pen.strokeStyle = colours.control;
    pen.lineWidth = 1;
    plus.forEach((along, second) => {
      const light = lit(now, second ? "ffn" : "attention", layer);
      place.rows.forEach((across, i) => {
        pen.globalAlpha = light * brush.alpha(i) * (i === now.position ? 1 : 0.6);
        pen.beginPath();
        pen.arc(along, across, 5.5, 0, 2 * Math.PI);
        pen.fillStyle = colours.paper;
        pen.fill();
        pen.moveTo(along - 3, across);
        pen.lineTo(along + 3, across);
        if (!now.gone("residual")) {
          pen.moveTo(along, across - 3);
          pen.lineTo(along, across + 3);
        }
        pen.stroke();
      });
    });
  }
}

/** The flows to the tokens that are not chosen: thin, and only the strong ones. */
function others({ pen, place, now, colours }, { layer, flow }) {
  const { weights } = now.shown.trace.layers[layer];
  const H = weights.length;
  const least = place.pitch < 16 ? 0.4 : 0.15;
  const light = lit(now, "attention", layer);
  weights.forEach((W, k) => {
    if (now.gone("heads", layer, k)) return;
    const shift = lane(place, H, k);
    pen.strokeStyle = colours[`head-${k % 8}`];
    pen.globalAlpha = 0.16 * light * (now.lens && !(now.lens.layer === layer && now.lens.head === k) ? 0.3 : 1);
    for (let i = 0; i < W.rows; i++) {
      if (i === now.position) continue;
      for (let j = 0; j < W.cols; j++) {
        const weight = W.data[i * W.cols + j];
        if (weight < least) continue;
        const [p, q, r, s] = curve(place, flow, place.rows[j] + shift, place.rows[i] + shift);
        pen.lineWidth = Math.max(0.8, (0.4 * place.size * weight) / Math.min(H, 4));
        pen.beginPath();
        pen.moveTo(p[0], p[1]);
        pen.bezierCurveTo(q[0], q[1], r[0], r[1], s[0], s[1]);
        pen.stroke();
      }
    }
  });
}

/** The blocks of the concat, in the colours of their heads; without W_O they run on. */
function lanes({ pen, place, now, colours, alpha }, { layer, concat, ffn }) {
  const H = now.shown.trace.layers[layer].weights.length;
  const light = lit(now, "attention", layer);
  const bare = now.gone("W_O", layer);
  for (let k = 0; k < H; k++) {
    if (now.gone("heads", layer, k)) continue;
    pen.fillStyle = colours[`head-${k % 8}`];
    place.rows.forEach((across, i) => {
      pen.globalAlpha = light * alpha(i) * (i === now.position ? 0.9 : 0.4);
      const end = bare && ffn ? ffn[0] : concat[1];
      const at = across + lane(place, H, k);
      pen.fillRect(...box(place, concat[0], end, at, place.size / H / 2));
    });
  }
}

/** A box per token: filled by its share of active neurons. */
function units({ pen, place, now, colours, alpha }, { layer, ffn }) {
  const hidden = now.shown.trace.layers[layer].ffn_hidden;
  const light = lit(now, "ffn", layer);
  const off = now.gone("ffn", layer);
  const half = Math.min(6.5, place.size / 2 - 0.5);
  pen.lineWidth = 1;
  pen.setLineDash(off ? [2, 2] : []);
  place.rows.forEach((across, i) => {
    const mine = i === now.position;
    pen.globalAlpha = light * alpha(i) * (mine ? 1 : 0.75);
    const [x, y, w, h] = box(place, ffn[0], ffn[1], across, half);
    pen.fillStyle = colours.paper;
    pen.strokeStyle = off ? colours.soft : colours.control;
    pen.beginPath();
    pen.roundRect(x + 0.5, y + 0.5, w - 1, h - 1, 3);
    pen.fill();
    pen.stroke();
    if (off) {
      pen.beginPath();
      pen.moveTo(x, y + h);
      pen.lineTo(x + w, y);
      pen.stroke();
      return;
    }
    let active = 0;
    for (let t = 0; t < hidden.cols; t++) active += Number(hidden.data[i * hidden.cols + t] > 0);
    const share = active / hidden.cols;
    pen.fillStyle = mine ? colours.text : colours.soft;
    pen.globalAlpha = light * alpha(i) * (mine ? 0.85 : 0.5);
    pen.fillRect(...box(place, ffn[0] + 2, ffn[0] + 2 + share * (ffn[1] - ffn[0] - 4), across, half - 2));
  });
  pen.setLineDash([]);
}

function panelOf({ pen, colours, now }, panel) {
  const { stage, layer, head, i } = panel;
  const A = now.shown.source.matrix({ stage, layer, head });
  if (!A) return;
  const share = stage === "weights";
  const matrix = i === undefined ? A : { rows: 1, cols: A.cols, data: row(A, i) };
  const square = stage === "weights" || stage === "scores";
  cells(pen, colours, {
    ...panel,
    matrix,
    gap: square ? 1 : 0,
    kind: share ? "share" : "signed",
    max: share ? 1 : largestSize(A),
    mask: square ? now.mask : null,
  });
}
