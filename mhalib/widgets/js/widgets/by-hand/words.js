// What is said of a cell of the sheet: its formula with the numbers in it.

import { fixed, fmt } from "../../math/format.js";
import { sources } from "../../math/by-hand.js";
import { h } from "../../parts/dom.js";

/** At most two decimals. */
export function short(value) {
  if (Math.abs(value) >= 1e4) return fmt(value, 3);
  return fixed(value, 2).replace(/\.?0+$/, "");
}

const factor = (value) => (value < 0 ? `(${short(value)})` : short(value));

/** "1·2 + 0·(−1)", of pairs of cells. */
const products = (found, cells) =>
  Array.from({ length: cells.length / 2 }, (_, t) =>
    [cells[2 * t], cells[2 * t + 1]].map((cell) => factor(at(found, cell))).join("·"),
  ).join(" + ");

const at = (found, [name, i, j]) => found[name].data[i * found[name].cols + j];

const WEIGHTS = {
  W_Q: (i, j) => [`W_Q[${i}, ${j}]`, `Given: how much feature ${i} of a token adds to feature ${j} of its query.`],
  W_K: (i, j) => [`W_K[${i}, ${j}]`, `Given: how much feature ${i} of a token adds to feature ${j} of its key.`],
  W_V: (i, j) => [`W_V[${i}, ${j}]`, `Given: how much feature ${i} of a token adds to feature ${j} of its value.`],
  W_O: (i, j) => [`W_O[${i}, ${j}]`, `Given: how much feature ${i} of an output adds to feature ${j} of the stream.`],
};

/** The two lines on a cell: the first with its value in bold. */
export function explain(found, { scaled }, tokens, name, i, j) {
  const bold = (text) => h("b", {}, text);
  const [me, other] = [`“${tokens[i]}”`, `“${tokens[j]}”`];
  if (name === "mask") {
    const open = found.allowed.data[i * found.allowed.cols + j];
    return [[`${me} `, bold(open ? "may read" : "may not read"), ` ${other}`], "Space or a click changes it."];
  }
  const value = at(found, [name, i, j]);
  const from = sources(found, name, i, j);
  const masked = name === "exp" && from.length === 1;
  const row = { Q: "query", K: "key", V: "value" }[name];
  const FORMULAS = {
    scores: () => [`${me} asks ${other}: q · k = ${products(found, from)}`, "Row of Q times row of K."],
    scaled: () => [
      scaled
        ? `score / √d_k = ${factor(at(found, from[0]))} / 1.41`
        : `score, not divided: ${short(at(found, from[0]))}`,
      scaled
        ? "√2 = 1.41: queries and keys with more features would give larger products."
        : "Without the scale the softmax gets sharper.",
    ],
    exp: () =>
      masked
        ? [`${other} is masked for ${me}`, "It counts as a score of −∞: e to that is 0."]
        : [
            `e^(score − largest of the row) = e^(${short(at(found, from[0]))} − ${factor(at(found, from[1]))})`,
            "Subtracting the largest changes no weight; it only keeps the powers of e from growing too large.",
          ],
    sum: () => [
      `Σ of the row = ${from.map((cell) => short(at(found, cell))).join(" + ")}`,
      `What the weights of ${me} are divided by.`,
    ],
    weights: () => [
      `weight of ${other} for ${me} = ${short(at(found, from[0]))} / ${short(at(found, from[1]))}`,
      "Its share in the sum of the row.",
    ],
    output: () => [
      `output of ${me}, feature ${j} = ${products(found, from)}`,
      "Each weight of the row times the value of its key.",
    ],
    result: () => [
      `what is added to ${me}, feature ${j} = ${products(found, from)}`,
      "Output times W_O: as wide as X again, so that it can be added to X.",
    ],
  };
  let lines;
  if (row) lines = [`${row} of ${me}, feature ${j} = ${products(found, from)}`, `Row of X times column of W_${name}.`];
  else if (name === "X")
    lines = [`X: feature ${j} of ${me}`, `Given. The query, key and value of ${me} are computed from it.`];
  else lines = (FORMULAS[name] ?? WEIGHTS[name])(i, j);
  return [[`${lines[0]} = `, bold(short(value))], lines[1]];
}
