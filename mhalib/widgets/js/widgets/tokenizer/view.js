// Chapter 1: text → tokens → ids, and the merges one at a time.

import { mergeTree } from "../../math/merge-tree.js";
import { button, sentence } from "../../parts/bar.js";
import { assign, h, watch } from "../../parts/dom.js";
import { frame } from "../../parts/frame.js";
import { showExact } from "../../parts/tokens.js";
import { withModel } from "../../parts/with-model.js";
import { tokenPicture } from "./picture.js";

const NAMES = ["text", "step"];

export default function view(model, el) {
  return withModel(model, el, ({ tokenizer }) => build(model, el, tokenizer));
}

function build(model, el, tokenizer) {
  const stops = [];
  let steps = [];
  let typed;
  let now = null;
  let word = 0; // whose tree is shown
  let chosen = null; // { w, t }: the token that the readout explains, null: the merge
  let passing = null;
  const last = () => steps.length - 1;
  const current = () => Math.min(model.get("step") < 0 ? last() : model.get("step"), last());
  const lengthOf = (id) => tokenizer.vocab[id].length;
  const bytesOf = (id) => [...tokenizer.vocab[id]].map((b) => b.toString(16).padStart(2, "0")).join(" ");
  const show = (id) => showExact(tokenizer, id);

  const go = (to) => {
    chosen = passing = null;
    assign(model, { step: to >= last() ? -1 : Math.max(0, to) });
    say();
  };
  const range = h("input", {
    type: "range",
    min: 0,
    step: 1,
    oninput: () => go(range.valueAsNumber),
  });
  const back = button("◀", () => go(current() - 1), { "aria-label": "undo a merge" });
  const forth = button("▶", () => go(current() + 1), { "aria-label": "next merge" });

  /** The token that holds a byte of a word. */
  const tokenAt = ({ w, byte }) => {
    let end = 0;
    return { w, t: now.words[w].findIndex((id) => (end += lengthOf(id)) > byte) };
  };
  const climb = (level) => {
    const next = now.levels[level];
    go(next ? next.step - 1 : last());
  };
  const picture = tokenPicture(stops, {
    now: () => now,
    at: () => passing ?? chosen,
    climb,
    peek(position) {
      passing = position && position.level === undefined ? tokenAt(position) : null;
      say();
    },
    pick(position) {
      if (position.level !== undefined) return climb(position.level);
      chosen = tokenAt(position);
      choose(chosen.w);
    },
    arrow(di, dj) {
      if (!now.words.length) return;
      if (di) return go(current() - di);
      const all = now.words.flatMap((ids, w) => ids.map((_, t) => ({ w, t })));
      const here = chosen ? all.findIndex(({ w, t }) => w === chosen.w && t === chosen.t) : -1;
      chosen = all[Math.max(0, Math.min(all.length - 1, here + dj))];
      choose(chosen.w);
    },
  });
  function choose(w) {
    word = w;
    passing = null;
    compute();
  }

  const box = frame(model, el, stops, {
    names: NAMES,
    top: sentence(model, stops, tokenizer, { label: "your text" }),
    controls: [
      h("div", { class: "mh-set mh-grow" }, back, h("label", {}, h("span", { class: "mh-label" }, "merges done"), range), forth), // prettier-ignore
    ],
    picture: picture.element,
    key: "␣ is the space that belongs to a word; below a token, its id",
    numbers: () => [
      {
        title: "The tokens",
        head: ["place", "token", "id", "bytes"],
        rows: now.words.flat().map((id, i) => [i, show(id), id, bytesOf(id)]),
      },
    ],
  });

  function say() {
    picture.redraw();
    const { words, rank, bytes, step } = now;
    if (!words.length) return box.say("Type something.");
    const count = `${[...typed].length} characters · ${bytes.flat().length} bytes · ${step} of ${last()} merges · ${now.count} tokens`; // prettier-ignore
    const bold = (text) => h("b", {}, text);
    const seen = passing ?? chosen;
    const id = seen && words[seen.w]?.[seen.t];
    if (id !== null && id !== undefined) {
      const merge = id < 256 ? "a byte" : `made by the merge of rank ${id - 256}`;
      const place = words.slice(0, seen.w).flat().length + seen.t;
      return box.say(["“", bold(show(id)), "”: id ", bold(String(id)), `, ${merge}`], `bytes ${bytesOf(id)} · place ${place} · ${now.count} tokens`); // prettier-ignore
    }
    if (rank === undefined) return box.say("No merge yet: every byte is a token.", count);
    const [a, b] = tokenizer.merges[rank].map((part) => `“${show(part)}” (${part})`);
    box.say([`Merge of rank ${rank}: ${a} + ${b} → “`, bold(show(256 + rank)), `” (${256 + rank})`], count); // prettier-ignore
  }

  function compute() {
    if (typed !== model.get("text")) {
      typed = model.get("text");
      steps = tokenizer.mergeSteps(typed);
      const merges = steps[0].words.map((bytes, w) => bytes.length - steps.at(-1).words[w].length);
      word = Math.max(0, merges.indexOf(Math.max(...merges))); // the one with most to see
      chosen = null;
    }
    const step = current();
    const { words, rank } = steps[step];
    if (chosen && !words[chosen.w]?.[chosen.t]) chosen = null;
    const bytes = steps[0].words;
    now = {
      ...{ words, rank, bytes, step, word, show, lengthOf },
      count: words.flat().length,
      whole: words.length ? new TextDecoder().decode(Uint8Array.from(bytes[word])).replaceAll(" ", "␣").replaceAll("\n", "⏎") : "", // prettier-ignore
      levels: words.length ? mergeTree(steps, word, lengthOf) : [],
    };
    range.max = last();
    range.value = step;
    range.disabled = last() === 0;
    range.setAttribute("aria-valuetext", `${step} of ${last()} merges`);
    range.style.setProperty("--fill", `${last() ? (100 * step) / last() : 0}%`);
    back.disabled = step === 0;
    forth.disabled = step === last();
    passing = null;
    say();
    box.changed();
  }
  stops.push(watch(model, NAMES, compute));
  return () => stops.forEach((stop) => stop());
}
