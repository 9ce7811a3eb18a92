// The stages as a table: the stream of a token, its cosine with the other sentence, who notices a change;
// below, what would come next if the model were read at the chosen stage.

import { fixed } from "../../math/format.js";
import { cells, largestSize, moved } from "../../parts/cells.js";
import { picture } from "../../parts/picture.js";
import { layout, locate, step } from "./layout.js";

const LONGEST = 11;
const short = (label) => ([...label].length > LONGEST ? `${[...label].slice(0, LONGEST - 1).join("")}…` : label);
const text = (x, y, words, name = "", more = {}) => ["text", { x, y, class: name, ...more }, words];
const rect = (x, y, width, height, name) => ["rect", { x, y, width, height, class: name }];

export function layersPicture(stops, { now, at, chosen, peek, pick }) {
  let place = null;
  let flashed = null;
  const plane = picture(stops, {
    label: "the stages",
    draw,
    peek,
    pick,
    hit: (x, y) => place && now().labels.length > 0 && locate(place, x, y),
    arrow: (di, dj) => now().labels.length && pick(step(place, chosen(), di, dj)),
    enter: () => now().labels.length && pick(chosen()),
  });
  const [back, words] = [plane.layer(), plane.layer()];

  function draw(width) {
    const state = now();
    const n = state.labels.length;
    if (!n) {
      for (const layer of [back, words]) layer.write([]);
      plane.flash("");
      plane.tell("");
      return { height: 40, paint() {} };
    }
    const seen = at();
    place = layout(width, { stages: state.list.length, n, d: state.stream.cols, both: Boolean(state.other) });
    const { parts } = place;
    back.write([...cosineBars(state, parts.cosine), ...readings(state, place).flatMap(({ bars }) => bars)]);
    words.write([
      ...outlines(state, place, seen),
      ...stageNames(state, place, seen),
      ...tokenNames(state, parts.change, seen),
      ...headings(state, place),
      ...readings(state, place).flatMap(({ names }) => names),
    ]);
    if (state.before !== flashed) {
      flashed = state.before;
      plane.flash(flashed ? moved(flashed, state.changes, { ...parts.change, least: 0.005 }) : "");
    }
    const cosine = state.cosines ? `, cosine ${fixed(state.cosines[state.stage], 3)}` : "";
    plane.tell(`Read at ${state.list[state.stage][0]}${cosine}.`);
    const paint = (pen, colours) => {
      cells(pen, colours, { ...parts.stream, matrix: state.stream, max: largestSize(state.stream) });
      cells(pen, colours, { ...parts.change, matrix: state.changes, kind: "share", gap: parts.change.w > 6 ? 1 : 0 });
    };
    return { height: place.height, paint };
  }

  return plane;
}

function cosineBars({ cosines }, part) {
  const list = [];
  for (let i = 0; i < part.rows; i++) {
    const y = part.y + i * part.h;
    list.push(rect(part.x, y + 6, part.w, part.h - 12, "mh-track"));
    if (!cosines) continue;
    const share = cosines[i];
    list.push(rect(part.x, y + 6, Math.abs(share) * part.w, part.h - 12, share < 0 ? "mh-minus-bar" : "mh-cosine"));
  }
  return list;
}

/** The row that is read, and the chosen cell. */
function outlines({ stage, replaced }, { parts, wide }, seen) {
  const { stream, cosine, change } = parts;
  const end = change.x + change.w * change.cols;
  const y = (part) => part.y + stage * part.h;
  const cell = parts[seen.part];
  return [
    ...(wide
      ? [rect(stream.x - 2, y(stream), end - stream.x + 4, stream.h, "mh-outline")]
      : [
          rect(stream.x - 2, y(stream), stream.w * stream.cols + 4, stream.h, "mh-outline"),
          rect(cosine.x - 2, y(cosine), end - cosine.x + 4, cosine.h, "mh-outline"),
        ]),
    rect(change.x + replaced * change.w, change.y, change.w, change.h * change.rows, "mh-box mh-line-changed"),
    rect(cell.x + seen.j * cell.w, cell.y + seen.i * cell.h, cell.w, cell.h, "mh-outline mh-strong"),
  ];
}

