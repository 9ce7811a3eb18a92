// Chapter 3: one head, drawn as the products it is made of; every number opens to its arithmetic.

import { fixed } from "../../math/format.js";
import { headMask, headWeights, singleHead } from "../../math/single-head.js";
import { row } from "../../math/tensor.js";
import { menu, segments, sentence, toolbar } from "../../parts/bar.js";
import { largestSize } from "../../parts/cells.js";
import { assign, cached, h, watch } from "../../parts/dom.js";
import { frame, shareKey } from "../../parts/frame.js";
import { show } from "../../parts/tokens.js";
import { withModel } from "../../parts/with-model.js";
import { headPicture } from "./picture.js";
import { streamPicture } from "./stream.js";
import { explain } from "./words.js";

const NAMES = ["text", "layer", "head", "mask", "padding", "weights_from", "seed", "query", "key", "shown"];

export default function view(model, el) {
  return withModel(model, el, (course) => build(model, el, course));
}

function build(model, el, { transformer, tokenizer, read }) {
  const stops = [];
  const { n_layers: N, n_heads: H } = transformer.config;
  const streamBefore = cached((key, layer) => {
    const later = Array.from({ length: N - layer }, (_, i) => layer + i);
    const ids = key.split(",").filter(Boolean).map(Number);
    return transformer.forward(ids, { ablate: { layers: later }, head: false }).output;
  });
  const weightsOf = cached((layer, head, weights, seed) => headWeights(transformer, { layer, head, weights, seed }));
  let now = null;
  let chosen = { part: "weights", i: 0, j: 0 }; // what the readout explains
  let passing = null; // what the pointer is over

  const numbered = (count) => Array.from({ length: count }, (_, i) => [i, String(i)]);
  const padding = toolbar({
    label: "tokens that are padding",
    flip: (j) => {
      const others = model.get("padding").filter((k) => k !== j);
      const on = others.length === model.get("padding").length;
      assign(model, { padding: on ? [...others, j].sort((a, b) => a - b) : others });
    },
  });
  const shown = segments(model, "shown", stops, { label: "", options: model.get("limits").shown.options.map((o) => [o, o]) }); // prettier-ignore
  shown.setAttribute("aria-label", "the matrix shows");

  const peek = (position) => {
    passing = position;
    explainIt();
  };
  const pick = (position) => {
    chosen = position;
    passing = null;
    const { part, i, j } = position;
    const asked = { weights: { query: i, key: j }, K: { key: i }, V: { key: i } }[part] ?? { query: i };
    assign(model, asked);
    explainIt();
  };
  const picture = headPicture(stops, {
    now: () => now,
    at: () => passing ?? chosen,
    chosen: () => chosen,
    peek,
    pick,
    shown,
  });
  const stream = streamPicture(stops, { now: () => now, peek, pick });

  const box = frame(model, el, stops, {
    names: NAMES,
    top: sentence(model, stops, tokenizer),
    controls: [
      segments(model, "layer", stops, { label: "layer", options: numbered(N) }),
      segments(model, "head", stops, { label: "head", options: numbered(H) }),
      segments(model, "mask", stops, { label: "mask", options: model.get("limits").mask.options.map((o) => [o, o]) }),
      menu(model, "weights_from", stops, {
        label: "projections",
        shown: false,
        options: model.get("limits").weights_from.options.map((o) => [o, o]),
      }),
      padding.element,
    ],
    picture: picture.element,
    key: shareKey(),
    more: [{ label: "adds to the stream", element: stream.element }],
    numbers: () => (now.labels.length ? tables() : []),
  });

  function tables() {
    const { terms } = explain(now, chosen);
    const { labels, weights } = now;
    return [
      terms && { title: `The products of ${name(chosen)}`, ...terms },
      {
        title: "The weights",
        head: ["query \\ key", ...labels],
        rows: labels.map((label, i) => [
          label,
          ...[...row(weights, i)].map((w, j) => (now.allowed(i, j) ? fixed(w, 4) : "masked")),
        ]),
      },
    ].filter(Boolean);
  }
  const name = ({ part, i, j }) => {
    const { labels } = now;
    return part === "weights" ? `“${labels[i]}” · “${labels[j]}”` : `${part}[${labels[i]}, ${j}]`;
  };

  function explainIt() {
    if (!now.labels.length) {
      box.say("Type a sentence.");
      picture.redraw();
      return;
    }
    const { said, more } = explain(now, passing ?? chosen);
    box.say(said, more);
    picture.redraw();
  }

  let before = null; // the weights as they were before the last change of a control
  stops.push(
    watch(model, NAMES, () => {
      const ids = read(model.get("text"));
      const n = ids.length;
      const layer = Math.min(model.get("layer"), N - 1);
      const X = streamBefore(ids.join(), layer);
      const mask = headMask(n, model.get("mask"), model.get("padding"));
      const W = weightsOf(layer, Math.min(model.get("head"), H - 1), model.get("weights_from"), model.get("seed"));
      const labels = ids.map((id) => show(tokenizer, id));
      const head = singleHead(X, W, mask);
      const same = now?.labels.join() === labels.join();
      if (now && !equal(now.weights, head.weights)) before = same ? now.weights : null;
      const last = (at) => Math.max(0, Math.min(at, n - 1));
      const [query, key] = [last(model.get("query")), last(model.get("key"))];
      now = {
        ...head,
        ...{ X, W, mask, labels, layer, query, key, before },
        shown: model.get("shown"),
        sizes: {
          scores: largestSize(head.scores),
          feature: largestSize(head.Q, head.K),
          value: largestSize(head.V, head.output),
        },
        allowed: (i, j) => !mask || mask.data[i * n + j] === 1,
      };
      const rowOf = { weights: query, K: key, V: key }[chosen.part] ?? query;
      const columns = { weights: n, Q: head.Q.cols, K: head.K.cols }[chosen.part] ?? head[chosen.part]?.cols ?? X.cols;
      chosen = {
        part: chosen.part,
        i: rowOf,
        j: chosen.part === "weights" ? key : Math.max(0, Math.min(chosen.j, columns - 1)),
      };
      passing = null;
      padding.element.hidden = model.get("mask") !== "padding";
      padding.update(labels.map((label, j) => ({ label, on: model.get("padding").includes(j) })));
      explainIt();
      stream.redraw();
      box.changed();
    }),
  );
  return () => stops.forEach((stop) => stop());
}

const equal = (A, B) => A.rows === B.rows && A.data.every((value, c) => value === B.data[c]);
