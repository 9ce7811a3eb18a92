// The whole machine: every stage at once, one number followed back, anything switched off.

import { causalMask } from "../../math/attention.js";
import { button, choice, pick, resetButton, valuesOf } from "../../parts/controls.js";
import { idsOf, sentenceBox, show, showExact, withModel } from "../../parts/course.js";
import { fixed, fmt } from "../../math/format.js";
import { assign, cached, fit, h, rich, say, set, watch } from "../../parts/dom.js";
import { colourKey, heatmap, largestSize } from "../../parts/heatmap.js";
import { losses } from "../../math/model.js";
import { nameOf, parse, Provenance } from "../../math/provenance.js";
import { dataTable } from "../../parts/table.js";
import { mean, row } from "../../math/tensor.js";
import { beforeAfter, predictions, relationLosses, shape } from "../../parts/predictions.js";

const NAMES = ["text", "position", "layer", "head", "off", "follow"];
const SWITCHES = {
  scale: "1/√`d_k`",
  mask: "causal mask",
  positions: "positions",
  embedding_scale: "×√`d_model`",
  residual: "residual",
  norm: "layer norm",
};
// stage of the trace → title, in the order of computation (post-norm)
const BEFORE = { embedded: "rows of `E`", positions: "positions", X: "`X` = their sum" };
const LAYER = {
  Q: "queries `Q`",
  K: "keys `K`",
  V: "values `V`",
  scores: "scores",
  weights: "weights",
  heads: "head output",
  concat: "concat of all heads",
  O: "`O` = concat · `W_O`",
  residual_1: "residual sum",
  norm_1: "layer norm",
  ffn_hidden: "feed-forward, inside",
  ffn: "feed-forward, out",
  residual_2: "residual sum",
  norm_2: "layer norm",
};
const PRE_NORM = [
  "norm_1",
  "Q",
  "K",
  "V",
  "scores",
  "weights",
  "heads",
  "concat",
  "O",
  "residual_1",
  "norm_2",
  "ffn_hidden",
  "ffn",
  "residual_2",
];
const PER_HEAD = ["Q", "K", "V", "scores", "weights", "heads"];
const SQUARE = ["scores", "weights"];
const WIDTHS = {
  Q: "`d_k`",
  K: "`d_k`",
  V: "`d_v`",
  scores: "`n`",
  weights: "`n`",
  heads: "`d_v`",
  concat: "`h`·`d_v`",
  ffn_hidden: "`d_ff`",
};

/** ["scale", "heads.0.1", "W_O.2", "layers.1"] as what `Transformer.forward` takes out. */
export function ablation(off, { n_layers: N, n_heads: H }) {
  const ablate = { heads: [], W_O: [], layers: [] };
  for (const name of off) {
    const [kind, layer, head] = name.split(".");
    if (Object.hasOwn(SWITCHES, kind)) ablate[kind] = true;
    else if (kind === "heads" && Number(layer) < N && Number(head) < H)
      ablate.heads.push([Number(layer), Number(head)]);
    else if (["W_O", "layers"].includes(kind) && Number(layer) < N) ablate[kind].push(Number(layer));
  }
  return ablate;
}

export default function view(model, el) {
  return withModel(model, el, (course) => build(model, el, course));
}

