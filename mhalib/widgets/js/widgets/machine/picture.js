// The machine as a picture: what is on the canvas (paint.js) and, over it, names, the flows of the chosen token,
// marks, the words.

import { row } from "../../math/tensor.js";
import { picture } from "../../parts/picture.js";
import { curve, distance, lane, layout, path, widths } from "./layout.js";
import { changeBars, chosenRoad, dividers, provenance } from "./marks.js";
import { lit, paint } from "./paint.js";
import { atMost } from "./state.js";
import { openedShapes } from "./opened.js";
import { insideHeight, numberAt, panels } from "./panels.js";
import { fanShapes, listPlace, listRow, listShapes } from "./words-list.js";

const LONGEST = 11; // characters of a token's name
export const short = (label, most = LONGEST) => ([...label].length > most ? `${[...label].slice(0, most - 1).join("")}…` : label); // prettier-ignore
const text = (x, y, words, name = "", more = {}) => ["text", { x, y, class: name, ...more }, words];
const line = (d, name, more = {}) => ["path", { d, class: name, ...more }];

export function machinePicture(stops, { now, landing, controls, ...hands }) {
  let place = null; // the layout as it was drawn
  let opening = null; // { from, to, start }: widths on their way
  let shownOpen = "";
  let drag = 0; // a phone's long sentence, pulled aside by a finger
  const plane = picture(stops, { label: "the machine: tokens, layers, next words", draw, hit, ...hands });
  const [back, flows, marks, words] = [0, 0, 0, 0].map(() => plane.layer());
  let frame = 0;
  stops.push(() => cancelAnimationFrame(frame));
  let pulled = null;
  plane.surface.addEventListener("pointerdown", (event) => (pulled = event.pointerType === "touch" ? event.clientX : null)); // prettier-ignore
  plane.surface.addEventListener("pointermove", (event) => {
    if (pulled === null || !place?.over) return;
    drag -= event.clientX - pulled;
    pulled = event.clientX;
    plane.redraw();
  });

  function draw(width) {
    const state = now();
    const { n, config, opened, layer, position } = state;
    if (width < 600 && state.right === "next word" && opened !== "output") state.list = atMost(state.list, 5);
    const { list } = state;
    const shape = { n, N: config.n_layers, H: config.n_heads, opened, layer, position, offset: drag, count: list.length }; // prettier-ignore
    Object.assign(shape, { room: landing ? 296 : 358, inside: insideHeight({ opened, n, norm: config.norm }) });
    shape.parts = partsNow(width, shape);
    place = layout(width, shape);
    if (place.turned) drag = place.over ? Math.max(-place.over, Math.min(place.over, drag)) : 0;
    state.panels = n && !opening ? panels(place, state) : [];
    controls(place);
    if (!n) {
      for (const each of [back, flows, marks, words]) each.write([]);
      plane.tell("");
      return { height: place.height, paint() {} };
    }
    back.write([...dividers(place, state), ...chosenRoad(place, state)]);
    flows.write([...chosenFlows(place, state), ...fanShapes(place, state)]);
    marks.write([...changeBars(place, state), ...openedShapes(place, state), ...provenance(place, state)]);
    words.write([...names(place, state), ...heads(place, state), ...listShapes(place, state)]);
    plane.tell(state.told);
    return { height: place.height, paint: (pen, colours) => paint(pen, colours, place, state, plane.element) };
  }

  /** The widths of the parts: while one opens or closes, on their way there. */
  function partsNow(width, shape) {
    if (width < 600) return null;
    const goal = widths(width, shape);
    const name = `${shape.opened && shape.opened !== "X" && shape.opened !== "output" ? "layer" : shape.opened}${shape.layer}`; // prettier-ignore
    const wanted = shape.opened ? name : "";
    if (wanted !== shownOpen) {
      const before = place && !place.turned && place.width === width ? place.parts : null;
      shownOpen = wanted;
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      opening = before && !still && before.length === goal.length ? { from: before, start: performance.now() } : null;
    }
    if (!opening) return goal;
    const t = Math.min(1, (performance.now() - opening.start) / 320);
    if (t === 1) {
      opening = null;
      return goal;
    }
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(plane.redraw);
    const eased = 1 - (1 - t) ** 3;
    return goal.map((end, k) => opening.from[k] + (end - opening.from[k]) * eased);
  }

  /** What is at a point: { token }, { word } or { ref }, or null. */
  function hit(x, y) {
    const state = now();
    if (!place || !state.n) return null;
    const inside = numberAt(state.panels, x, y);
    if (inside) return { ref: inside };
    const [along, across] = place.turned ? [y, x] : [x, y];
    const k = listRow(place, state, x, y);
    if (along >= place.words.from && (place.turned || k >= 0)) return k >= 0 ? { row: k } : null;
    const i = place.rows.findIndex((at) => Math.abs(at - across) <= place.pitch / 2);
    if (along < place.header && place.turned) return i < 0 ? null : { token: i };
    if (!place.turned && along < place.labels[1]) return i < 0 ? null : { token: i };
    const zone = place.zones.find(({ from, to }) => along >= from && along < to);
    const block = zone && (zone.kind === "X" || state.shown.trace.layers[zone.layer]);
    if (!block) return i < 0 ? null : { token: i };
    const over = (part) => part && along >= part[0] - 1 && along <= part[1] + 1;
    const column = ([a, b], cols) => Math.max(0, Math.min(cols - 1, Math.floor(((along - a) / (b - a)) * cols)));
    const d = state.config.d_model;
    if (i >= 0 && over(zone.strip)) {
      const stage = zone.kind === "X" ? "X" : state.config.norm === "pre" ? "residual_2" : "norm_2";
      return { ref: { stage, layer: zone.layer ?? null, head: null, i, j: column(zone.strip, d) } };
    }
    if (i >= 0 && over(zone.ffn)) {
      const hidden = row(block.ffn_hidden, i);
      const j = hidden.reduce((best, value, t) => (value > hidden[best] ? t : best), 0);
      return { ref: { stage: "ffn_hidden", layer: zone.layer, head: null, i, j } };
    }
    if (i >= 0 && over(zone.concat)) {
      const share = (across - place.rows[i]) / place.size + 0.5;
      const head = Math.max(0, Math.min(state.config.n_heads - 1, Math.floor(share * state.config.n_heads)));
      return { ref: { stage: "heads", layer: zone.layer, head, i, j: 0 } };
    }
    if (over(zone.flow)) {
      let best = null;
      for (const flow of flowsOf(place, state, zone)) {
        const apart = distance(flow.points, x, y) - flow.width / 2;
        if (apart < 5 && (!best || apart < best.apart)) best = { ...flow, apart };
      }
      if (best) return { ref: best.ref };
    }
    return i < 0 ? null : { token: i };
  }

  return { ...plane, where: () => place, listAt: (k) => ({ ...listPlace(place, now()), k }) };
}

