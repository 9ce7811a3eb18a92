// The arithmetic of the chosen number of a head, in words and as the products it is the sum of.

import { fixed } from "../../math/format.js";
import { dot, row } from "../../math/tensor.js";
import { h } from "../../parts/dom.js";

const q = () => h("b", { class: "mh-of-q" }, "q");
const k = () => h("b", { class: "mh-of-k" }, "k");
const bold = (text) => h("b", {}, text);
const at = (A, i, j) => A.data[i * A.cols + j];

const products = (left, right, a, b, names) => ({
  head: ["term", left, right, "product"],
  rows: [...a].map((value, t) => [
    names?.[t] ?? `feature ${t}`,
    fixed(value, 4),
    fixed(b[t], 4),
    fixed(value * b[t], 4),
  ]),
});

const column = (W, j) => Float64Array.from({ length: W.rows }, (_, t) => at(W, t, j));

/** The row of a projection times a column of its matrix: Q, K, V, the correction. */
function projected(now, name, from, A, W, i, j) {
  const value = fixed(at(now[name], i, j), 4);
  return {
    said: [`${name}[${now.labels[i]}, ${j}] = `, bold(value)],
    more: `row of ${from} · column ${j} of W_${name === "correction" ? "O" : name}: a sum of ${A.cols} products`,
    terms: products(from, "W", row(A, i), column(W, j)),
  };
}

const EXPLAIN = {
  Q: (now, i, j) => projected(now, "Q", "X", now.X, now.W.W_Q, i, j),
  K: (now, i, j) => projected(now, "K", "X", now.X, now.W.W_K, i, j),
  V: (now, i, j) => projected(now, "V", "X", now.X, now.W.W_V, i, j),
  correction: (now, i, j) => projected(now, "correction", "O", now.output, now.W.W_O, i, j),

  weights(now, i, j) {
    const { Q, K, labels, scores, weights } = now;
    const [asks, asked] = [`“${labels[i]}”`, `“${labels[j]}”`];
    const product = dot(row(Q, i), row(K, j));
    const score = at(scores, i, j);
    const said = [`${asks} asks ${asked}: score `, bold(fixed(score, 2)), " = ", q(), " · ", k()];
    said.push(` / √${Q.cols} = ${fixed(product, 1)} / ${Number(Math.sqrt(Q.cols).toFixed(2))}`);
    return { said, more: softmaxWords(now, i, j), terms: products("q", "k", row(Q, i), row(K, j)) };
  },

  output(now, i, j) {
    const { labels, weights, V, output } = now;
    return {
      said: [`output[${labels[i]}, ${j}] = `, bold(fixed(at(output, i, j), 4))],
      more: `Σ weight × value over ${labels.length} tokens: row of the weights · column ${j} of V`,
      terms: products("weight", "value", row(weights, i), column(V, j), labels),
    };
  },

  X: (now, i, j) => ({
    said: [`X[${now.labels[i]}, ${j}] = `, bold(fixed(at(now.X, i, j), 4))],
    more: `from ${now.layer ? `layer ${now.layer - 1}` : "the embedding and the position"}`,
  }),

  sum(now, i, j) {
    const [x, c, s] = [now.X, now.correction, now.sum].map((A) => fixed(at(A, i, j), 4));
    return {
      said: [`X + O · W_O at [${now.labels[i]}, ${j}] = ${x} + ${c} = `, bold(s)],
      more: "The other heads add theirs, too.",
    };
  },
};

function softmaxWords({ scores, weights, labels, before, allowed }, i, j) {
  const s = [...row(scores, i)].map((value, c) => (allowed(i, c) ? value : -Infinity));
  if (s.every((value) => value === -Infinity)) {
    return [`“${labels[i]}” may look at nobody: all its weights are `, bold("0"), ", and so is its output."];
  }
  if (!allowed(i, j)) {
    return ["weight ", bold("0"), `: the mask hides “${labels[j]}”. Its score counts as −∞, and exp(−∞) = 0.`];
  }
  const largest = Math.max(...s);
  const total = s.reduce((sum, value) => sum + Math.exp(value - largest), 0);
  const weight = at(weights, i, j);
  const was = before?.rows === weights.rows ? at(before, i, j) : weight;
  return [
    "weight ",
    bold(fixed(weight, 3)),
    ` = exp(${fixed(s[j], 2)} − ${fixed(largest, 2)}) / ${fixed(total, 4)}`,
    Math.abs(was - weight) < 5e-4
      ? ", the softmax of the row"
      : h("b", { class: "mh-of-changed" }, `; before ${fixed(was, 3)}`),
  ];
}

/** { said, more, terms } of one number: part of the head, row, column. */
export function explain(now, { part, i, j }) {
  return EXPLAIN[part](now, i, j);
}