function build(model, el, { transformer, tokenizer }) {
  const stops = [];
  const { n_layers: N, n_heads: H, norm } = transformer.config;
  const order = norm === "pre" ? PRE_NORM : Object.keys(LAYER);
  const first = valuesOf(model, NAMES);
  const traced = (key, ablate) => {
    const trace = transformer.forward(key.split(",").map(Number), { ablate });
    const loss = trace.ids.length < 2 ? null : fixed(mean(losses(trace)), 3);
    return { trace, loss, source: new Provenance(transformer, trace, ablate) };
  };
  const whole = cached((key) => traced(key, {}));
  const changed = cached((key, off) => traced(key, ablation(JSON.parse(off), transformer.config)));
  let now;

  // what is switched on and off
  const boxes = new Map();
  const toggle = (name, label) => {
    const box = h("input", {
      type: "checkbox",
      onchange: () => {
        const others = model.get("off").filter((other) => other !== name);
        assign(model, { off: box.checked ? others : [...others, name].sort() });
      },
    });
    boxes.set(name, box);
    return h("label", {}, box, h("span", {}, rich(label)));
  };
  const board = h(
    "fieldset",
    { class: "mh-control mh-chips mh-board" },
    h("legend", {}, "switched on (press to switch off)"),
    h(
      "div",
      { class: "mh-chip-row" },
      Object.entries(SWITCHES).map(([name, label]) => toggle(name, label)),
    ),
    Array.from({ length: N }, (_, l) =>
      h(
        "div",
        { class: "mh-chip-row" },
        toggle(`layers.${l}`, `layer ${l}`),
        toggle(`W_O.${l}`, "`W_O`"),
        Array.from({ length: H }, (_, k) => toggle(`heads.${l}.${k}`, `head ${k}`)),
      ),
    ),
  );

  // the stages; `place`: the matrix that a picture shows
  const place = (stage) => ({
    stage,
    layer: Object.hasOwn(LAYER, stage) ? Math.min(model.get("layer"), N - 1) : null,
    head: PER_HEAD.includes(stage) ? Math.min(model.get("head"), H - 1) : null,
  });
  const follow = (ref) =>
    assign(model, {
      follow: nameOf(ref),
      ...(ref.layer === null ? {} : { layer: ref.layer }),
      ...(ref.head === null ? {} : { head: ref.head }),
    });
  const tiles = {};
  const tile = (stage, title) => {
    const refAt = (i, j) => ({ ...place(stage), i, j });
    const make = (side) =>
      heatmap({
        label: `${title.replaceAll("`", "")}, ${side}`,
        compact: true,
        onMove: (i, j, pressed) => {
          const ref = refAt(i, j);
          say(
            pointed,
            `${label(ref)}: ${fixed((side === "whole" ? now.whole.source : now.shown.source).value(ref), 4)}${side === "whole" && now.changed ? " in the whole model" : ""}`,
          );
          if (pressed || el.querySelector(":focus-visible") === maps[side].surface) follow(ref);
        },
      });
    const maps = { changed: make("changed"), whole: make("whole") };
    const gone = h("p", { class: "mh-note" }, "this layer is switched off");
    const size = h("p", { class: "mh-note" });
    tiles[stage] = { maps, gone, size };
    return h(
      "div",
      { class: "mh-panel mh-stage" },
      h("p", { class: "mh-title" }, rich(title)),
      h("div", { class: "mh-sides" }, maps.whole.element, maps.changed.element),
      gone,
      size,
    );
  };
  const pointed = h("p", { class: "mh-readout", "aria-live": "polite" });

  // one number followed back
  const path = h("p", { class: "mh-title", "aria-live": "polite" });
  const formula = h("p", { class: "mh-readout mh-arithmetic" });
  const terms = h("div", { class: "mh-terms mh-wrapped" });
  const trail = [];
  const back = button("◀ back", () => {
    trail.pop();
    const last = trail.pop();
    if (last) follow(parse(last));
  });

  const token = pick(model, "position", stops, "read the prediction after");
  const next = predictions({
    onPick: (id) => follow({ stage: "probabilities", layer: null, head: null, i: now.position, j: id }),
  });
  const lossText = h("p", { class: "mh-readout", "aria-live": "polite" });
  const relations = relationLosses(transformer, tokenizer, model.get("evaluation"));
  stops.push(relations.stop);
  const link = h("a", { class: "mh-button", href: "#" }, "link to this state");
  const numbers = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [i, String(i)]));
  const idsTable = h("ol", { class: "mh-tokens mh-ids" });
  const drawIds = (ids, position) => {
    fit(idsTable, ids.length, () =>
      h("li", { class: "mh-token" }, h("span", { class: "mh-piece" }, h("bdi")), h("span", { class: "mh-id" })),
    );
    ids.forEach((id, i) => {
      const item = idsTable.children[i];
      say(item.firstChild.firstChild, showExact(tokenizer, id));
      say(item.lastChild, String(id));
      set(item, { "data-tint": Number(i === position) });
    });
  };
  const table = dataTable("The followed number’s matrix", () => {
    const ref = parse(model.get("follow"));
    const A = now.shown.source.matrix(ref);
    if (!A) return { head: ["no such number here"], rows: [] };
    const columns = Math.min(A.cols, 64);
    return {
      head: [
        "token",
        ...Array.from({ length: columns }, (_, j) => (SQUARE.includes(ref.stage) ? now.labels[j] : String(j))),
      ],
      rows: Array.from({ length: A.rows }, (_, i) => [
        now.labels[i],
        ...[...row(A, i)].slice(0, columns).map((v) => fixed(v, 3)),
      ]),
    };
  });

  el.append(
    h(
      "div",
      { class: "mh-controls" },
      sentenceBox(model, stops, tokenizer),
      board,
      token.element,
      h("div", { class: "mh-row" }, resetButton(model, NAMES, first), model.get("_model") ? null : link),
    ),
    beforeAfter("the whole model", "with what you switched off"),
    h(
      "div",
      { class: "mh-grid-2" },
      h(
        "div",
        { class: "mh-panel" },
        h("p", { class: "mh-title" }, "what comes next (pick a word to follow its probability back)"),
        next.element,
        lossText,
      ),
      relations.element,
    ),
    h("div", { class: "mh-panel mh-explain mh-follow" }, h("div", { class: "mh-row" }, back, path), formula, terms),
    h("div", { class: "mh-panel" }, h("p", { class: "mh-title" }, "tokens and ids"), idsTable),
    h(
      "div",
      { class: "mh-stages" },
      Object.entries(BEFORE).map(([stage, title]) => tile(stage, title)),
    ),
    h(
      "div",
      { class: "mh-row" },
      choice(model, "layer", stops, { label: "layer", options: numbers(N), number: true }),
      choice(model, "head", stops, { label: "head", options: numbers(H), number: true }),
      pointed,
    ),
    h(
      "div",
      { class: "mh-stages" },
      order.map((stage) => tile(stage, LAYER[stage])),
    ),
    h(
      "div",
      { class: "mh-panel" },
      colourKey("signed"),
      h("p", { class: "mh-note" }, "1 stands for the largest number of a picture (for weights: for 1)"),
    ),
    table.element,
  );

  function label({ layer, stage, head, i, j }) {
    const where = [layer === null ? null : `layer ${layer}`, head === null ? null : `head ${head}`]
      .filter(Boolean)
      .join(", ");
    const column = SQUARE.includes(stage)
      ? `“${now.labels[j]}”`
      : stage === "logits" || stage === "probabilities"
        ? `“${showExact(tokenizer, j)}”`
        : j;
    const name =
      {
        heads: "head output",
        ffn_hidden: "feed-forward, inside",
        ffn: "feed-forward",
        norm_1: "norm",
        norm_2: "norm",
        residual_1: "residual sum",
        residual_2: "residual sum",
      }[stage] ?? stage;
    return `${where ? `${where}: ` : ""}${name}[“${now.labels[i]}”, ${column}]`;
  }

  function explain() {
    const name = model.get("follow");
    const ref = parse(name);
    if (trail.at(-1) !== name) trail.push(name);
    back.disabled = trail.length < 2;
    const found = now.shown.source.explain(ref);
    if (!found) {
      say(path, "Pick a number: a word above, or a cell of any picture below.");
      say(formula, "");
      terms.replaceChildren();
      return;
    }
    const before = now.changed ? now.whole.source.value(ref) : null;
    say(
      path,
      `${label(ref)} = ${fmt(found.value, 4)}${before === null || before === undefined ? "" : ` (whole model: ${fmt(before, 4)})`}`,
    );
    say(formula, found.formula);
    const shown = found.terms.slice(0, 12);
    const focused = terms.contains(document.activeElement);
    terms.replaceChildren(
      ...shown.map((term) =>
        h(
          "button",
          { type: "button", class: "mh-button mh-small", onclick: () => follow(term.ref) },
          `${label(term.ref)} ${fixed(now.shown.source.value(term.ref), 3)}`,
          term.factor === undefined
            ? ` ${term.what}`
            : ` ${term.what} ${fixed(term.factor, 3)} = ${fixed(term.product, 3)}`,
        ),
      ),
      found.terms.length > shown.length
        ? h("span", { class: "mh-note" }, `and ${found.terms.length - shown.length} smaller products`)
        : "",
    );
    if (focused) (terms.querySelector("button") ?? back).focus();
    for (const [stage, { maps }] of Object.entries(tiles)) {
      const { layer, head } = place(stage);
      const shows = (other) => other.stage === stage && other.layer === layer && other.head === head;
      const here = shows(ref);
      const come = found.terms.filter((term) => shows(term.ref)).slice(0, 12);
      for (const map of Object.values(maps)) {
        map.mark([...come.map((t) => [t.ref.i, t.ref.j, 1, 1]), ...(here ? [[ref.i, ref.j, 1, 1, "mh-strong"]] : [])]);
      }
    }
  }

  stops.push(
    watch(model, NAMES, () => {
      const off = model.get("off");
      const ids = idsOf(tokenizer, model.get("text"));
      const labels = ids.map((id) => show(tokenizer, id));
      token.update(labels);
      for (const [name, box] of boxes) box.checked = !off.includes(name);
      if (!ids.length) return;
      const position = Math.min(model.get("position"), ids.length - 1);
      const ablate = ablation(off, transformer.config);
      now = {
        labels,
        position,
        whole: whole(ids.join()),
        changed: off.length ? changed(ids.join(), JSON.stringify(off)) : null,
      };
      now.shown = now.changed ?? now.whole;

      for (const [stage, { maps, gone, size }] of Object.entries(tiles)) {
        const ref = place(stage);
        const pair = [now.whole.source.matrix(ref), now.changed?.source.matrix(ref)];
        const kind = stage === "weights" ? "share" : "signed";
        const max = kind === "share" ? 1 : largestSize(...pair.filter(Boolean));
        const mask = (open) => (SQUARE.includes(stage) && !open ? causalMask(ids.length) : null);
        shape(size, `\`n\` × ${WIDTHS[stage] ?? "`d_model`"}`, pair[0]);
        maps.whole.update({ matrix: pair[0], kind, max, mask: mask(false) });
        maps.changed.element.hidden = !pair[1];
        gone.hidden = !now.changed || Boolean(pair[1]);
        if (pair[1]) maps.changed.update({ matrix: pair[1], kind, max, mask: mask(ablate.mask) });
      }
      drawIds(ids, position);

      const followed = parse(model.get("follow"));
      next.update(tokenizer, `after “${labels[position]}”`, row(now.whole.trace.probabilities, position), {
        after: now.changed && row(now.changed.trace.probabilities, position),
        chosen: followed.stage === "probabilities" ? followed.j : null,
      });
      const after = now.changed ? `, with your switches ${now.changed.loss}` : "";
      say(lossText, now.whole.loss === null ? "" : `loss of this sentence: ${now.whole.loss} nats a token${after}`);
      explain();
      table.update();
      if (model.link) link.href = model.link();
      relations.update(off.length ? ablate : null);
    }),
  );
  return () => stops.forEach((stop) => stop());
}
