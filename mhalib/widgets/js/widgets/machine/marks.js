// Marks over the machine's picture: columns, what is masked or off, the chosen road, what changed, where a number
// comes from.

import { hatch } from "../../parts/cells.js";
import { lane, point } from "./layout.js";
import { area } from "./panels.js";
import { listPlace } from "./words-list.js";

const line = (d, name, more = {}) => ["path", { d, class: name, ...more }];

/** Lines between columns, hatching over what is masked and what is switched off. */
export function dividers(place, state) {
  const { position, causal } = state;
  const unseen = place.rows[position] + place.pitch / 2 + 2;
  const edge = place.rows.length ? place.rows.at(-1) + place.pitch / 2 : 0;
  let lines = "";
  let hidden = "";
  let gone = "";
  for (const zone of place.zones) {
    if (zone.kind === "X" || place.turned) continue;
    lines += `M${zone.from} 8V${place.end}`;
    const off = state.gone("layers", zone.layer);
    if (off) gone += hatch(zone.from + 6, place.header, zone.to - 6, edge);
    else if (causal && zone.flow && edge > unseen) hidden += hatch(zone.from + 2, unseen, zone.from + 15, edge);
  }
  if (place.turned) {
    for (const zone of place.zones) {
      if (zone.kind !== "layer" || !zone.flow) continue;
      if (state.gone("layers", zone.layer)) gone += hatch(0, zone.from + zone.bar, place.width, zone.to);
    }
  }
  return [line(lines, "mh-divider"), line(hidden, "mh-hatching"), line(gone, "mh-hatching")];
}

export function chosenRoad(place, { position, n, opened }) {
  const across = place.rows[position];
  const half = place.size / 2 + 1;
  const shapes = [];
  const rect = (x, y, width, height, rx, name) => shapes.push(["rect", { x, y, width, height, rx, class: name }]);
  if (place.turned) {
    rect(across - 11, 3, 22, 57, 5, "mh-pill");
    if (!opened) rect(across - half, 63, 2 * half, place.words.from - 63, half, "mh-road-line");
    for (const { kind, from, bar } of place.zones) if (kind === "layer") rect(-4, from, place.width + 8, bar, 6, "mh-layer-bar"); // prettier-ignore
    return n ? shapes : [];
  }
  const height = Math.min(22, place.pitch);
  rect(place.labels[0], across - height / 2, place.labels[1] - place.labels[0], height, Math.min(5, height / 3), "mh-pill"); // prettier-ignore
  const stops = place.zones.filter(({ inside }) => inside);
  let from = place.zones[0].from;
  for (const zone of [...stops, { from: place.words.from, to: 0 }]) {
    const end = zone.from;
    if (end - from > 8) rect(from, across - half, end - from, 2 * half, half, "mh-road-line");
    from = zone.after ? zone.after + 6 : zone.to;
  }
  return shapes;
}

/** A bar under each strip, as long as ‖x′ − x‖ / ‖x‖. */
export function changeBars(place, state) {
  if (!state.change.bars || state.shown === state.whole) return [];
  const size = 3;
  let d = "";
  let faint = "";
  for (const zone of place.zones) {
    const shares = state.change.bars[zone.kind === "X" ? 0 : zone.layer + 1];
    const strip = zone.strip;
    if (!strip || (zone.inside && zone.kind === "X")) continue;
    place.rows.forEach((across, i) => {
      const length = Math.min(1, shares[i]) * (strip[1] - strip[0]);
      if (length < 0.5) return;
      const beside = across + place.size / 2 + (place.pitch < 16 ? 0.5 : 1.5);
      const thick = Math.min(size, place.pitch - place.size - 1);
      const bar = place.turned ? `M${beside} ${strip[0]}h${size}v${length}h${-size}z` : `M${strip[0]} ${beside}h${length}v${thick}h${-length}z`; // prettier-ignore
      if (state.causal && i > state.position) faint += bar;
      else d += bar;
    });
  }
  return [line(d, "mh-change"), line(faint, "mh-change", { opacity: 0.5 })];
}

/** Where a number of the trace is in the picture, or null. */
function pointOf(place, state, { stage, layer, head, i, j }) {
  const panel = state.panels.find((p) => p.stage === stage && p.layer === layer && p.head === head);
  if (panel && (panel.i === undefined || panel.i === i)) {
    const [x, y, w, h] = area(panel, i, j);
    return [x + w / 2, y + h / 2];
  }
  if (stage === "probabilities" || stage === "logits") {
    const k = state.list.findIndex(({ id }) => id === j);
    const list = listPlace(place, state);
    return k < 0 ? null : [list.x - 3, list.y + k * list.pitch + 8];
  }
  const last = state.shown.trace.layers.findLastIndex(Boolean);
  const l = stage === "output" ? (layer ?? last) : layer;
  const zone = place.zones[l === null || l < 0 ? 0 : l + 1];
  const across = place.rows[i];
  if (!zone || across === undefined || zone.inside) return null;
  const shift = head === null ? 0 : lane(place, state.config.n_heads, head);
  const along = (part, share = 0.5) => part && point(place, part[0] + (part[1] - part[0]) * share, across + shift);
  if (zone.kind === "X" || ["norm_2", "residual_2", "output"].includes(stage)) {
    return along(zone.strip ?? zone.ffn ?? zone.flow, zone.strip ? (j + 0.5) / state.config.d_model : 1);
  }
  if (stage.startsWith("ffn")) return along(zone.ffn ?? zone.flow);
  if (stage === "V" || stage === "K" || stage === "Q") return along(zone.flow, 0);
  if (stage === "weights" || stage === "scores") return along(zone.flow, 1);
  return along(zone.concat ?? zone.flow);
}

/** Lines from the numbers that the followed one is made of. */
export function provenance(place, state) {
  if (!state.followed || !state.explained) return [];
  const to = pointOf(place, state, state.followed);
  if (!to) return [];
  const d = state.explained.terms.slice(0, 4).map(({ ref }) => {
    const from = pointOf(place, state, ref);
    return from && Math.hypot(from[0] - to[0], from[1] - to[1]) > 4 ? `M${from}L${to}` : "";
  });
  return [line(d.join(""), "mh-trace"), ["circle", { cx: to[0], cy: to[1], r: 4, class: "mh-trace-end" }]];
}