function stageNames({ list, stage, cosines }, { parts, labels, wide }, seen) {
  const names = (part) =>
    list.flatMap(([name], s) => {
      const own = s === stage ? " mh-on-pill" : "";
      return [
        s === stage && rect(0, part.y + s * part.h + 1, labels - 6, part.h - 2, "mh-pill"),
        text(labels - 12, part.y + (s + 0.5) * part.h + 4.5, shorten(name), `mh-end${own}`),
      ];
    });
  const { cosine } = parts;
  const values = list.map((_, s) =>
    text(
      cosine.x + cosine.w + (wide ? 42 : 38),
      cosine.y + (s + 0.5) * cosine.h + 4.5,
      cosines ? fixed(cosines[s], 2) : "–",
      `mh-end mh-small-text${seen.part === "cosine" && seen.i === s ? " mh-strong-text" : ""}`,
    ),
  );
  return [...names(parts.stream), ...(wide ? [] : names(cosine)), ...values];
}

/** The tokens above their columns, aslant; where there is no room for all, those in question. */
function tokenNames({ labels, replaced }, part, seen) {
  const asked = seen.part === "change" ? seen.j : null;
  const all = part.w >= 11;
  return labels.map((label, j) => {
    if (!all && j !== replaced && j !== asked) return null;
    if (!all && j === replaced && asked !== null && asked !== j && Math.abs(asked - j) * part.w < 80) return null;
    const [x, y] = [part.x + (j + 0.5) * part.w, part.y - 6];
    const own = j === replaced ? "mh-of-changed mh-strong-text" : j === asked ? "mh-strong-text" : "mh-soft";
    const turn = all ? { transform: `rotate(-56 ${x} ${y})` } : {};
    const end = !all && x > part.x + (part.w * part.cols) / 2 ? " mh-end" : "";
    return text(all ? x + 3 : x, y, short(label), `mh-small-text ${own}${end}`, turn);
  });
}

function headings({ labels, position }, { parts: { stream, cosine, change }, title }) {
  const word = short(labels[position]);
  const above = cosine.y - 8;
  return [
    text(stream.x, stream.y - 8, `stream of “${word}”, ${stream.cols} features`, "mh-strong-text"),
    text(cosine.x, above - 16, "cosine with", "mh-strong-text"),
    text(cosine.x, above, "the other", "mh-strong-text"),
    text(change.x, title, "who notices a change", "mh-strong-text mh-of-changed"),
  ];
}

/** What comes next, read at the stage: in the sentence, and after the same word of the other one. */
function readings({ next, other, list, stage, labels, position }, { parts }) {
  const word = short(labels[position]);
  const named = [
    [next, parts.next, `after “${word}”, read at ${shorten(list[stage][0])}`],
    [other, parts.other, `after the other “${word}”`],
  ];
  return named.map(([ranked, { x, y, w, h }, title]) => {
    if (!ranked) return { bars: [], names: [text(x, y - 10, `“${word}” is not in the other sentence.`, "mh-soft")] };
    const [from, room] = [x + 86, w - 86 - 46];
    return {
      bars: ranked.flatMap(({ share }, r) => [
        rect(from, y + r * h + 3, room, 12, "mh-track"),
        rect(from, y + r * h + 3, room * share, 12, "mh-plus-bar"),
      ]),
      names: [
        text(x, y - 10, title, "mh-strong-text"),
        ...ranked.flatMap(({ name, share }, r) => [
          text(x + 80, y + r * h + 13.5, short(name), "mh-end"),
          text(x + w, y + r * h + 13.5, fixed(share, 3), "mh-end"),
        ]),
      ],
    };
  });
}

/** "layer 0, after attention" as "attn 0". */
export function shorten(name) {
  const [, layer, part] = /^layer (\d+), after (\w+)/.exec(name) ?? [];
  return layer ? `${part === "attention" ? "attn" : "ffn"} ${layer}` : name;
}
