// Chapter 5: several heads side by side; switch them off and see what was lost.

import { causalMask } from "../../math/attention.js";
import { fixed } from "../../math/format.js";
import { losses } from "../../math/model.js";
import { mean, row } from "../../math/tensor.js";
import { segments, sentence, toolbar } from "../../parts/bar.js";
import { assign, cached, h, watch } from "../../parts/dom.js";
import { frame, shareKey } from "../../parts/frame.js";
import { predictions, relationLosses } from "../../parts/predictions.js";
import { show } from "../../parts/tokens.js";
import { withModel } from "../../parts/with-model.js";
import { headsPicture } from "./picture.js";

const NAMES = ["text", "layer", "causal", "heads_off", "n_heads", "query", "key"];

export default function view(model, el) {
  return withModel(model, el, (course) => build(model, el, course), "n_heads");
}

function build(model, el, { transformer, tokenizer, variants, read }) {
  const stops = [];
  const { n_layers: N, n_heads: H, d_model: D, d_k: dK } = transformer.config;
  const run = (key, ablate) => {
    const trace = transformer.forward(key.split(",").filter(Boolean).map(Number), { ablate });
    return Object.assign(trace, { loss: trace.ids.length < 2 ? null : fixed(mean(losses(trace)), 3) });
  };
  const full = cached((key, causal) => run(key, { mask: !causal }));
  const changed = cached((key, causal, off) => run(key, { mask: !causal, heads: JSON.parse(off) }));
  let now = null;
  let passing = null; // what the pointer is over
  let drawn = null; // the weights as they were drawn
  // Read from the model, not from what was drawn: two keys may come within a frame.
  const place = (name) => Math.max(0, Math.min(model.get(name), now.labels.length - 1));
  const at = () => passing ?? { head: 0, i: place("query"), j: place("key") };

  const switches = toolbar({
    label: "heads of the layer",
    className: "mh-head-chips",
    flip(k) {
      const layer = Math.min(model.get("layer"), N - 1);
      const others = model.get("heads_off").filter(([l, other]) => l !== layer || other !== k);
      const on = others.length === model.get("heads_off").length;
      const off = on ? [...others, [layer, k]].sort((a, b) => a[0] - b[0] || a[1] - b[1]) : others;
      assign(model, { heads_off: off });
    },
  });
  const plane = headsPicture(stops, {
    now: () => now,
    at,
    switches: switches.element,
    peek(position) {
      passing = position;
      point();
    },
    pick({ i, j }) {
      passing = null;
      assign(model, { query: i, key: j });
      point();
    },
  });
  const next = predictions();
  let lost = null; // the relation that lost most
  const relations = relationLosses(transformer, tokenizer, model.get("evaluation"), (most) => {
    if (most === lost) return; // nothing was lost before, either: what is said stands
    lost = most;
    point();
  });
  stops.push(relations.stop);
  const lists = h(
    "div",
    { class: "mh-two" },
    h("div", {}, h("p", { class: "mh-title" }, "next word"), next.element),
    relations.element,
  );
  const choices = Object.keys(variants).map((value) => [Number(value), value]);
  const box = frame(model, el, stops, {
    names: NAMES,
    top: sentence(model, stops, tokenizer),
    controls: [
      choices.length > 1 && segments(model, "n_heads", stops, { label: "`h`", options: choices }),
      segments(model, "layer", stops, { label: "layer", options: Array.from({ length: N }, (_, i) => [i, String(i)]) }),
      segments(model, "causal", stops, { label: "mask", options: [[true, "causal"], [false, "none"]] }), // prettier-ignore
      h("span", { class: "mh-label" }, `${D} columns = ${H} × ${dK}`),
    ],
    picture: h("div", { class: "mh-heads-board" }, plane.element, lists),
    key: [
      ...shareKey(),
      h("span", { class: "mh-key-item mh-key-whole" }, "whole"),
      h("span", { class: "mh-key-item mh-key-changed" }, "changed"),
    ],
    numbers: () => [
      {
        title: `The weights of each head, asked by “${now.labels[place("query")] ?? ""}”`,
        head: ["key", ...now.weights.map((_, k) => `head ${k}`)],
        rows: now.labels.map((label, j) => [label, ...now.weights.map((w) => fixed(row(w, place("query"))[j], 4))]),
      },
    ],
  });

  function point() {
    plane.redraw();
    const { labels, weights, full: whole, changed: other } = now;
    lists.hidden = labels.length === 0;
    if (!labels.length) return box.say("Type a sentence.");
    const { i, j } = at();
    const few = weights.length <= 4; // more of them would be cut off
    const shares = weights.flatMap((w, k) => [few ? `${k ? ", " : ""}head ${k} ` : " ", h("b", {}, fixed(w.data[i * labels.length + j], 3))]); // prettier-ignore
    const loss = whole.loss === null ? "" : `loss of this sentence: ${whole.loss} nats a token`;
    box.say([`“${labels[i]}” looks at “${labels[j]}”: `, ...shares], [
      few ? "" : `heads 0 to ${weights.length - 1}; `,
      loss,
      other && h("b", { class: "mh-of-changed" }, `, with heads off ${other.loss}`),
    ].filter(Boolean), () => lost && `${lost[0]}: loss ${fixed(lost[1], 2)} → ${fixed(lost[2], 2)}`); // prettier-ignore
    next.update(tokenizer, `after “${labels[i]}”`, row(whole.probabilities, i), {
      after: other && row(other.probabilities, i),
    });
  }

  stops.push(
    watch(model, NAMES, () => {
      const ids = read(model.get("text"));
      const off = model.get("heads_off").filter(([l, k]) => l < N && k < H);
      const causal = model.get("causal");
      const layer = Math.min(model.get("layer"), N - 1);
      const whole = full(ids.join(), causal);
      const other = off.length ? changed(ids.join(), causal, JSON.stringify(off)) : null;
      const { weights } = (other ?? whole).layers[layer];
      const labels = ids.map((id) => show(tokenizer, id));
      const same = now?.labels.join() === labels.join();
      const before = drawn === weights ? now.before : same ? drawn : null;
      drawn = weights;
      const isOff = (k) => off.some(([l, other]) => l === layer && other === k);
      now = {
        ...{ labels, weights, before, full: whole, changed: other },
        mask: causal ? causalMask(ids.length) : null,
        off: weights.map((_, k) => isOff(k)),
      };
      passing = null;
      switches.update(now.off.map((gone, k) => ({ label: `head ${k}`, on: !gone, className: `mh-own-${k % 8}` })));
      point();
      relations.update(off.length || !causal ? { heads: off, mask: !causal } : null);
      box.changed();
    }),
  );
  return () => stops.forEach((stop) => stop());
}
