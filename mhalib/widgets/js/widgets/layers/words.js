// What the readout says of a number in the table of the stages.

import { fixed, fmt } from "../../math/format.js";
import { dot, row } from "../../math/tensor.js";
import { h } from "../../parts/dom.js";

const bold = (text) => h("b", {}, text);
const at = (A, i, j) => A.data[i * A.cols + j];

const EXPLAIN = {
  stream({ list, labels, trace, stream, position, norm }, s, j) {
    const said = [bold(fixed(at(stream, s, j), 4)), ` is feature ${j} of “${labels[position]}”, ${list[s][0]}`];
    if (s === 0) return [said, `= ${fixed(at(trace.embedded, position, j), 4)} of the embedding + ${fixed(at(trace.positions, position, j), 4)} of the position`]; // prettier-ignore
    const layer = trace.layers[Math.floor((s - 1) / 2)];
    const [name, added, total] = s % 2 ? ["attention", layer.O, layer.residual_1] : ["feed-forward", layer.ffn, layer.residual_2]; // prettier-ignore
    const before = at(stream, s - 1, j);
    const sum = `${fixed(before, 4)} + ${fixed(at(added, position, j), 4)} of the ${name}`;
    return [said, norm === "post" ? `= the layer norm of ${sum} = ${fixed(at(total, position, j), 4)}` : `= ${sum}`];
  },

  cosine({ list, labels, cosines, pairs, position }, s) {
    const word = `“${labels[position]}”`;
    if (!cosines) return [`${word} is not in the other sentence.`, "Follow another token, or write it there."];
    const [a, b] = pairs(s);
    const [x, y] = [a, b].map((v) => Math.sqrt(dot(v, v)));
    return [
      ["cosine ", bold(fixed(cosines[s], 3)), ` of ${word} here and in the other sentence, ${list[s][0]}`],
      `= a · b / (|a| |b|) = ${fixed(dot(a, b), 2)} / (${fixed(x, 2)} · ${fixed(y, 2)}); ${fixed(cosines[0], 3)} at the start, ${fixed(cosines.at(-1), 3)} at the end`, // prettier-ignore
    ];
  },

  change({ list, labels, changes, trace, replaced, instead, swapped }, s, j) {
    const share = at(changes, s, j);
    const a = row(list[s][1], j);
    const b = row(swapped[s][1], j);
    const size = Math.sqrt([...a].reduce((sum, value, t) => sum + (value - b[t]) ** 2, 0));
    const counts = list.map((_, r) => row(changes, r).filter((value) => value > 0).length);
    return [
      [
        `“${labels[j]}” `,
        ...(share ? ["moved by ", bold(`${fmt(100 * share)} %`), " of its length"] : ["did ", bold("not move")]),
        ` (${list[s][0]}; “${instead}” for “${labels[replaced]}”)`,
      ],
      `= |x′ − x| / |x| = ${fixed(size, 2)} / ${fixed(Math.sqrt(dot(a, a)), 2)}; tokens that moved, stage by stage: ${counts.join(" → ")}`, // prettier-ignore
    ];
  },

  next: (now, i) => reading(now, now.next[i], ""),
  other: (now, i) => reading(now, now.other[i], " of the other sentence"),
};

function reading({ labels, position, list, stage }, { name, share, logit, largest, total }, where) {
  return [
    [`“${name}” after “${labels[position]}”${where}: `, bold(fixed(share, 4)), `, read ${stage ? "after" : "at"} ${list[stage][0].replace("after ", "")}`], // prettier-ignore
    `= exp(${fixed(logit, 2)} − ${fixed(largest, 2)}) / ${fixed(total, 4)}; the logit ${fixed(logit, 2)} is the vector times the row of “${name}” in E`, // prettier-ignore
  ];
}

/** [line, more] of one number. */
export function explain(now, { part, i, j }) {
  return EXPLAIN[part](now, i, j);
}
