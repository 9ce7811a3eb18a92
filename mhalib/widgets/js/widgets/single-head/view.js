// Chapter 3: one head, every number of it open to its arithmetic.

import { chips, choice, resetButton } from "../../parts/controls.js";
import { idsOf, sentenceBox, show, withModel } from "../../parts/course.js";
import { fixed, fmt } from "../../math/format.js";
import { cached, h, rich, say, watch } from "../../parts/dom.js";
import { headMask, headWeights, singleHead } from "../../math/single-head.js";
import { colourKey, heatmap, largestSize } from "../../parts/heatmap.js";
import { dataTable } from "../../parts/table.js";
import { dot, row } from "../../math/tensor.js";
import { firstCell, shape } from "../../parts/predictions.js";

const SHAPES = {
  Q: "`n` × `d_k`",
  K: "`n` × `d_k`",
  V: "`n` × `d_v`",
  scores: "`n` × `n`",
  weights: "`n` × `n`",
  output: "`n` × `d_v`",
  X: "`n` × `d_model`",
  correction: "`n` × `d_model`",
  sum: "`n` × `d_model`",
};
const NAMES = ["text", "layer", "head", "mask", "padding", "weights_from", "seed"];

export default function view(model, el) {
  return withModel(model, el, ({ transformer, tokenizer }) => build(model, el, transformer, tokenizer));
}

