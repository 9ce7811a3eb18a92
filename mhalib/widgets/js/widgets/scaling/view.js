// Chapter 4: what the spread of the scores does to the softmax.

import { fixed, fmt } from "../../math/format.js";
import { drawSample, experiment, SCALES, statistics, SWEEP } from "../../math/scaling.js";
import { row } from "../../math/tensor.js";
import { button, segments, slider } from "../../parts/bar.js";
import { assign, cached, h, rich, watch } from "../../parts/dom.js";
import { frame } from "../../parts/frame.js";
import { MEASURES, scalingPicture } from "./picture.js";

const NAMES = ["d_k", "sigma", "n_keys", "scale", "seed"];
const BINS = 48;
const DRAWN = SWEEP.filter((_, i) => i % 2 === 0); // the powers of 2: enough for a small line
const D_K_STEPS = [...new Set(Array.from({ length: 81 }, (_, i) => Math.round(2 ** (i / 8))))];
const SIGMA_STEPS = Array.from({ length: 30 }, (_, i) => (i + 1) / 10);
const KEY_STEPS = Array.from({ length: 63 }, (_, i) => i + 2);
const SCALE_LABELS = { none: "none", sqrt_d_k: "√`d_k`", d_k: "`d_k`", sqrt_d_model: "√`d_model`" };
const DIVISORS = { ...SCALE_LABELS, none: "1" };

export default function scaling(model, el) {
  const stops = [];
  const sample = cached(drawSample);
  const measured = cached((seed, dK, sigma, nKeys, scale) => experiment(sample(seed), { dK, sigma, nKeys, scale }));
  const sweep = cached((seed, sigma, nKeys) =>
    Object.fromEntries(
      Object.keys(SCALES).map((scale) => [
        scale,
        DRAWN.map((dK) => statistics(sample(seed), { dK, sigma, nKeys, scale })),
      ]),
    ),
  );
  let now = null;
  let chosen = { part: "tile", j: 1 }; // the largest weight
  let passing = null;

  const picture = scalingPicture(stops, {
    now: () => now,
    at: () => passing ?? chosen,
    chosen: () => chosen,
    peek(position) {
      passing = position;
      say();
    },
    pick({ part, j, share }) {
      chosen = { part, j };
      passing = null;
      if (share !== undefined) assign(model, { d_k: Math.round(1024 ** share) });
      say();
    },
  });
  const box = frame(model, el, stops, {
    names: NAMES,
    controls: [
      segments(model, "scale", stops, { label: "divide by", options: Object.entries(SCALE_LABELS) }),
      slider(model, "d_k", stops, { label: "`d_k`", steps: D_K_STEPS }),
      slider(model, "sigma", stops, { label: "σ", steps: SIGMA_STEPS }),
      slider(model, "n_keys", stops, { label: "keys", steps: KEY_STEPS }),
      button("New sample", () => assign(model, { seed: (model.get("seed") + 1) % 2 ** 32 })),
    ],
    picture: picture.element,
    key: h("span", {}, rich("small charts: `d_k` from 1 to 1024, one line per divisor")),
    numbers: () => [
      {
        title: "The measures",
        head: ["measure", "value"],
        rows: [...MEASURES, ["theory", "variance in theory"]].map(([name, title]) => [title, fmt(now.result[name], 5)]),
      },
      {
        title: "The first query",
        head: ["key", "score", "weight"],
        rows: [...row(now.result.scores, 0)].map((s, j) => [j + 1, fixed(s, 4), fixed(now.result.weights.data[j], 6)]),
      },
    ],
  });

  const bold = (text) => h("b", {}, text);
  const EXPLAIN = {
    scores(j) {
      const { counts, half, result } = now;
      const width = (2 * half) / BINS;
      const [from, to] = [j, j + 1].map((k) => fmt(k * width - half));
      return [
        [bold(String(counts[j])), ` of ${result.scores.data.length} scores lie between ${from} and ${to}`],
        rich(`their variance is ${fmt(result.variance)}; in theory σ⁴ · \`d_k\` / divisor² = ${fmt(result.theory)}`),
      ];
    },
    weights(j) {
      const { result, dK, scale, nKeys } = now;
      const s = row(result.scores, 0);
      const largest = Math.max(...s);
      const total = s.reduce((sum, value) => sum + Math.exp(value - largest), 0);
      const factor = SCALES[scale](dK);
      return [
        [`key ${j + 1} of ${nKeys}: score `, bold(fixed(s[j], 2)), ", weight ", bold(fmt(result.weights.data[j]))],
        rich(`score = q · k / ${DIVISORS[scale]} = ${fixed(s[j] / factor, 2)} / ${fmt(1 / factor)}; weight = exp(${fixed(s[j], 2)} − ${fixed(largest, 2)}) / ${fixed(total, 3)}`), // prettier-ignore
      ];
    },
    tile(k) {
      const { result, dK, nKeys, scale } = now;
      const [key, title] = MEASURES[k];
      const notes = {
        variance: `theory: σ⁴ · \`d_k\` / divisor² = ${fmt(result.theory)}`,
        largest: `the average over 32 queries; an even share would be 1/${nKeys} = ${fmt(1 / nKeys)}`,
        entropy: `the average over 32 queries, in nats; at most ln ${nKeys} = ${fmt(Math.log(nKeys))}`,
        jacobian: "the average over 32 queries: how much gradient the softmax lets through",
      };
      const by = scale === "none" ? "without a divisor" : `divided by ${DIVISORS[scale]}`;
      return [[`${title} `, bold(fmt(result[key])), ...rich(` at \`d_k\` = ${dK}, ${by}`)], rich(notes[key])];
    },
  };

  function say() {
    picture.redraw();
    const { part, j } = passing ?? chosen;
    box.say(...EXPLAIN[part](j));
  }

  stops.push(
    watch(model, NAMES, () => {
      const [seed, dK, sigma, nKeys, scale] = ["seed", "d_k", "sigma", "n_keys", "scale"].map((name) => model.get(name)); // prettier-ignore
      const result = measured(seed, dK, sigma, nKeys, scale);
      const half = 2 ** Math.max(2, Math.ceil(Math.log2(3.2 * Math.sqrt(result.theory)))); // it grows by doubling
      const counts = new Array(BINS).fill(0);
      for (const s of result.scores.data) {
        const bin = Math.floor(((s + half) / (2 * half)) * BINS);
        if (bin >= 0 && bin < BINS) counts[bin] += 1;
      }
      now = { dK, sigma, nKeys, scale, result, half, counts, drawn: DRAWN, lines: sweep(seed, sigma, nKeys) };
      if (chosen.part === "weights") chosen.j = Math.min(chosen.j, nKeys - 1);
      passing = null;
      say();
      box.changed();
    }),
  );
  return () => stops.forEach((stop) => stop());
}
