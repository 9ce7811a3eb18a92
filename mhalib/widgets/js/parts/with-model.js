// A view that needs a model: it is fetched or sent, wherever the widget lives, and the view built with it.

import { h } from "./dom.js";
import { nextWordDistribution } from "../math/language.js";
import { unpacking } from "../math/model.js";
import { Tokenizer } from "../math/tokenizer.js";

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
const pause = () => new Promise((done) => setTimeout(done));

/** What was packed, each part in a task of its own, so that a phone can answer its reader in between. */
function ready(packed) {
  if (!unpacked.has(packed)) unpacked.set(packed, unpackInSteps(packed));
  return unpacked.get(packed);
}

async function inSteps(steps) {
  for (;;) {
    await pause();
    const { done, value } = steps.next();
    if (done) return value;
  }
}

async function unpackInSteps(packed) {
  const transformer = packed.config && (await inSteps(unpacking(packed)));
  await pause();
  const tokenizer = packed.merges && new Tokenizer(packed.merges);
  await pause();
  return { transformer, tokenizer, grammar: packed.grammar ?? packed, variants: packed.variants };
}

/**
 * { transformer, tokenizer, grammar, variants } of a course model by name ("tokenizer": without a
 * model). `variants` are the models, by value, between which the trait `variant` chooses; the others
 * are fetched only when they are chosen.
 */
async function courseModel(model, variant) {
  const name = model.get("model");
  request(name); // at the same time as the next
  const parts = ["tokenizer", "grammar"].map(async (part) => ready(await request(part)));
  const [{ tokenizer, variants: known }, { grammar }] = await Promise.all(parts);
  const variants = Object.values(known[variant] ?? {}).includes(name) ? known[variant] : {};
  const { transformer } = await ready(await request(variants[model.get(variant)] ?? name));
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
        ? await sentModel(model, asks).then(async (sent) => ({
            ...(await ready(sent)),
            variants: sent.variants?.[variant] ?? {},
          }))
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