function build(model, el, transformer, tokenizer) {
  const stops = [];
  const { n_layers: N, n_heads, d_k: dK } = transformer.config;
  const read = cached((key, layer) => {
    const later = Array.from({ length: N - layer }, (_, i) => layer + i);
    return transformer.forward(key.split(",").filter(Boolean).map(Number), { ablate: { layers: later }, head: false })
      .output;
  });
  const weightsOf = cached((layer, head, weights, seed) => headWeights(transformer, { layer, head, weights, seed }));
  let now;
  let chosen;

  const maps = {};
  const shapes = {};
  const panel = (key, title, note) => {
    maps[key] = heatmap({
      label: title.replaceAll("`", ""),
      onMove: (i, j) => {
        chosen = [key, i, j];
        explain();
      },
    });
    shapes[key] = h("span", { class: "mh-shape" });
    return h(
      "div",
      { class: "mh-panel" },
      h("p", { class: "mh-title" }, rich(title)),
      maps[key].element,
      h("p", { class: "mh-note" }, rich(note), " ", shapes[key]),
    );
  };
  const words = h("p", { class: "mh-readout mh-arithmetic", "aria-live": "polite" });
  const terms = h("div", { class: "mh-terms", tabindex: 0, role: "region", "aria-label": "the products" });
  const padding = chips(model, "padding", "padding: tokens nobody may look at");
  const table = dataTable("The weights in numbers", () => ({
    head: ["query \\ key", ...now.labels],
    rows: now.labels.map((label, i) => [
      label,
      ...[...row(now.weights, i)].map((w, j) => (now.allowed(i, j) ? fixed(w, 4) : "masked")),
    ]),
  }));
  const options = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [i, String(i)]));

  el.append(
    h(
      "div",
      { class: "mh-controls" },
      sentenceBox(model, stops, tokenizer),
      h(
        "div",
        { class: "mh-row" },
        choice(model, "mask", stops, {
          label: "mask",
          options: { none: "none", causal: "causal", padding: "padding" },
        }),
        choice(model, "weights_from", stops, { label: "weights", options: { trained: "trained", random: "random" } }),
        choice(model, "layer", stops, { label: "layer", options: options(N), number: true }),
        choice(model, "head", stops, { label: "head", options: options(n_heads), number: true }),
        resetButton(model, NAMES),
      ),
      padding.element,
    ),
    h(
      "div",
      { class: "mh-grid-3" },
      panel("Q", "queries `Q` = `X` `W_Q`", "what each token looks for"),
      panel("K", "keys `K` = `X` `W_K`", "what each token offers"),
      panel("V", "values `V` = `X` `W_V`", "what each token hands over"),
    ),
    h(
      "div",
      { class: "mh-grid-2" },
      panel("scores", "scores `Q` `K`ᵀ / √`d_k`", "row: who asks; column: who is asked"),
      panel("weights", "weights = softmax of each row", "shares of attention; each row sums to 1"),
    ),
    h(
      "div",
      { class: "mh-grid-2" },
      panel("output", "output `O` = weights · `V`", "each row mixes the rows of V"),
      h(
        "div",
        { class: "mh-panel" },
        h("p", { class: "mh-title" }, "colours"),
        colourKey("share"),
        h("p", { class: "mh-note" }, "blue: positive, orange: negative, stronger: larger"),
        table.element,
      ),
    ),
    h(
      "div",
      { class: "mh-grid-3" },
      panel("X", "the stream `X`", "what the head reads"),
      panel("correction", "correction = `O` `W_O`", "what this head adds"),
      panel("sum", "`X` + `O` `W_O`", "the stream with it added"),
    ),
    h("div", { class: "mh-panel mh-explain" }, words, terms),
  );

  function explain() {
    const [key, i, j] = chosen;
    const { Q, K, V, scores, weights, output, labels, X, W } = now;
    const n = labels.length;
    const outlines = Object.fromEntries(Object.keys(maps).map((name) => [name, []]));
    const at = (name, a, b) => outlines[name].push([a, b, 1, 1, "mh-strong"]);
    const wholeRow = (name, a) =>
      outlines[name].push([a, 0, 1, name === "scores" || name === "weights" ? n : now[name].cols]);
    const wholeColumn = (name, b) => outlines[name].push([0, b, n, 1]);
    at(key, i, j);
    let list = [];
    if (key === "Q" || key === "K" || key === "V") {
      const w = W[`W_${key}`];
      list = [...row(X, i)].map((x, t) => ({ name: `feature ${t}`, a: x, b: w.data[t * w.cols + j] }));
      say(
        words,
        `${key}[${labels[i]}, ${j}] = row of X · column ${j} of W_${key} = sum of ${list.length} products = ${fixed(now[key].data[i * w.cols + j], 4)}`,
      );
      wholeRow("X", i);
      if (key !== "V") wholeRow("scores", key === "Q" ? i : 0);
      if (key === "K") {
        outlines.scores.length = 0;
        wholeColumn("scores", i);
      }
    } else if (key === "scores") {
      wholeRow("Q", i);
      wholeRow("K", j);
      at("weights", i, j);
      list = [...row(Q, i)].map((q, t) => ({ name: `feature ${t}`, a: q, b: row(K, j)[t] }));
      const product = dot(row(Q, i), row(K, j));
      const tail = now.allowed(i, j) ? "" : " The mask hides this key: its weight is 0, whatever the score.";
      say(
        words,
        `score of “${labels[i]}” for “${labels[j]}” = q · k / √${dK} = ${fixed(product, 4)} / ${fixed(Math.sqrt(dK), 4)} = ${fixed(scores.data[i * n + j], 4)}.${tail}`,
      );
    } else if (key === "weights") {
      wholeRow("scores", i);
      at("scores", i, j);
      wholeRow("V", j);
      wholeRow("output", i);
      const s = [...row(scores, i)].map((v, k) => (now.allowed(i, k) ? v : -Infinity));
      const maximum = Math.max(...s);
      const total = s.reduce((sum, v) => sum + Math.exp(v - maximum), 0);
      say(
        words,
        now.allowed(i, j)
          ? `weight of “${labels[j]}” for “${labels[i]}” = exp(${fixed(s[j], 3)} − ${fixed(maximum, 3)}) / Σ exp = ${fmt(Math.exp(s[j] - maximum), 4)} / ${fixed(total, 4)} = ${fmt(weights.data[i * n + j], 4)}`
          : s.some((v) => v > -Infinity)
            ? `“${labels[i]}” may not look at “${labels[j]}”: the score counts as −∞, and exp(−∞) = 0.`
            : `“${labels[i]}” may look at nobody: all its weights are 0, and so is its output.`,
      );
      list = [];
    } else if (key === "X") {
      for (const name of ["Q", "K", "V"]) wholeRow(name, i);
      const layer = model.get("layer");
      say(
        words,
        `X[${labels[i]}, ${j}] = ${fixed(X.data[i * X.cols + j], 4)}, from ${layer ? `layer ${layer - 1}` : "the embedding and the position"}`,
      );
    } else if (key === "correction") {
      wholeRow("output", i);
      const w = W.W_O;
      list = [...row(output, i)].map((o, t) => ({ name: `feature ${t}`, a: o, b: w.data[t * w.cols + j] }));
      say(
        words,
        `correction[${labels[i]}, ${j}] = row of the output · column ${j} of W_O = sum of ${list.length} products = ${fixed(now.correction.data[i * w.cols + j], 4)}`,
      );
    } else if (key === "sum") {
      at("X", i, j);
      at("correction", i, j);
      const [x, c, s] = [X, now.correction, now.sum].map((A) => fixed(A.data[i * A.cols + j], 4));
      say(words, `X + O · W_O at [${labels[i]}, ${j}] = ${x} + ${c} = ${s}. The other heads add theirs, too.`);
    } else {
      wholeRow("weights", i);
      wholeColumn("V", j);
      list = labels
        .map((label, k) => ({ name: label, a: row(weights, i)[k], b: row(V, k)[j] }))
        .filter(({ a }) => a !== 0);
      say(
        words,
        `output[${labels[i]}, ${j}] = Σ weight × value over ${list.length} token${list.length === 1 ? "" : "s"} = ${fixed(output.data[i * output.cols + j], 4)}`,
      );
    }
    for (const [name, each] of Object.entries(maps)) each.mark(outlines[name]);
    terms.replaceChildren(
      ...list
        .slice(0, 64)
        .map(({ name, a, b }) =>
          h(
            "span",
            { title: name },
            h("small", {}, name),
            ` ${fixed(a, 2)} × ${fixed(b, 2)} `,
            h("b", {}, fixed(a * b, 3)),
          ),
        ),
    );
  }

  stops.push(
    watch(model, NAMES, () => {
      const ids = idsOf(tokenizer, model.get("text"));
      const labels = ids.map((id) => show(tokenizer, id));
      const layer = Math.min(model.get("layer"), N - 1);
      const X = read(ids.join(), layer);
      const mask = headMask(ids.length, model.get("mask"), model.get("padding"));
      const W = weightsOf(layer, model.get("head"), model.get("weights_from"), model.get("seed"));
      now = {
        ...singleHead(X, W, mask),
        X,
        W,
        labels,
        allowed: (i, j) => !mask || mask.data[i * ids.length + j] === 1,
      };
      const feature = largestSize(now.Q, now.K);
      const rows = labels;
      for (const key of ["Q", "K"]) maps[key].update({ matrix: now[key], rows, kind: "signed", max: feature });
      const value = largestSize(now.V, now.output);
      for (const key of ["V", "output"]) maps[key].update({ matrix: now[key], rows, kind: "signed", max: value });
      maps.scores.update({
        matrix: now.scores,
        rows,
        cols: labels,
        kind: "signed",
        max: largestSize(now.scores),
        mask,
      });
      maps.weights.update({ matrix: now.weights, rows, cols: labels, mask });
      const stream = largestSize(now.X, now.sum);
      for (const key of ["X", "correction", "sum"])
        maps[key].update({ matrix: now[key], rows, kind: "signed", max: stream });
      for (const [key, names] of Object.entries(SHAPES)) shape(shapes[key], names, now[key]);
      padding.update(labels);
      padding.element.hidden = model.get("mask") !== "padding";
      chosen ??= ["weights", ...firstCell(labels)];
      chosen = [
        chosen[0],
        Math.min(chosen[1], labels.length - 1),
        chosen[0] === "scores" || chosen[0] === "weights" ? Math.min(chosen[2], labels.length - 1) : chosen[2],
      ];
      if (labels.length) explain();
      table.update();
    }),
  );

  return () => stops.forEach((stop) => stop());
}
