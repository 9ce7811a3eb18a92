// The numbers of the machine as tables: tokens and ids, next words, losses, the matrix of the followed number.

import { fixed } from "../../math/format.js";
import { row } from "../../math/tensor.js";
import { showExact } from "../../parts/tokens.js";
import { SQUARE } from "./panels.js";
import { nameOf } from "./words.js";

export function allTables(now, tokenizer, relations) {
  const { labels, ids, whole, changed, top, followed, explained, shown } = now;
  const two = (before, after) => (changed ? [before, after] : [before]);
  const tables = [
    {
      title: "Tokens and ids",
      head: ["place", "token", "id"],
      rows: ids.map((id, i) => [String(i), showExact(tokenizer, id), String(id)]),
    },
    {
      title: now.heading.startsWith("after") ? `Next word ${now.heading}` : "Next word",
      head: ["word", ...two("whole model", "changed")],
      rows: top.map(({ name, before, after }) => [name, fixed(before, 4), ...(changed ? [fixed(after ?? before, 4)] : [])]), // prettier-ignore
    },
  ];
  if (whole.loss() !== null) {
    const { whole: all, changed: some } = relations();
    const losses = [["this sentence", whole.loss(), changed?.loss()]];
    for (const name of Object.keys(all ?? {})) losses.push([name, all[name], some?.[name]]);
    tables.push({
      title: "Loss in nats a word",
      head: ["on", ...two("whole model", "changed")],
      rows: losses.map(([name, a, b]) => [name, fixed(a, 3), ...(changed ? [b === undefined ? "" : fixed(b, 3)] : [])]),
    });
  }
  if (followed && explained) {
    tables.push({
      title: `${nameOf(followed, now, tokenizer)}: ${explained.formula}`,
      head: ["comes from", "its value", "factor", "product"],
      rows: explained.terms.slice(0, 12).map(({ ref, factor, product, what }) => [
        nameOf(ref, now, tokenizer),
        fixed(shown.source.value(ref), 4),
        factor === undefined ? what : `${what} ${fixed(factor, 4)}`,
        product === undefined ? "" : fixed(product, 4),
      ]),
    }); // prettier-ignore
    const A = shown.source.matrix(followed);
    const columns = Math.min(A.cols, 64);
    tables.push({
      title: `The matrix of ${nameOf(followed, now, tokenizer)}`,
      head: ["token", ...Array.from({ length: columns }, (_, j) => (SQUARE.includes(followed.stage) ? labels[j] : String(j)))], // prettier-ignore
      rows: labels.map((label, i) => [label, ...[...row(A, i)].slice(0, columns).map((value) => fixed(value, 3))]),
    });
  }
  return tables;
}
