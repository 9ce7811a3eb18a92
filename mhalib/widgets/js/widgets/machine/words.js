// What the machine's readout says: the name of a number, where it comes from, what a change does.

import { showExact } from "../../parts/tokens.js";
import { fixed, fmt } from "../../math/format.js";
import { SQUARE } from "./panels.js";
import { isOff, nameOfSwitch } from "./switches.js";

const CALLED = {
  heads: "output",
  ffn_hidden: "FFN, neuron",
  ffn: "FFN",
  norm_1: "norm after attention",
  norm_2: "norm after FFN",
  residual_1: "stream + O",
  residual_2: "stream + FFN",
  embedded: "row of E",
  positions: "position",
  probabilities: "probability",
  logits: "logit",
  output: "final vector",
};

/** “layer 1, head 1: Q[“the”, 3]”; `short`: without the place. */
export function nameOf({ layer, stage, head, i, j }, now, tokenizer, short = false) {
  const token = `“${now.labels[i]}”`;
  const where = [layer === null ? null : `layer ${layer}`, head === null ? null : `head ${head}`].filter(Boolean);
  const column = SQUARE.includes(stage)
    ? `“${now.labels[j]}”`
    : stage === "logits" || stage === "probabilities"
      ? `“${showExact(tokenizer, j).replace(/^␣(?=.)/, "")}”`
      : j;
  const name = CALLED[stage] ?? stage;
  return `${short || !where.length ? "" : `${where.join(", ")}: `}${name}[${token}, ${column}]`;
}

/** The first line on a number: text and its value in bold. */
export function sayNumber(ref, now, tokenizer, bold) {
  const value = now.shown.source.value(ref);
  const before = now.shown === now.whole ? null : now.whole.source.value(ref);
  const was = before === null || before === undefined ? "" : ` (whole model ${fixed(before, 3)})`;
  if (ref.stage === "weights") {
    const [a, b] = [now.labels[ref.i], now.labels[ref.j]];
    if (now.shown !== now.whole && isOff(now.off, "heads", ref.layer, ref.head)) {
      return [`layer ${ref.layer}, head ${ref.head} is off: “${a}” would take `, bold(fixed(value, 3)), ` from “${b}”`];
    }
    return [`layer ${ref.layer}, head ${ref.head}: “${a}” takes `, bold(fixed(value, 3)), ` from “${b}”${was}`];
  }
  return [`${nameOf(ref, now, tokenizer)} = `, bold(fmt(value, 4)), was];
}

/** What the switches do to the next word: "layer 1, head 1 off: baseball 0.81 → 0.44, toy 0.18 → 0.52". */
export function changeSaid(off, list) {
  if (!off.length) return "";
  const names = off.slice(0, 3).map(nameOfSwitch);
  const moved = list
    .filter(({ id, after }) => id !== undefined && after !== null)
    .slice()
    .filter(({ before, after }) => Math.abs(after - before) >= 0.0005)
    .sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
    .slice(0, 2)
    .map(({ name, before, after }) => `${name} ${fixed(before, 3)} → ${fixed(after, 3)}`);
  return `${names.join("; ")}${off.length > 3 ? ` and ${off.length - 3} more` : ""} off: ${moved.join(", ") || "the next word stays as it is"}`;
}
