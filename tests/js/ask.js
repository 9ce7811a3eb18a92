// Answers questions from pytest: { what, … } as JSON on stdin, the answer as JSON on stdout.

import { readFileSync } from "node:fs";

import { byHand } from "../../mhalib/widgets/js/math/by-hand.js";
import { neighbours, principalPlane, unitRows } from "../../mhalib/widgets/js/math/embedding.js";
import { headMask, headWeights, singleHead } from "../../mhalib/widgets/js/math/single-head.js";
import { losses, unpack } from "../../mhalib/widgets/js/math/model.js";
import { word } from "../../mhalib/widgets/js/math/normals.js";
import { judge, laidOut, parse } from "../../mhalib/widgets/js/math/practice.js";
import { changes, cosines, stages } from "../../mhalib/widgets/js/math/stream.js";
import { ownHeads, ownMask, ownProjections } from "../../mhalib/widgets/js/math/own-head.js";
import { fromRows, row } from "../../mhalib/widgets/js/math/tensor.js";
import { draw, samplingProbabilities, topPFilter } from "../../mhalib/widgets/js/math/vocab.js";
import { flat, nested } from "./close.js";

const plain = (A) => (Array.isArray(A) ? A.map(plain) : A?.rows === undefined ? A : nested(A));

const ANSWERS = {
  trace({ model, ids, ablate }) {
    const named = Object.entries(flat(unpack(model).forward(ids, { ablate })));
    return Object.fromEntries(named.map(([name, A]) => [name, plain(A)]));
  },

  head({ model, ids, state }) {
    const transformer = unpack(model);
    const trace = transformer.forward(ids);
    const X = state.layer ? trace.layers[state.layer - 1].output : trace.X;
    const W = headWeights(transformer, { ...state, weights: state.weights_from });
    const result = singleHead(X, W, headMask(ids.length, state.mask, state.padding));
    return Object.fromEntries(Object.entries(result).map(([name, A]) => [name, nested(A)]));
  },

  own({ model, ids, state }) {
    const transformer = unpack(model);
    const trace = transformer.forward(ids);
    const X = state.layer ? trace.layers[state.layer - 1].output : trace.X;
    const W = ownProjections(transformer, state.layer, state.projections, state.seed);
    const heads = ownHeads(X, W, ownMask(ids.length, state), state);
    return Object.fromEntries(Object.keys(heads[0]).map((name) => [name, heads.map((head) => plain(head[name]))]));
  },

  sheet({ given, state }) {
    const { top, ...found } = byHand(given, state);
    return Object.fromEntries(Object.entries(found).map(([name, A]) => [name, nested(A)]));
  },

  /** What is said of each cell of a problem when these texts are typed. */
  judged({ form, problems, cases }) {
    const laid = problems.map((problem) => laidOut(form, problem));
    return cases.map(({ number, texts }) => texts.map((_, k) => judge(laid[number], texts, k)));
  },

  parsed({ texts }) {
    return texts.map((text) => parse(text));
  },

  vectors({ rows, index }) {
    const A = fromRows(rows);
    const { points, share } = principalPlane(unitRows(A));
    return { points, share, neighbours: neighbours(A, index) };
  },

  stream({ model, ids, position, others, found, replacement, depth }) {
    const transformer = unpack(model);
    const { n_layers: N, norm } = transformer.config;
    const ablate = { layers: Array.from({ length: N - depth }, (_, i) => depth + i) };
    const run = (some) => stages(transformer.forward(some, { ablate }), norm);
    return {
      cosines: cosines(run(ids), position, run(others), found),
      changes: nested(changes(run(ids), run(ids.with(position, replacement)))),
    };
  },

  sampling({ model, ids, settings, seed, step }) {
    const { logits } = unpack(model).forward(ids);
    const probabilities = samplingProbabilities(row(logits, ids.length - 1), settings);
    return { probabilities: [...probabilities], id: draw(probabilities, word(seed, step) / 2 ** 32) };
  },

  /** Which ids the cut keeps, and which ids are drawn, for many cases at once. */
  cuts({ cases }) {
    return cases.map(({ logits, p }) => topPFilter(Float64Array.from(logits), p).reduce((n, x) => n + (x > -Infinity), 0));
  },

  draws({ cases }) {
    return cases.map(({ shares, u }) => draw(shares, u));
  },

  losses({ model, ids, ablate }) {
    return losses(unpack(model).forward(ids, { ablate }));
  },

  shrunk({ packed }) {
    return Object.fromEntries(Object.entries(unpack(packed).parameters).map(([name, A]) => [name, [...A.data]]));
  },

  /** The shipped script, run as a page runs it. */
  shipped({ path, ids }) {
    new Function(readFileSync(path, "utf8"))();
    const [packed] = Object.values(globalThis.mhalibModels);
    return nested(unpack(packed).forward(ids).logits);
  },
};

const question = JSON.parse(readFileSync(0, "utf8"));
if (question.model) question.model.data = Buffer.from(question.model.data, "base64");
process.stdout.write(JSON.stringify(ANSWERS[question.what](question)));
