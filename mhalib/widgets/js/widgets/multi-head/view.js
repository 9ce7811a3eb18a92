// Chapter 5: several heads side by side; switch them off and see what was lost.

import { choice, resetButton, tick, valuesOf } from "../../parts/controls.js";
import { idsOf, sentenceBox, show, withModel } from "../../parts/course.js";
import { fixed } from "../../math/format.js";
import { assign, cached, h, rich, say, watch } from "../../parts/dom.js";
import { causalMask } from "../../math/attention.js";
import { colourKey, heatmap } from "../../parts/heatmap.js";
import { losses } from "../../math/model.js";
import { dataTable } from "../../parts/table.js";
import { mean, row } from "../../math/tensor.js";
import { beforeAfter, firstCell, predictions, relationLosses } from "../../parts/predictions.js";

const NAMES = ["text", "layer", "causal", "heads_off", "n_heads"];

export default function view(model, el) {
  const first = valuesOf(model, NAMES); // a new variant builds the view again
  return withModel(model, el, (course) => build(model, el, course, first), "n_heads");
}

function build(model, el, { transformer, tokenizer, variants }, first) {
  const stops = [];
  const { n_layers: N, n_heads: H, d_model: d, d_k: dK } = transformer.config;
  const full = cached((key, causal) => run(key, { mask: !causal }));
  const changed = cached((key, causal, off) => run(key, { mask: !causal, heads: JSON.parse(off) }));
  let now;
  let at = null;

  function run(key, ablate) {
    const trace = transformer.forward(key.split(",").filter(Boolean).map(Number), { ablate });
    return Object.assign(trace, { loss: trace.ids.length < 2 ? null : fixed(mean(losses(trace)), 3) });
  }

  const isOff = (head) => model.get("heads_off").some(([l, k]) => l === model.get("layer") && k === head);
  const heads = Array.from({ length: H }, (_, k) => {
    const map = heatmap({
      label: `Weights of head ${k}`,
      onMove: (i, j) => {
        at = [i, j];
        point();
      },
    });
    const box = h("input", {
      type: "checkbox",
      onchange: () => {
        const others = model.get("heads_off").filter(([l, other]) => l !== model.get("layer") || other !== k);
        assign(model, {
          heads_off: box.checked
            ? others
            : [...others, [model.get("layer"), k]].sort((a, b) => a[0] - b[0] || a[1] - b[1]),
        });
      },
    });
    const panel = h(
      "div",
      { class: "mh-panel mh-head", "data-head": k % 8 },
      h("label", { class: "mh-tick" }, box, h("span", {}, `head ${k}`)),
      map.element,
    );
    return { map, box, panel };
  });

  const columns = h(
    "div",
    { class: "mh-split-bar", "aria-hidden": "true" },
    Array.from({ length: d }, (_, t) => h("span", { "data-head": Math.floor((t * H) / d) % 8 })),
  );
  const splitNote = h(
    "p",
    { class: "mh-note" },
    rich(
      `the \`d_model\` = ${d} columns of \`X\` \`W_Q\` make \`h\` = ${H} blocks of \`d_k\` = ${dK}, one a head; each map below has \`n\` × \`n\` weights`,
    ),
  );
  const pointed = h("p", { class: "mh-readout", "aria-live": "polite" });
  const lossText = h("p", { class: "mh-readout", "aria-live": "polite" });
  const next = predictions();
  const relations = relationLosses(transformer, tokenizer, model.get("evaluation"));
  stops.push(relations.stop);
  const table = dataTable("The weights of all heads at the chosen query", () => ({
    head: ["key", ...heads.map((_, k) => `head ${k}`)],
    rows: now.labels.map((label, j) => [label, ...now.layer.weights.map((w) => fixed(row(w, at?.[0] ?? 0)[j], 4))]),
  }));

  el.append(
    h(
      "div",
      { class: "mh-controls" },
      sentenceBox(model, stops, tokenizer),
      h(
        "div",
        { class: "mh-row" },
        Object.keys(variants).length > 1
          ? choice(model, "n_heads", stops, {
              label: "`h` (a model trained with each)",
              options: Object.fromEntries(Object.keys(variants).map((v) => [v, v])),
              number: true,
            })
          : null,
        choice(model, "layer", stops, {
          label: "layer",
          options: Object.fromEntries(Array.from({ length: N }, (_, i) => [i, String(i)])),
          number: true,
        }),
        tick(model, "causal", stops, { label: "causal mask" }),
        resetButton(model, NAMES, first),
      ),
    ),
    h("div", {}, columns, splitNote),
    h(
      "div",
      { class: "mh-heads", "data-count": H },
      heads.map(({ panel }) => panel),
    ),
    h("div", { class: "mh-panel" }, pointed, colourKey("share")),
    beforeAfter("the whole model", "with the heads you switched off"),
    h(
      "div",
      { class: "mh-grid-2" },
      h("div", { class: "mh-panel" }, h("p", { class: "mh-title" }, "what comes next"), next.element, lossText),
      relations.element,
    ),
    table.element,
  );

  function point() {
    if (!now.labels.length) return;
    const n = now.labels.length;
    const [i, j] = at.map((value) => Math.min(value, n - 1));
    at = [i, j];
    for (const { map } of heads)
      map.mark([
        [i, 0, 1, n],
        [i, j, 1, 1, "mh-strong"],
      ]);
    const shares = now.layer.weights.map((w, k) => `head ${k}: ${fixed(w.data[i * n + j], 3)}`).join(", ");
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
      const causal = model.get("causal");
      const layer = Math.min(model.get("layer"), N - 1);
      now = { labels, full: full(ids.join(), causal), changed: null };
      if (off.length) now.changed = changed(ids.join(), causal, JSON.stringify(off));
      now.layer = (now.changed ?? now.full).layers[layer];
      const mask = causal ? causalMask(ids.length) : null;
      heads.forEach(({ map, box, panel }, k) => {
        map.update({ matrix: now.layer.weights[k], mask, rows: labels, cols: labels });
        box.checked = !isOff(k);
        panel.classList.toggle("mh-off", isOff(k));
      });
      at ??= firstCell(labels);
      point();
      const after = now.changed ? `, with heads off ${now.changed.loss}` : "";
      say(lossText, now.full.loss === null ? "" : `loss of this sentence: ${now.full.loss} nats a token${after}`);
      relations.update(off.length || !causal ? { heads: off, mask: !causal } : null);
    }),
  );
  return () => stops.forEach((stop) => stop());
}
