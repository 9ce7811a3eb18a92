// The course's models and tokenizer, wherever the widget lives, and the sentence they read.

import { textBox } from "./controls.js";
import { assign, h, say } from "./dom.js";
import { nextWordDistribution } from "../math/language.js";
import { unpack } from "../math/model.js";
import { Tokenizer } from "../math/tokenizer.js";

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
    const coming = new Promise((resolve, reject) => {
      const script = h("script", {
        src: new URL(`models/${name}.js`, home).href,
        onload: () => resolve(globalThis.mhalibModels[name]),
        onerror: () => {
          script.remove();
          requests.delete(name); // it can be tried again
          reject(new Error(`The file models/${name}.js did not load.`));
        },
      });
      document.head.append(script);
    });
    requests.set(name, coming);
  }
  return requests.get(name);
}

const unpacked = new WeakMap();

function ready(packed) {
  if (!unpacked.has(packed)) {
    unpacked.set(packed, {
      transformer: packed.config && unpack(packed),
      tokenizer: packed.merges && new Tokenizer(packed.merges),
      grammar: packed.grammar ?? packed,
      variants: packed.variants,
    });
  }
  return unpacked.get(packed);
}

/**
 * { transformer, tokenizer, grammar, variants } of a course model by name ("tokenizer": without a
 * model). `variants` are the models, by value, between which the trait `variant` chooses; the others
 * are fetched only when they are chosen.
 */
async function courseModel(model, variant) {
  const name = model.get("model");
  request(name); // at the same time as the next
  const [{ tokenizer, variants: known }, { grammar }] = (await Promise.all(["tokenizer", "grammar"].map(request))).map(
    ready,
  );
  const variants = Object.values(known[variant] ?? {}).includes(name) ? known[variant] : {};
  const { transformer } = ready(await request(variants[model.get(variant)] ?? name));
  return { transformer, tokenizer, grammar, variants };
}

/** The exact next-word probabilities after some ids, as a Map from id to probability, or null. */
export function exactNext({ grammar, tokenizer }, ids) {
  const next = grammar.forms && nextWordDistribution(grammar, tokenizer.decode(ids));
  if (!next) return null;
  return new Map(
    Object.entries(next).map(([word, p]) => [tokenizer.encode(/^[.,]$/.test(word) ? word : ` ${word}`)[0], p]),
  );
}

/** In Jupyter: the model of the widget number `_model`, which the kernel sends when it is asked. */
function sentModel(model, stops) {
  return new Promise((resolve) => {
    const take = (content, buffers) => {
      if (content.number !== model.get("_model")) return;
      model.off("msg:custom", take);
      resolve({ ...content.model, data: buffers[0] });
    };
    model.on("msg:custom", take);
    stops.push(() => model.off("msg:custom", take));
    model.send({ ask: "model" });
  });
}

/**
 * Build a view once its model is there: `build(course)` gets { transformer, tokenizer, grammar,
 * variants, read(text) } and returns a function that ends it. In Jupyter the kernel sends the model. On a
 * page it is fetched by the name in the trait `model`, or that of a variant; one that does not come leaves
 * what is there, says so, and can be asked for again.
 */
export function withModel(model, el, build, variant = null) {
  const asks = [];
  let stop = () => {};
  let wanted = 0;
  const rebuild = (course) => {
    const focused = el.contains(document.activeElement);
    stop();
    el.replaceChildren();
    const { tokens } = model.get("limits")?.text ?? {};
    stop = build({ ...course, read: (text) => course.tokenizer.encode(text).slice(0, tokens) });
    if (focused) el.querySelector(`[name^="mh-${variant}-"]:checked`)?.focus();
  };
  const complain = (error) => {
    el.querySelector(":scope > [role=alert]")?.remove();
    const again = h("button", { type: "button", class: "mh-button", onclick: () => update() }, "Try again");
    el.prepend(h("p", { class: "mh-alert", role: "alert" }, `${error.message} `, again));
  };
  const update = async () => {
    const turn = ++wanted;
    try {
      const course = model.get("_model")
        ? await sentModel(model, asks).then((sent) => ({ ...ready(sent), variants: sent.variants?.[variant] ?? {} }))
        : await courseModel(model, variant);
      if (turn === wanted) rebuild(course);
    } catch (error) {
      if (turn === wanted) complain(error);
    }
  };
  const watched = ["change:_model", ...(variant && !model.get("_model") ? [`change:${variant}`] : [])];
  for (const event of watched) model.on(event, update);
  update();
  return () => {
    wanted = Infinity;
    for (const event of watched) model.off(event, update);
    for (const end of asks) end();
    stop();
  };
}

/** The ids of a text, at most MAX_TOKENS of them. */
export function idsOf(tokenizer, text) {
  return tokenizer.encode(text).slice(0, MAX_TOKENS);
}

/** A token as text, with visible spaces and broken characters. */
export function showExact(tokenizer, id) {
  const text = tokenizer.decode([id]);
  if (text.includes("\uFFFD")) {
    return [...tokenizer.vocab[id]].map((b) => `⟨${b.toString(16).padStart(2, "0")}⟩`).join("");
  }
  return text.replaceAll("\n", "⏎").replaceAll("\t", "⇥").replaceAll(" ", "␣");
}

/** The same as a short label: without the space that belongs to a word. */
export function show(tokenizer, id) {
  return showExact(tokenizer, id).replace(/^␣(?=.)/, "");
}

/** A box for the sentence, and the two sentences of the course to pick, which `also` set other values. */
export function sentenceBox(model, stops, tokenizer, { name = "text", limit = 400, also = {} } = {}) {
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
        h(
          "button",
          { type: "button", class: "mh-button mh-small", onclick: () => assign(model, { [name]: text, ...also }) },
          label,
        ),
      ),
      note,
    ),
  );
}
