// Where a widget lives: on a page, its values are in the page; in Jupyter, anywidget syncs them.

import { h, rich } from "./parts/dom.js";
import { remember } from "./parts/memory.js";

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

/** Until the reader does something, a page is only to be read, and nothing is fetched or computed. */
const firstSign = new Promise((resolve) => {
  const kinds = ["pointermove", "pointerdown", "wheel", "scroll", "keydown", "focusin"];
  const seen = () => {
    for (const kind of kinds) removeEventListener(kind, seen, true);
    resolve();
  };
  for (const kind of kinds) globalThis.addEventListener?.(kind, seen, { capture: true, passive: true });
  if (globalThis.scrollY > 0) seen(); // a link led into the page, or the reader came back to it
});

/**
 * Make a figure live when it comes near the screen of a reader who does something: as soon as the widget is
 * there it takes the place of the picture, which stays for print.
 */
function enliven(figure, views) {
  const kind = figure.dataset.widget;
  if (!views[kind]) return; // another script's
  const state = JSON.parse(figure.querySelector(":scope > script").textContent);
  if (state.model === null) return; // a model of the author's own, known to a kernel only
  figure.dataset.live = "";
  const copy = [...document.querySelectorAll(`figure[data-widget="${kind}"]`)].indexOf(figure);
  const name = copy ? `${kind}-${copy + 1}` : kind; // of this widget on its page
  if (location.hash.startsWith(`#${name}=`)) figure.scrollIntoView();
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      start(figure, views[kind], name, state);
    },
    { rootMargin: "100% 0px" },
  );
  firstSign.then(() => near.observe(figure));
}

function start(figure, view, name, state) {
  const live = h("div", { class: "mhalib-live" });
  const picture = figure.querySelector(":scope > .mhalib-picture");
  const show = () => {
    if (!live.isConnected) picture.before(live);
    picture.hidden = live.querySelector(":scope > :not([role=alert])") !== null;
  };
  new MutationObserver(show).observe(live, { childList: true });
  const model = new PageModel(state);
  if (!figure.closest(".run-output")) remember(model, name); // what a cell made shows what the cell says
  view(model, live);
  if (live.firstChild) show();
}

/** Make the page's figures of these views live as soon as the parser has finished them, before anything is painted. */
export function enlivenAll(views) {
  const seen = new WeakSet();
  const finished = () => {
    for (const figure of document.querySelectorAll("figure.mhalib-widget")) {
      if (!figure.querySelector(":scope > figcaption") || seen.has(figure)) continue; // its last child
      seen.add(figure);
      enliven(figure, views);
    }
  };
  finished();
  document.addEventListener("mhalib-figures", finished); // a cell run on the page made figures
  if (document.readyState !== "loading") return;
  const observer = new MutationObserver(finished);
  observer.observe(document, { childList: true, subtree: true });
  const end = () => {
    observer.disconnect();
    finished();
  };
  document.addEventListener("DOMContentLoaded", end, { once: true });
}

/** anywidget's entry: the same view between its task and caption. */
export function render(views, { model, el }) {
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
  figure.addEventListener("keydown", (event) => {
    if (event.key?.toLowerCase() !== "s" || event.ctrlKey === event.metaKey) return;
    event.preventDefault(); // to save is the notebook's
    el.dispatchEvent(new KeyboardEvent("keydown", event));
  });
  el.append(figure);
  return views[model.get("_widget")](model, live);
}
