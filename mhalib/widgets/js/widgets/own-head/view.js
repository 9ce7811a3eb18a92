// An attention of one's own: d_k, heads, tokens, mask, scale, single values, and all that follows from them.

import { fixed } from "../../math/format.js";
import { ownHeads, ownMask, ownProjections, scaleOf } from "../../math/own-head.js";
import { dot, row } from "../../math/tensor.js";
import { menu, number, segments, sentence, toolbar } from "../../parts/bar.js";
import { assign, cached, h, watch } from "../../parts/dom.js";
import { frame, shareKey } from "../../parts/frame.js";
import { show } from "../../parts/tokens.js";
import { withModel } from "../../parts/with-model.js";
import { ownPicture } from "./picture.js";

export default function view(model, el) {
  return withModel(model, el, (course) => build(model, el, course));
}

const LABELS = { sqrt_d_k: "1/√`d_k`", none: "1", factor: "×" };

function build(model, el, { transformer, tokenizer, read }) {
  const stops = [];
  const limits = model.get("limits");
  const names = Object.keys(limits);
  const { n_layers: N, d_model: D } = transformer.config;
  const options = (name) => limits[name].options.map((option) => [option, LABELS[option] ?? option]);
  const streams = cached((key, layer) => {
    const later = Array.from({ length: N - layer }, (_, i) => layer + i);
    const ids = key.split(",").filter(Boolean).map(Number);
    return transformer.forward(ids, { ablate: { layers: later }, head: false }).output;
  });
  const projections = cached((...setting) => ownProjections(transformer, ...setting));
  let now = null;
  let chosen = { part: "weights", i: 0, j: 0 };
  let passing = null;
  let before = null;

  const padding = toolbar({
    label: "tokens that are padding",
    flip: (j) => {
      const others = model.get("padding").filter((k) => k !== j);
      const on = others.length === model.get("padding").length;
      assign(model, { padding: on ? [...others, j].sort((a, b) => a - b) : others });
    },
  });
  // heads side by side are at most as wide as the model
  const fits = (name) => Math.floor(D / model.get(name));
  const bar = {
    n: number(model, "n", stops, { label: "`n`" }),
    dK: number(model, "d_k", stops, { label: "`d_k`", most: () => fits("n_heads") }),
    h: number(model, "n_heads", stops, { label: "`h`", most: () => Math.min(8, fits("d_k")) }),
    mask: menu(model, "mask", stops, { label: "mask", options: options("mask") }),
    window: number(model, "window", stops, { label: "tokens" }),
    scale: menu(model, "scale", stops, { label: "scale", options: [["sqrt_d_k", "1/√d_k"], ["none", "1"], ["factor", "number"]] }), // prettier-ignore
    factor: number(model, "factor", stops, { label: "×", step: 0.05 }),
    projections: menu(model, "projections", stops, {
      label: "projections",
      shown: false,
      options: options("projections"),
    }),
  };
  const value = h("input", {
    type: "number",
    step: 0.1,
    "aria-label": "value of the chosen cell",
    onchange: () => Number.isFinite(value.valueAsNumber) && setValue(value.valueAsNumber),
  });
  const shown = segments(model, "shown", stops, { label: "", options: [["scores", "scores"], ["weights", "weights"]] }); // prettier-ignore
  shown.setAttribute("aria-label", "the matrix shows");
  const brush = segments(model, "brush", stops, { label: "", options: options("brush") });
  brush.setAttribute("aria-label", "brush");
  const tabs = h("div", { class: "mh-heads-tabs" });

  const isValue = ({ part }) => ["Q", "K", "V"].includes(part);
  const nameOf = ({ part, i, j }) => `${part}.${now.head}.${i}.${j}`;
  const numberAt = ({ part, i, j }) => now[part].data[i * now[part].cols + j];
  function setValue(to) {
    if (isValue(chosen))
      assign(model, { values: { ...model.get("values"), [nameOf(chosen)]: Math.round(to * 1e6) / 1e6 } });
  }
  function paintCell({ i, j }, on) {
    const n = now.labels.length;
    const all = [];
    for (let a = 0; a < n; a++) for (let b = 0; b < n; b++) if (!now.allowed(a, b)) all.push([a, b]);
    const rest = all.filter(([a, b]) => a !== i || b !== j);
    const hidden = (on ? [...rest, [i, j]] : rest).sort(([a, b], [c, d]) => a - c || b - d);
    assign(model, { mask: "painted", hidden });
  }
  const painting = (position) => model.get("brush") === "mask" && position.part === "weights";
  const pick = (position, byKey = false) => {
    chosen = position;
    passing = null;
    const { part, i, j } = position;
    assign(model, { weights: { query: i, key: j }, K: { key: i }, V: { key: i } }[part] ?? { query: i });
    if (!byKey && painting(position)) paintCell(position, now.allowed(i, j));
    explain();
  };
  let painted = null; // what a stroke of the brush does: hide or show
  let from = 0;
  const plane = ownPicture(stops, {
    now: () => now,
    at: () => passing ?? chosen,
    chosen: () => chosen,
    shown,
    brush,
    value,
    peek: (position) => {
      passing = position;
      explain();
    },
    pick,
    enter: () => painting(chosen) && paintCell(chosen, now.allowed(chosen.i, chosen.j)),
    typed: (by) => isValue(chosen) && setValue(numberAt(chosen) + by),
    drag: {
      start(position) {
        painted = painting(position) ? now.allowed(position.i, position.j) : null;
        const takes = painted !== null || (model.get("brush") === "value" && isValue(position));
        if (takes) pick(position, true);
        if (painted !== null) paintCell(position, painted);
        else if (takes) from = numberAt(position);
        return takes;
      },
      move(position, dy) {
        if (painted === null) setValue(from - dy * 0.02);
        else if (position?.part === "weights" && now.allowed(position.i, position.j) === painted)
          paintCell(position, painted);
      },
    },
  });

  const box = frame(model, el, stops, {
    names,
    top: sentence(model, stops, tokenizer),
    controls: [...Object.values(bar), padding.element, tabs],
    picture: plane.element,
    key: shareKey(),
    numbers: () => (now.labels.length ? tables() : []),
  });

  const square = (A) =>
    now.labels.map((label, i) => [
      label,
      ...[...row(A, i)].map((w, j) => (now.allowed(i, j) ? fixed(w, 4) : "masked")),
    ]);
  const tables = () => [
    { title: "The weights", head: ["query \\ key", ...now.labels], rows: square(now.weights) },
    { title: "The scores", head: ["query \\ key", ...now.labels], rows: square(now.scores) },
    {
      title: "The output of all heads, side by side",
      head: ["token", ...Array.from({ length: now.heads.length * now.Q.cols }, (_, t) => `${Math.floor(t / now.Q.cols)}.${t % now.Q.cols}`)], // prettier-ignore
      rows: now.labels.map((label, i) => [label, ...now.heads.flatMap(({ output }) => [...row(output, i)].map((o) => fixed(o, 3)))]), // prettier-ignore
    },
  ];

  function explain() {
    plane.redraw();
    if (!now.labels.length) return box.say("Type a sentence.");
    const { part, i, j } = passing ?? chosen;
    const { labels, scores, weights, Q, K, entropy } = now;
    const n = labels.length;
    const bold = (text) => h("b", {}, text);
    if (document.activeElement !== value) {
      value.disabled = !isValue(chosen);
      value.value = isValue(chosen) ? Number(numberAt(chosen).toFixed(3)) : "";
    }
    if (part !== "weights") {
      const own = nameOf({ part, i, j }) in model.get("values");
      const what = part === "output" ? "Σ weight × value" : own ? "set by you" : `row of X · column of W_${part}`;
      return box.say([`${part}[${labels[i]}, ${j}] = `, bold(fixed(numberAt({ part, i, j }), 4))], what);
    }
    const factor = Number(scaleOf(now.state).toFixed(4));
    const product = dot(row(Q, i), row(K, j));
    const first = [`“${labels[i]}” asks “${labels[j]}”: score `, bold(fixed(scores.data[i * n + j], 2))];
    first.push(` = q · k × ${factor} = ${fixed(product, 2)} × ${factor}`);
    const none = labels.every((_, k) => !now.allowed(i, k));
    const was = now.before ? now.before.data[i * n + j] : weights.data[i * n + j];
    const share = weights.data[i * n + j];
    box.say(
      first,
      none
        ? ["Every key is hidden: all weights of “", labels[i], "” are ", bold("0"), ", and so is its output."]
        : [
            "weight ",
            bold(fixed(share, 3)),
            now.allowed(i, j) ? "" : " (hidden)",
            `; entropy of the row ${fixed(entropy[i], 2)} nats`,
            Math.abs(was - share) < 5e-4 ? "" : h("b", { class: "mh-of-changed" }, `; before ${fixed(was, 3)}`),
          ],
    );
  }

  stops.push(
    watch(model, names, () => {
      const state = Object.fromEntries(names.map((name) => [name, model.get(name)]));
      const ids = read(state.text).slice(0, state.n);
      const n = ids.length;
      const layer = Math.min(state.layer, N - 1);
      state.d_k = Math.min(state.d_k, Math.floor(D / state.n_heads));
      const mask = ownMask(n, state);
      const heads = ownHeads(
        streams(ids.join(), layer),
        projections(layer, state.projections, state.seed),
        mask,
        state,
      );
      const head = Math.min(state.head, heads.length - 1);
      const labels = ids.map((id) => show(tokenizer, id));
      const same = now && now.labels.join() === labels.join() && now.head === head;
      const changed = now && now.weights.data.some((w, c) => w !== heads[head].weights.data[c]);
      if (changed || !same) before = same ? now.weights : null;
      const last = (at) => Math.max(0, Math.min(at, n - 1));
      const [query, key] = [last(state.query), last(state.key)];
      const allowed = (i, j) => !mask || mask.data[i * n + j] === 1;
      now = {
        ...heads[head],
        ...{ heads, head, labels, mask, allowed, query, key, before, state, shown: state.shown },
      };
      const i = { weights: query, K: key, V: key }[chosen.part] ?? query;
      chosen = { part: chosen.part, i, j: chosen.part === "weights" ? key : Math.min(chosen.j, now.Q.cols - 1) };
      passing = null;
      bar.window.hidden = state.mask !== "window";
      bar.factor.hidden = state.scale !== "factor";
      value.hidden = state.brush !== "value";
      padding.element.hidden = state.mask !== "padding";
      padding.update(labels.map((label, j) => ({ label, on: state.padding.includes(j) })));
      headTabs(heads.length);
      explain();
      box.changed();
    }),
  );

  function headTabs(count) {
    tabs.hidden = count < 2;
    if (tabs.dataset.count === String(count)) return;
    tabs.dataset.count = count;
    const own = [];
    tabs.replaceChildren(segments(model, "head", own, { label: "head", options: Array.from({ length: count }, (_, k) => [k, String(k)]) })); // prettier-ignore
    stops.push(...own);
  }

  return () => stops.forEach((stop) => stop());
}
