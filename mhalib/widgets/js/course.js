// The course's models and tokenizer, wherever the widget lives, and the sentence they read.

import { textBox } from "./controls.js";
import { assign, h, say } from "./dom.js";
import { unpack } from "./model.js";
import { Tokenizer } from "./tokenizer.js";

export const MAX_TOKENS = 32;
export const SENTENCES = {
  "… choose at the baseball store": "There are so many bats I can choose at the baseball store.",
  "… live inside a cave": "I love to study bats that live inside a cave.",
};

const home = globalThis.document?.currentScript?.src;
const requests = new Map();

/** The packed model that a classic script hands over (so that it also works from file://). */
function request(name) {
  if (!requests.has(name)) {
    requests.set(
      name,
      new Promise((resolve, reject) => {
        const script = h("script", {
          src: new URL(`models/${name}.js`, home).href,
          onload: () => resolve(globalThis.mhalibModels[name]),
          onerror: () => reject(new Error(`The weights of the model "${name}" did not load.`)),
        });
        document.head.append(script);
      }),
    );
  }
  return requests.get(name);
}

const unpacked = new WeakMap();

function ready(packed) {
  if (!unpacked.has(packed)) {
    unpacked.set(packed, { transformer: unpack(packed), tokenizer: new Tokenizer(packed.merges) });
  }
  return unpacked.get(packed);
}

/** { transformer, tokenizer } of a course model by name, for a page without a kernel. */
export async function courseModel(name) {
  return ready(await request(name));
}

/**
 * Build a view once its model is there: `build(course)` gets { transformer, tokenizer } and returns
 * a function that ends it. In Jupyter the model is a value of the widget, and may change.
 */
export function withModel(model, el, build) {
  let stop = () => {};
  let ended = false;
  const rebuild = (course) => {
    if (ended) return;
    stop();
    el.replaceChildren();
    stop = build(course);
  };
  const fromKernel = () => rebuild(ready(model.get("_model")));
  if (model.get("_model")) {
    fromKernel();
    model.on("change:_model", fromKernel);
  } else {
    el.append(h("p", { class: "mh-note", role: "status" }, "Loading the model’s weights …"));
    courseModel(model.get("model")).then(rebuild, (error) => {
      el.replaceChildren(h("p", { class: "mh-note", role: "alert" }, error.message));
    });
  }
  return () => {
    ended = true;
    model.off("change:_model", fromKernel);
    stop();
  };
}

/** The ids of a text, at most MAX_TOKENS of them. */
export function idsOf(tokenizer, text) {
  return tokenizer.encode(text).slice(0, MAX_TOKENS);
}

/** How a token is shown: its text, with marks for spaces and broken characters. */
export function show(tokenizer, id) {
  const text = tokenizer.decode([id]);
  if (text.includes("\uFFFD")) return [...tokenizer.vocab[id]].map((b) => `⟨${b.toString(16).padStart(2, "0")}⟩`).join("");
  return text.replaceAll("\n", "⏎").replaceAll("\t", "⇥").replace(/^ (?=.)/, "").replaceAll(" ", "␣") || "␣";
}

/** A box for the sentence, and the two sentences of the course to pick. */
export function sentenceBox(model, stops, tokenizer, { name = "text", limit = 400 } = {}) {
  const note = h("p", { class: "mh-note", "aria-live": "polite" });
  const update = () => {
    const count = tokenizer.encode(model.get(name)).length;
    const over = count > MAX_TOKENS ? `; the first ${MAX_TOKENS} are used` : "";
    say(note, count ? `${count} token${count === 1 ? "" : "s"}${over}` : "Type a sentence.");
  };
  model.on(`change:${name}`, update);
  stops.push(() => model.off(`change:${name}`, update));
  update();
  return h(
    "div",
    { class: "mh-sentence" },
    textBox(model, name, stops, { label: "your sentence", limit }),
    h(
      "div",
      { class: "mh-row" },
      Object.entries(SENTENCES).map(([label, text]) =>
        h("button", { type: "button", class: "mh-button mh-small", onclick: () => assign(model, { [name]: text }) }, label),
      ),
      note,
    ),
  );
}
