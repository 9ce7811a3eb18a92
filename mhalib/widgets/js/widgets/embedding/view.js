// Chapter 2: the map of the vocabulary, neighbours, and the code of the positions.

import { neighbours, principalPlane, sinusoidalPositions, unitRows } from "../../math/embedding.js";
import { fixed } from "../../math/format.js";
import { normals } from "../../math/normals.js";
import { dot, matrix, row } from "../../math/tensor.js";
import { menu, segments, slider } from "../../parts/bar.js";
import { assign, cached, h, watch } from "../../parts/dom.js";
import { frame } from "../../parts/frame.js";
import { show } from "../../parts/tokens.js";
import { withModel } from "../../parts/with-model.js";
import { wordMap } from "./map.js";
import { placePicture } from "./places.js";

const NAMES = ["shown", "word", "table", "n", "d_model", "seed"];
const SHOWN = 8;

export default function view(model, el) {
  return withModel(model, el, (course) => build(model, el, course));
}

function build(model, el, { transformer, tokenizer }) {
  const stops = [];
  const words = model.get("words"); // ids of the tokens on the map
  const labels = words.map((id) => show(tokenizer, id));
  const width = transformer.config.d_model;
  const trained = matrix(words.length, width);
  words.forEach((id, i) => trained.data.set(row(transformer.parameters.E, id), i * width));
  const rowsOf = cached((table, seed) => {
    const E = table === "random" ? matrix(words.length, width, normals(seed, words.length * width)) : trained;
    return { E, plane: principalPlane(unitRows(E)) };
  });
  const positions = cached(sinusoidalPositions);
  let now = null;
  let compared = null; // a neighbour in the list, by the keyboard
  let passing = null;
  let place = { part: "curve", i: 0, j: 8 };

  // Read from the model, not from what was drawn: two keys may come within a frame.
  const chosen = () => Math.max(0, words.indexOf(model.get("word")));
  const map = wordMap(stops, {
    now: () => now,
    chosen,
    at: () => passing ?? (compared === null ? null : { part: "list", i: compared }),
    peek(position) {
      passing = position;
      say();
    },
    pick({ part, i }) {
      compared = passing = null;
      assign(model, { word: words[part === "list" ? now.near[i][0] : i] });
      say();
    },
    compare(rank) {
      compared = rank;
      passing = null;
      say();
    },
  });
  const places = placePicture(stops, {
    now: () => now,
    at: () => passing ?? place,
    chosen: () => place,
    peek(position) {
      passing = position;
      say();
    },
    pick(position) {
      place = position;
      passing = null;
      compute();
    },
  });

  const steps = (from, to, by) => Array.from({ length: (to - from) / by + 1 }, (_, i) => from + by * i);
  const meaning = [
    menu(model, "word", stops, { label: "word", options: words.map((id, i) => [id, labels[i]]) }),
    segments(model, "table", stops, { label: "rows of E", options: [["trained", "trained"], ["random", "random"]] }), // prettier-ignore
  ];
  const sliders = [
    slider(model, "n", stops, { label: "`n`", steps: steps(2, 64, 1) }),
    slider(model, "d_model", stops, { label: "`d_model`", steps: steps(2, 128, 2) }),
  ];
  const tabs = segments(model, "shown", stops, { label: "", options: [["meaning", "meaning"], ["place", "place"]] }); // prettier-ignore
  tabs.setAttribute("aria-label", "what is shown");
  const box = frame(model, el, stops, {
    names: NAMES,
    controls: [tabs, ...meaning, ...sliders],
    picture: h("div", { class: "mh-picture" }, map.element, places.element),
    key: "blue: positive, orange: negative",
    numbers: () => (model.get("shown") === "meaning" ? wordTable() : placeTable()),
  });
  const wordTable = () => {
    const all = neighbours(now.E, now.chosen);
    return [
      {
        title: `All words by their cosine with “${labels[now.chosen]}”`,
        head: ["word", "cosine"],
        rows: all.map(([i, cosine]) => [labels[i], fixed(cosine, 4)]),
      },
    ];
  };
  const placeTable = () => [
    {
      title: `Position ${place.i} with every position`,
      head: ["position", `P[${place.i}] · P[k]`],
      rows: now.alike.map((value, k) => [k, fixed(value, 4)]),
    },
    {
      title: "The codes",
      head: ["position", ...Array.from({ length: now.P.cols }, (_, t) => t)].map(String),
      rows: Array.from({ length: now.P.rows }, (_, i) => [i, ...[...row(now.P, i)].map((value) => fixed(value, 3))]),
    },
  ];
  const bold = (text) => h("b", {}, text);

  function say() {
    if (model.get("shown") === "meaning") {
      map.redraw();
      const seen = passing ?? (compared === null ? { part: "list", i: 0 } : { part: "list", i: compared });
      box.say(...ofWords(seen.part === "list" ? now.near[seen.i][0] : seen.i));
    } else {
      places.redraw();
      box.say(...ofPlaces(passing ?? place));
    }
  }
  function ofWords(other) {
    const [a, b] = [row(now.E, now.chosen), row(now.E, other)];
    const [x, y] = [a, b].map((v) => Math.sqrt(dot(v, v)));
    const product = dot(a, b);
    if (other === now.chosen)
      return [["“", bold(labels[other]), "” is the chosen word."], `Its row of E has the length ${fixed(x, 2)}. Point at another word.`]; // prettier-ignore
    const rank = now.near.findIndex(([i]) => i === other);
    const where = rank < 0 ? "" : rank === 0 ? ", the nearest" : `, number ${rank + 1}`;
    return [
      [`“${labels[now.chosen]}” and “${labels[other]}”: cosine `, bold(fixed(product / (x * y), 3)), where],
      `= a · b / (|a| |b|) = ${fixed(product, 2)} / (${fixed(x, 2)} · ${fixed(y, 2)}), over all ${width} features`,
    ];
  }
  function ofPlaces({ part, i, j }) {
    const d = now.P.cols;
    if (part === "curve") {
      const all = d % 2 ? "" : ` = Σ cos(${Math.abs(i - j)} / 10000^(2t/${d})), t = 0 … ${d / 2 - 1}`;
      return [
        [`P[${i}] · P[${j}] = `, bold(fixed(now.alike[j], 3))],
        `the sum of ${d} products${all}: the same for all places ${Math.abs(i - j)} apart`,
      ];
    }
    const pair = j - (j % 2);
    const angle = i / 10000 ** (pair / d);
    return [
      [`position ${i}, column ${j}: `, bold(fixed(now.P.data[i * d + j], 4))],
      `= ${j % 2 ? "cos" : "sin"}(${i} / 10000^(${pair}/${d})) = ${j % 2 ? "cos" : "sin"}(${fixed(angle, 4)})`,
    ];
  }

  function compute() {
    const { E, plane } = rowsOf(model.get("table"), model.get("seed"));
    const P = positions(model.get("n"), model.get("d_model"));
    const i = Math.min(place.i, P.rows - 1);
    place = { part: place.part, i, j: Math.min(place.j, (place.part === "codes" ? P.cols : P.rows) - 1) };
    const alike = Array.from({ length: P.rows }, (_, k) => dot(row(P, i), row(P, k)));
    const word = chosen();
    now = { E, plane, labels, chosen: word, near: neighbours(E, word).slice(0, SHOWN), P, alike };
    compared = compared === null ? null : Math.min(compared, now.near.length - 1);
    passing = null;
    const words_ = model.get("shown") === "meaning";
    for (const each of [...meaning, map.element]) each.hidden = !words_;
    for (const each of [...sliders, places.element]) each.hidden = words_;
    say();
    box.changed();
  }
  stops.push(watch(model, NAMES, compute));
  return () => stops.forEach((stop) => stop());
}
