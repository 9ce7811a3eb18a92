// Chapter 6: the stream through the layers, two meanings of one word, what a change reaches.

import { fixed } from "../../math/format.js";
import { changes, cosines, stages, streamOf } from "../../math/stream.js";
import { matrix, row } from "../../math/tensor.js";
import { ranked } from "../../math/vocab.js";
import { menu, segments, sentence, toolbar } from "../../parts/bar.js";
import { assign, cached, watch } from "../../parts/dom.js";
import { frame, shareKey } from "../../parts/frame.js";
import { show, showExact } from "../../parts/tokens.js";
import { withModel } from "../../parts/with-model.js";
import { TABLE as IN_TABLE } from "./layout.js";
import { layersPicture } from "./picture.js";
import { explain } from "./words.js";

const WORDS = 5;
const NAMES = ["text", "other", "position", "replacement", "depth", "norm"];

export default function view(model, el) {
  // a new variant builds the view again, and Reset goes back to what there was at first
  const first = model.first ?? Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  return withModel(model, el, (course) => build(model, el, course, first), "norm");
}

function build(model, el, { transformer, tokenizer, variants, read }, first) {
  const stops = [];
  const { n_layers: N, norm } = transformer.config;
  // the sentence, the other one, the sentence with a token changed
  const [mine, others, swaps] = Array.from({ length: 3 }, () =>
    cached((key) => {
      const trace = transformer.forward(key.split(",").filter(Boolean).map(Number), { head: false });
      return { trace, list: stages(trace, norm) };
    }),
  );
  let now = null;
  let chosen = { part: "cosine", i: 0, j: 0 };
  let passing = null;
  let stage = 0; // the row that is read
  const layersTo = (stage) => Math.ceil(stage / 2); // layers that a stage needs

  const follow = toolbar({ label: "the token to follow", className: "mh-follow", flip: (j) => assign(model, { position: j }) }); // prettier-ignore
  const words = model.get("words").map((id) => [id, show(tokenizer, id)]);
  const picture = layersPicture(stops, {
    now: () => now,
    at: () => passing ?? chosen,
    chosen: () => chosen,
    peek(position) {
      passing = position;
      say();
    },
    pick(position) {
      chosen = position;
      if (position.part in IN_TABLE) {
        stage = position.i;
        assign(model, { depth: layersTo(stage) });
      }
      compute(); // another stage of the same layer changes no value
    },
  });
  const box = frame(model, el, stops, {
    names: NAMES,
    first,
    top: sentence(model, stops, tokenizer),
    controls: [
      follow.element,
      sentence(model, stops, tokenizer, { name: "other", label: "the other sentence" }),
      menu(model, "replacement", stops, { label: "put in its place", options: words }),
      Object.keys(variants).length > 1
        ? segments(model, "norm", stops, { label: "norm", options: [["post", "post"], ["pre", "pre"]] }) // prettier-ignore
        : null,
    ].filter(Boolean),
    picture: picture.element,
    key: shareKey({ masked: false }),
    numbers: () => (now.labels.length ? tables() : []),
  });

  const tables = () => {
    const named = now.list.map(([name]) => name);
    return [
      now.cosines && {
        title: "The cosines",
        head: ["stage", "cosine"],
        rows: now.cosines.map((value, s) => [named[s], fixed(value, 4)]),
      },
      {
        title: "Who notices: |change| / |vector|",
        head: ["stage", ...now.labels],
        rows: named.map((name, s) => [name, ...[...row(now.changes, s)].map((value) => fixed(value, 4))]),
      },
      {
        title: `The stream of “${now.labels[now.position]}”`,
        head: ["feature", ...named],
        rows: Array.from({ length: now.stream.cols }, (_, t) => [
          t,
          ...named.map((_, s) => fixed(now.stream.data[s * now.stream.cols + t], 4)),
        ]),
      },
    ].filter(Boolean);
  };

  function say() {
    picture.redraw();
    if (!now.labels.length) box.say("Type a sentence.");
    else box.say(...explain(now, passing ?? chosen));
  }

  /** The likeliest tokens after one vector of a stage. */
  function readAt(list, stage, position) {
    const vector = row(list[stage][1], position);
    const { logits, probabilities } = transformer.readOut(matrix(1, vector.length, vector));
    const shares = row(probabilities, 0);
    const largest = logits.data.reduce((most, value) => Math.max(most, value), -Infinity);
    const total = logits.data.reduce((sum, value) => sum + Math.exp(value - largest), 0);
    return ranked(shares)
      .slice(0, WORDS)
      .map((id) => ({ name: showExact(tokenizer, id), share: shares[id], logit: logits.data[id], largest, total }));
  }

  let before = null;
  function compute() {
    const ids = read(model.get("text"));
    const labels = ids.map((id) => show(tokenizer, id));
    const position = Math.max(0, Math.min(model.get("position"), ids.length - 1));
    follow.update(labels.map((label, j) => ({ label, on: j === position })));
    if (!ids.length) now = { labels };
    else {
      const depth = Math.min(model.get("depth"), N);
      if (layersTo(stage) !== depth) stage = 2 * depth;
      const { trace, list } = mine(ids.join());
      const otherIds = read(model.get("other"));
      const found = otherIds.indexOf(ids[position]);
      const otherList = found < 0 ? null : others(otherIds.join()).list;
      const swapped = swaps(ids.with(position, model.get("replacement")).join()).list;
      const moves = changes(list, swapped);
      const same = now?.labels.join() === labels.join() && now.position === position;
      const news = now?.changes?.data.some((value, c) => value !== moves.data[c]);
      if (news || !same) before = same ? now.changes : null;
      now = {
        ...{ labels, position, replaced: position, norm, trace, list, swapped, stage, before },
        stream: streamOf(list, position),
        cosines: otherList && cosines(list, position, otherList, found),
        pairs: (s) => [row(list[s][1], position), row(otherList[s][1], found)],
        changes: moves,
        instead: show(tokenizer, model.get("replacement")),
        next: readAt(list, stage, position),
        other: otherList && readAt(otherList, stage, found),
      };
      const { part } = chosen;
      const columns = { stream: now.stream.cols, change: ids.length }[part] ?? 1;
      if (part === "other" && !now.other) chosen = { part: "next", i: 0, j: 0 };
      else chosen = { part, i: part in IN_TABLE ? stage : chosen.i, j: Math.min(chosen.j, columns - 1) };
    }
    passing = null;
    say();
    box.changed();
  }
  stops.push(watch(model, NAMES, compute));
  return () => stops.forEach((stop) => stop());
}
