// The sentences of the readout, from what is shown (`now`, see state.js); no DOM.

import { fixed } from "../../math/format.js";
import { strongest, tell } from "./story.js";

/** The likeliest words after the chosen token. */
export function nextSaid({ labels, position, top }) {
  const words = top.slice(0, 3).map((each) => `${each.name} ${fixed(each.after ?? each.before, 3)}`);
  return `After “${labels[position]}”: ${words.join(", ")}.`;
}

/** A token: whom it reads, and who reads it. */
export function ofToken(now, i) {
  const best = strongest(now.shown.trace, i);
  const reads = best
    ? `reads most from “${now.labels[best.j]}” (layer ${best.layer}, head ${best.head}: ${fixed(best.weight, 3)})`
    : "has nobody before it";
  return [`“${now.labels[i]}”: token ${i}, id ${now.ids[i]}; ${reads}`, `its readers: ${readers(now, i)}`];
}

function readers({ labels, n, shown }, j) {
  const all = shown.trace.layers.filter(Boolean).flatMap(({ weights }) => weights);
  const sums = labels.map((label, i) => [label, i === j ? 0 : all.reduce((sum, W) => sum + W.data[i * n + j], 0)]);
  const most = sums
    .filter(([, sum]) => sum > 0.05)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 4);
  if (!most.length) return "nobody";
  return most.map(([label, sum]) => `“${label}” ${fixed(sum, 2)}`).join(", ") + " (weights of all heads added)";
}

/** A row of the list at the right: a word, or a relation, whose `note` says what was measured. */
export function ofRow({ labels, list, position }, k, note) {
  const { id, name, before, after } = list[k];
  const values = after === null ? fixed(before, 4) : `${fixed(before, 4)}, changed ${fixed(after, 4)}`;
  if (id === undefined) return [`loss on ${name}: ${values} nats a word`, note];
  return [`after “${labels[position]}”: “${name}” ${values}`, "click: follow it back"];
}

/** A stage of the walk; `lesson(number)` is how its lesson is named. */
export function ofStage(now, k, lesson) {
  const stage = tell(now.stages[k], now);
  return [`${k + 1}/${now.stages.length}  ${stage.said}`, [lesson(stage.lesson), ": ", stage.more]];
}

/** Where the reader is, from the machine down to the number. */
export function crumb({ opened, layer, head, labels, position, key }) {
  if (!opened) return "";
  const part = {
    X: ["X"],
    output: ["output"],
    head: [`layer ${layer}`, `head ${head}`],
    W_O: [`layer ${layer}`, "W_O"],
    ffn: [`layer ${layer}`, "FFN"],
  }[opened];
  const last = opened === "head" ? `${labels[position]}, ${labels[key]}` : labels[position];
  return ["machine", ...part, last].join(" ▸ ");
}
