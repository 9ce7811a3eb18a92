// The text cut into tokens, each byte in its place; below, the merges of one word as a tree.

import { picture } from "../../parts/picture.js";
import { boxes, layout, levelAt, locate } from "./layout.js";

const text = (x, y, words, name = "") => ["text", { x, y, class: name }, words];
const rect = (x, y, width, height, name) => ["rect", { x, y, width, height, class: name }];
const GLYPH = 8.2; // pixels for a character, at most

export function tokenPicture(stops, { now, at, peek, pick, arrow, climb }) {
  let place = null;
  const plane = picture(stops, {
    label: "the tokens and the merges of a word. Left and right pick a token, up and down do and undo a merge",
    draw,
    peek,
    pick,
    arrow,
    hit: (x, y) => (place && now().words.length ? locate(place, now().levels.length, x, y) : null),
    drag: {
      start(position) {
        if (position.level !== undefined) climb(position.level);
        return position.level !== undefined;
      },
      move: (position) => position?.level !== undefined && climb(position.level),
    },
  });
  const [back, words] = [plane.layer(), plane.layer()];

  function draw(width) {
    const state = now();
    if (!state.words.length) {
      for (const layer of [back, words]) layer.write([]);
      plane.tell("");
      return { height: 40, paint() {} };
    }
    place = layout(width, state.bytes, state.bytes[state.word].length);
    const tokens = tokenShapes(state, place, at());
    const tree = treeShapes(state, place);
    back.write([...tokens.back, ...tree.back]);
    words.write([...tokens.words, ...tree.words]);
    plane.tell(`${state.count} tokens after ${state.step} merges.`);
    return { height: place.height, paint() {} };
  }

  return plane;
}

function tokenShapes({ words, rank, word, show, lengthOf }, place, seen) {
  const [back, names] = [[], []];
  words.forEach((ids, w) => {
    let from = 0;
    ids.forEach((id, t) => {
      const to = from + lengthOf(id);
      const own = seen && seen.w === w && seen.t === t;
      const fresh = rank !== undefined && id === 256 + rank;
      boxes(place, w, from, to).forEach(({ x, y, w: wide }, k) => {
        const kind = `mh-token-box${w % 2 ? " mh-token-odd" : ""}${fresh ? " mh-token-new" : ""}${own ? " mh-token-own" : ""}`; // prettier-ignore
        back.push(rect(x + 1, y + 1, wide - 2, 44, kind));
        if (k) return;
        const piece = show(id).replace(/^⟨(..)⟩$/, "$1");
        const fits = [...piece].length * GLYPH <= wide - 2;
        const room = Math.max(1, Math.floor((wide - 2) / GLYPH) - 1);
        const shown = fits ? piece : wide >= 24 ? `${[...piece].slice(0, room).join("")}…` : "";
        names.push(text(x + wide / 2, y + 20, shown, "mh-middle mh-strong-text"));
        const number = String(id);
        if (number.length * 7.4 <= wide)
          names.push(text(x + wide / 2, y + 38, number, "mh-middle mh-soft mh-small-text"));
      });
      from = to;
    });
    if (w === word && ids.length) {
      const all = boxes(place, w, 0, from);
      for (const { x, y, w: wide } of all) back.push(rect(x, y + 46, wide, 3, "mh-under"));
    }
  });
  return { back, words: names };
}

function treeShapes({ bytes, word, levels, step, show, whole }, place) {
  const { tree, leaf } = place;
  const own = bytes[word];
  const done = levels.filter((level) => level.step <= step).length;
  const x = (centre) => tree.x + centre * leaf;
  const y = (level) => levelAt(place, level, levels.length);
  const heightOf = (span) => (span.level ? y(span.level) : y(0));
  const [back, names] = [[], []];
  own.forEach((byte, i) => {
    if (leaf < 18) return;
    back.push(rect(x(i) + 1, y(0), leaf - 2, 40, "mh-leaf"));
    const hex = byte.toString(16).padStart(2, "0");
    names.push(text(x(i + 0.5), y(0) + 17, show(byte).startsWith("⟨") ? "·" : show(byte), "mh-middle mh-strong-text"));
    names.push(text(x(i + 0.5), y(0) + 34, hex, "mh-middle mh-soft mh-small-text"));
  });
  const labels = [];
  levels.forEach(({ joints }, k) => {
    for (const { left, right, centre, id } of joints) {
      const d = `M${x(left.centre)} ${heightOf(left)}V${y(k + 1)}H${x(right.centre)}V${heightOf(right)}`;
      back.push(["path", { d, class: k < done ? "mh-joint" : "mh-joint mh-joint-open" }]);
      const words = `${show(id)} ${id}`;
      const w = [...words].length * 7.6 + 6;
      labels.push({ words, x: x(centre) - w / 2, y: y(k + 1) - 16, w, done: k < done, level: k });
    }
  });
  const placed = [];
  for (const label of labels.reverse()) {
    const over = placed.some((o) => label.x < o.x + o.w && o.x < label.x + label.w && Math.abs(o.y - label.y) < 15);
    if (over) continue;
    placed.push(label);
    back.push(rect(label.x, label.y + 2, label.w, 14, "mh-label-paper"));
    names.push(text(label.x + label.w / 2, label.y + 13, label.words, `mh-middle mh-small-text${label.done ? " mh-strong-text" : " mh-soft"}`)); // prettier-ignore
  }
  const line = (y(done) + y(done + 1)) / 2 - (done === levels.length ? 4 : 0);
  names.push(
    text(tree.x, tree.y - 8, `merges of “${[...whole].slice(0, 14).join("")}”, each with its id`, "mh-strong-text"),
  );
  if (levels.length) {
    back.push(["path", { d: `M${tree.x} ${line}H${tree.end - 100}`, class: "mh-step-line" }]);
    names.push(text(tree.end, line + 4, `${done} of ${levels.length} done`, "mh-end mh-small-text mh-of-changed"));
  } else names.push(text(tree.x + own.length * leaf + 12, y(0) + 24, "no merge", "mh-soft"));
  return { back, words: names };
}
