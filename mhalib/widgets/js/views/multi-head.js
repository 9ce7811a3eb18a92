// Chapter 5: several heads side by side; switch them off and see what was lost.

import { choice, resetButton, tick } from "../controls.js";
import { idsOf, sentenceBox, show, withModel } from "../course.js";
import { assign, fixed, h, rich, say, watch } from "../dom.js";
import { evaluator } from "../evaluation.js";
import { causalMask } from "../attention.js";
import { colourKey, heatmap } from "../heatmap.js";
import { losses } from "../model.js";
import { dataTable } from "../table.js";
import { mean, row } from "../tensor.js";
import { beforeAfter, predictions, relationBars } from "./parts.js";

const NAMES = ["text", "layer", "causal", "heads_off", "n_heads"];

export default function view(model, el) {
  return withModel(model, el, (course) => build(model, el, course), "n_heads");
}

function build(model, el, { transformer, tokenizer }) {
  const stops = [];
  const { n_layers: N, n_heads: H, d_model: d, d_k: dK } = transformer.config;
  const evaluation = evaluator(transformer, tokenizer, model.get("evaluation"));
  const baseline = evaluator(transformer, tokenizer, model.get("evaluation"));
  stops.push(evaluation.stop, baseline.stop);
  let whole = null;
  let now;
  let at = null;

  const isOff = (head) => model.get("heads_off").some(([l, k]) => l === model.get("layer") && k === head);
  const heads = Array.from({ length: H }, (_, k) => {
    const map = heatmap({
      label: `Weights of head ${k + 1}`,
      onMove: (i, j) => {
        at = [i, j];
        point();
      },
    });
    const box = h("input", {
      type: "checkbox",
      onchange: () => {
        const others = model.get("heads_off").filter(([l, other]) => l !== model.get("layer") || other !== k);
        assign(model, { heads_off: box.checked ? others : [...others, [model.get("layer"), k]].sort((a, b) => a[0] - b[0] || a[1] - b[1]) });
      },
    });
    const panel = h("div", { class: "mh-panel mh-head", "data-head": k % 8 }, h("label", { class: "mh-tick" }, box, h("span", {}, `head ${k + 1}`)), map.element);
    return { map, box, panel };
  });

  const columns = h("div", { class: "mh-split-bar", "aria-hidden": "true" }, Array.from({ length: d }, (_, t) => h("span", { "data-head": Math.floor((t * H) / d) % 8 })));
  const splitNote = h("p", { class: "mh-note" }, rich(`the ${d} columns of \`X\` \`W_Q\`: \`h\` = ${H} blocks of \`d_k\` = ${dK} columns, one a head`));
  const pointed = h("p", { class: "mh-readout", "aria-live": "polite" });
  const lossText = h("p", { class: "mh-readout", "aria-live": "polite" });
  const next = predictions();
  const relations = relationBars();
  const measuring = h("p", { class: "mh-note", "aria-live": "polite" });
  const table = dataTable("The weights of all heads at the chosen query", () => ({
    head: ["key", ...heads.map((_, k) => `head ${k + 1}`)],
    rows: now.labels.map((label, j) => [label, ...now.layer.weights.map((w) => fixed(row(w, at?.[0] ?? 0)[j], 4))]),
  }));
  const variants = Object.keys(model.get("variants"));

  el.append(
    h(
      "div",
      { class: "mh-controls" },
      sentenceBox(model, stops, tokenizer),
      h(
        "div",
        { class: "mh-row" },
        variants.length > 1 ? choice(model, "n_heads", stops, { label: "`h` (a model trained with each)", options: Object.fromEntries(variants.map((v) => [v, v])), number: true }) : null,
        choice(model, "layer", stops, { label: "layer", options: Object.fromEntries(Array.from({ length: N }, (_, i) => [i, String(i + 1)])), number: true }),
        tick(model, "causal", stops, { label: "causal mask" }),
        resetButton(model, NAMES),
      ),
    ),
    h("div", {}, columns, splitNote),
    h("div", { class: "mh-heads", "data-count": H }, heads.map(({ panel }) => panel)),
    h("div", { class: "mh-panel" }, pointed, colourKey("share")),
    beforeAfter("the whole model", "with the heads you switched off"),
    h(
      "div",
      { class: "mh-grid-2" },
      h("div", { class: "mh-panel" }, h("p", { class: "mh-title" }, "what comes next"), next.element, lossText),
      h("div", { class: "mh-panel" }, h("p", { class: "mh-title" }, "loss by relation"), relations.element, measuring),
    ),
    table.element,
  );

  function point() {
    if (!now.labels.length) return;
    const n = now.labels.length;
    const [i, j] = at.map((value) => Math.min(value, n - 1));
    at = [i, j];
    for (const { map } of heads) map.mark([[i, 0, 1, n], [i, j, 1, 1, "mh-strong"]]);
    const shares = now.layer.weights.map((w, k) => `head ${k + 1}: ${fixed(w.data[i * n + j], 3)}`).join(", ");
    say(pointed, `“${now.labels[i]}” looks at “${now.labels[j]}”: ${shares}`);
    next.update(tokenizer, `after “${now.labels[i]}”`, row(now.full.probabilities, i), {
      after: now.changed && row(now.changed.probabilities, i),
    });
    table.update();
  }

  stops.push(
    watch(model, NAMES, () => {
      const ids = idsOf(tokenizer, model.get("text"));
      const labels = ids.map((id) => show(tokenizer, id));
      const off = model.get("heads_off").filter(([l, k]) => l < N && k < H);
      const ablate = { heads: off, mask: !model.get("causal") };
      const layer = Math.min(model.get("layer"), N - 1);
      const full = transformer.forward(ids, { ablate: { mask: ablate.mask } });
      const changed = off.length ? transformer.forward(ids, { ablate }) : null;
      now = { labels, full, changed, layer: (changed ?? full).layers[layer] };
      const mask = model.get("causal") ? causalMask(ids.length) : null;
      heads.forEach(({ map, box, panel }, k) => {
        map.update({ matrix: now.layer.weights[k], mask, rows: labels, cols: labels });
        box.checked = !isOff(k);
        panel.classList.toggle("mh-off", isOff(k));
      });
      const bats = labels.indexOf("bats");
      at ??= bats < 0 ? [Math.max(0, labels.length - 3), 0] : [Math.max(0, labels.lastIndexOf("the")), bats];
      point();
      const loss = (trace) => fixed(mean(losses(trace)), 3);
      say(lossText, labels.length < 2 ? "" : `loss of this sentence: ${loss(full)} nats a token${changed ? `, with heads off ${loss(changed)}` : ""}`);
      say(measuring, "measuring …");
      const showRelations = (measured) => {
        relations.update(whole, measured);
        say(measuring, `nats a word, on ${model.get("evaluation").length} texts the model has not seen`);
      };
      if (off.length || ablate.mask) {
        evaluation.run(ablate, (measured) => (whole ? showRelations(measured) : baseline.run({}, (w) => showRelations(measured, (whole = w)))));
      } else if (whole) showRelations(null);
      else {
        evaluation.run({}, (measured) => {
          whole = measured;
          showRelations(null);
        });
      }
    }),
  );
  return () => stops.forEach((stop) => stop());
}
