// Chapter 1: text → tokens → ids, and the merges one at a time.

import { button, resetButton, textBox } from "../../parts/controls.js";
import { showExact, withModel } from "../../parts/course.js";
import { assign, h, say, watch } from "../../parts/dom.js";
import { dataTable } from "../../parts/table.js";

const LIMIT = 200;
const NAMES = ["text", "step"];

export default function view(model, el) {
  return withModel(model, el, ({ tokenizer }) => build(model, el, tokenizer));
}

function build(model, el, tokenizer) {
  const stops = [];
  const drawn = []; // { key, items } of each word
  let steps = [];
  let text;
  const last = () => steps.length - 1;
  const current = () => Math.min(model.get("step") < 0 ? last() : model.get("step"), last());

  const go = (to) => assign(model, { step: to >= last() ? -1 : Math.max(0, to) });
  const range = h("input", { type: "range", min: 0, step: 1, oninput: () => go(range.valueAsNumber) });
  const back = button("◀ undo a merge", () => go(current() - 1));
  const forth = button("next merge ▶", () => go(current() + 1));
  const said = h("p", { class: "mh-readout", "aria-live": "polite" });
  const counts = h("p", { class: "mh-counts" });
  const list = h("ol", { class: "mh-tokens" });
  const table = dataTable("The tokens in a table", () => ({
    head: ["place", "token", "id", "bytes"],
    rows: steps[current()].words.flat().map((id, i) => [i + 1, showExact(tokenizer, id), id, bytesOf(id)]),
  }));
  const bytesOf = (id) => [...tokenizer.vocab[id]].map((b) => b.toString(16).padStart(2, "0")).join(" ");

  el.append(
    h(
      "div",
      { class: "mh-controls" },
      textBox(model, "text", stops, { label: "your text", limit: LIMIT }),
      h(
        "div",
        { class: "mh-row mh-stepper" },
        h("label", { class: "mh-control mh-grow" }, h("span", {}, "merges done"), range),
        back,
        forth,
        resetButton(model, NAMES),
      ),
    ),
    h("div", { class: "mh-panel" }, counts, said, list),
    table.element,
  );

  /** The boxes of one word, drawn again only if they changed. */
  function draw(word, w, rank) {
    const isNew = (id) => rank !== undefined && id === 256 + rank;
    const key = word.map((id) => (isNew(id) ? `${id}!` : id)).join();
    if (drawn[w]?.key === key) return;
    const items = word.map((id) =>
      h(
        "li",
        { class: `mh-token${isNew(id) ? " mh-new" : ""}`, "data-tint": w % 2, title: `id ${id}, bytes ${bytesOf(id)}` },
        h("span", { class: "mh-piece" }, h("bdi", {}, showExact(tokenizer, id))),
        h("span", { class: "mh-id" }, String(id)),
        h("span", { class: "mh-bytes" }, bytesOf(id)),
      ),
    );
    const old = drawn[w]?.items ?? [];
    if (old.length) old[0].before(...items);
    else list.append(...items);
    old.forEach((item) => item.remove());
    drawn[w] = { key, items };
  }

  stops.push(
    watch(model, NAMES, () => {
      if (text !== model.get("text")) {
        text = model.get("text");
        steps = tokenizer.mergeSteps(text);
      }
      const at = current();
      const { words, rank } = steps[at];
      range.max = last();
      range.value = at;
      range.disabled = last() === 0;
      range.setAttribute("aria-valuetext", `${at} of ${last()} merges`);
      range.style.setProperty("--fill", `${last() ? (100 * at) / last() : 0}%`);
      back.disabled = at === 0;
      forth.disabled = at === last();
      const ids = words.flat();
      const bytes = steps[0].words.flat().length;
      say(counts, `${[...text].length} characters · ${bytes} bytes · ${at} of ${last()} merges · ${ids.length} tokens`);
      if (rank === undefined) say(said, bytes ? "No merge yet: every byte is a token." : "Type something.");
      else {
        const [a, b] = tokenizer.merges[rank].map((id) => `“${showExact(tokenizer, id)}” (${id})`);
        say(
          said,
          `Merge number ${rank + 1} of the list: ${a} + ${b} → “${showExact(tokenizer, 256 + rank)}” (${256 + rank})`,
        );
      }
      words.forEach((word, w) => draw(word, w, rank));
      drawn.splice(words.length).forEach(({ items }) => items.forEach((item) => item.remove()));
      table.update();
    }),
  );
  return () => stops.forEach((stop) => stop());
}
