// Where a widget lives: on a page, its values are in the page; in Jupyter, anywidget syncs them.

import { h, rich } from "./parts/dom.js";
import { remember } from "./parts/memory.js";
import embedding from "./widgets/embedding/view.js";
import layers from "./widgets/layers/view.js";
import machine from "./widgets/machine/view.js";
import multiHead from "./widgets/multi-head/view.js";
import ownHead from "./widgets/own-head/view.js";
import scaling from "./widgets/scaling/view.js";
import singleHead from "./widgets/single-head/view.js";
import tokenizer from "./widgets/tokenizer/view.js";
import vocabHead from "./widgets/vocab-head/view.js";

export const VIEWS = {
  "vocab-head": vocabHead,
  embedding,
  layers,
  machine,
  "multi-head": multiHead,
  "own-head": ownHead,
  scaling,
  "single-head": singleHead,
  tokenizer,
};

/** What anywidget's model offers to a view, for a page without a kernel. */
export class PageModel {
  #values;
  #listeners = new Map();

  constructor(values) {
    this.#values = { ...values };
    this.first = { ...values }; // as the page has it: what Reset puts back
  }

  get(name) {
    return this.#values[name];
  }

  set(name, value) {
    if (this.#values[name] === value) return;
    this.#values[name] = value;
    for (const listener of [...(this.#listeners.get(`change:${name}`) ?? [])]) listener();
  }

  save_changes() {}

  on(event, listener) {
    if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
    this.#listeners.get(event).add(listener);
  }

  off(event, listener) {
    this.#listeners.get(event)?.delete(listener);
  }
}

/**
 * Make a figure live when it comes near the screen: as soon as the widget is there it takes the place of the
 * picture, which stays for print.
 */
export function enliven(figure) {
  const state = JSON.parse(figure.querySelector(":scope > script").textContent);
  if (state.model === null) return; // a model of the author's own, known to a kernel only
  figure.dataset.live = "";
  const kind = figure.dataset.widget;
  const copy = [...document.querySelectorAll(`figure[data-widget="${kind}"]`)].indexOf(figure);
  const name = copy ? `${kind}-${copy + 1}` : kind; // of this widget on its page
  if (location.hash.startsWith(`#${name}=`)) figure.scrollIntoView();
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      start(figure, kind, name, state);
    },
    { rootMargin: "100% 0px" },
  );
  near.observe(figure);
}

function start(figure, kind, name, state) {
  const live = h("div", { class: "mhalib-live" });
  const picture = figure.querySelector(":scope > .mhalib-picture");
  const show = () => {
    if (!live.isConnected) picture.before(live);
    picture.hidden = live.querySelector(":scope > :not([role=alert])") !== null;
  };
  new MutationObserver(show).observe(live, { childList: true });
  const model = new PageModel(state);
  if (!figure.closest(".run-output")) remember(model, name); // what a cell made shows what the cell says
  VIEWS[kind](model, live);
  if (live.firstChild) show();
}

/** anywidget's entry: the same view between its task and caption. */
export function render({ model, el }) {
  const live = h("div", { class: "mhalib-live" });
  const figure = h(
    "figure",
    // JupyterLab's own shortcuts stay out of what is typed here.
    {
      class: "mhalib-widget",
      "data-widget": model.get("_widget"),
      "data-live": "",
      "data-lm-suppress-shortcuts": "true",
    },
    h("p", { class: "mhalib-task" }, rich(model.get("task"))),
    live,
    h("figcaption", {}, rich(model.get("caption"))),
  );
  el.append(figure);
  return VIEWS[model.get("_widget")](model, live);
}