/** The flows to the chosen token in one layer: { ref, weight, width, points, dashed }. */
function flowsOf(place, state, zone) {
  const { position: i, shown, whole } = state;
  const own = shown.trace.layers[zone.layer]?.weights;
  const before = whole.trace.layers[zone.layer].weights;
  const H = before.length;
  const least = place.pitch < 16 && !place.turned ? 0.08 : 0.04;
  return before.flatMap((W, k) => {
    const dashed = state.gone("heads", zone.layer, k);
    const weights = row(dashed || !own ? W : own[k], i);
    if (!own) return [];
    const shift = lane(place, H, k);
    const found = [];
    weights.forEach((weight, j) => {
      if (weight < least) return;
      const points = curve(place, zone.flow, place.rows[j] + shift, place.rows[i] + shift);
      const width = dashed ? 1.2 : Math.max(0.8, (place.size / H) * weight);
      found.push({ ref: { stage: "weights", layer: zone.layer, head: k, i, j }, weight, width, points, dashed });
    });
    return found;
  });
}

function chosenFlows(place, state) {
  const { lens, seen } = state;
  const current = state.step ? state.stages[state.step - 1] : null;
  return place.zones.flatMap((zone) => {
    if (!zone.flow || zone.kind !== "layer") return [];
    const light = lit(state, "attention", zone.layer);
    const fresh = current?.kind === "attention" && current.layer === zone.layer;
    return flowsOf(place, state, zone).map(({ ref, width, points, dashed }) => {
      const on = seen && seen.stage === "weights" && ["layer", "head", "i", "j"].every((k) => seen[k] === ref[k]);
      const dimmed = lens && !(lens.layer === ref.layer && lens.head === ref.head) && lens.layer === ref.layer;
      const name = `mh-lane${on ? " mh-lane-on" : ""}${dashed ? " mh-lane-off" : ""}${fresh && !dashed ? " mh-lane-new" : ""}`; // prettier-ignore
      const more = { "data-head": ref.head % 8, "stroke-width": width, opacity: light < 1 ? 0.1 : dimmed ? 0.25 : 0.92 }; // prettier-ignore
      return line(path(points), name, fresh && !dashed ? { ...more, pathLength: 1 } : more);
    });
  });
}

function names(place, { labels, position, causal }) {
  const small = place.pitch < 16 && !place.turned;
  return labels.map((label, i) => {
    const long = place.turned && [...label].length > 6;
    const name = `${i === position ? "mh-on-pill" : causal && i > position ? "mh-soft" : ""}${small || long ? " mh-small-text" : ""}${long ? " mh-thin" : ""}`; // prettier-ignore
    if (!place.turned) return text(place.labels[1] - 6, place.rows[i] + 4.5, short(label), `mh-end ${name}`);
    const at = [place.rows[i] + 4.5, 58];
    return text(...at, short(label, 8), name, { transform: `rotate(-90 ${at})` });
  });
}

function heads(place, state) {
  const { words, zones, turned } = place;
  const title =
    (state.opened === "output" || state.right !== "next word") &&
    text(words.x, turned ? words.top + 14 : 18, state.heading, "mh-strong-text");
  if (turned) return [title];
  const [X] = zones;
  const struck = state.gone("positions") ? "mh-small-text mh-soft mh-struck" : "mh-small-text mh-soft";
  const shapes = [title, text(place.labels[1] - 6, 18, "tokens", "mh-end mh-strong-text"), text(X.strip[0], 18, "X", "mh-strong-text mh-symbol")]; // prettier-ignore
  if (place.full && !X.inside) shapes.push(text(X.strip[0], 34, "embedding", "mh-small-text mh-soft"), text(X.strip[0], 47, "+ position", struck)); // prettier-ignore
  const first = zones[1];
  const below = place.rows[state.position + 2];
  if (state.causal && first?.flow && below && !state.opened && place.pitch >= 20) shapes.push(text(first.from + 21, below + 4.5, "masked", "mh-small-text mh-soft")); // prettier-ignore
  return shapes;
}
