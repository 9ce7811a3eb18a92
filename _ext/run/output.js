// What a run gave, below its cell. Text goes in as text; HTML comes from the library's own classes only,
// and even that loses whatever could run or lead away.

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

const FORBIDDEN = "script:not([type='application/json']), iframe, object, embed, form, link, meta, base";
const ADDRESS = new Set(["href", "src", "xlink:href", "action", "formaction"]);

/** The HTML of the library as nodes. */
export function safe(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html"); // inert: nothing loads, nothing runs
  for (const element of body.querySelectorAll(FORBIDDEN)) element.remove();
  for (const element of body.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      const leads = ADDRESS.has(name) && !/^(#|data:image\/)/.test(value);
      if (name.startsWith("on") || leads) element.removeAttribute(name);
    }
  }
  return [...body.childNodes];
}

export class Output {
  /** @param stored the outputs that came with the page: they give way to this one */
  constructor(cell, stored) {
    this.stored = stored;
    this.alts = [...stored.flatMap((part) => [...part.querySelectorAll("img")])].map((image) => image.alt);
    this.element = make("div", { className: "run-output cell_output", hidden: true });
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Output of your run");
    this.element.tabIndex = -1;
    cell.append(this.element);
    this.figures = 0;
    this.said = "";
  }

  /** What comes next is of a new run. The old output stays until something comes, so that little moves. */
  begin() {
    this.fresh = false;
    this.figures = 0;
    this.said = "";
  }

  #clear() {
    if (this.fresh) return;
    this.fresh = true;
    this.element.replaceChildren(make("p", { className: "run-label", textContent: "Your run" }));
    this.element.hidden = false;
    for (const part of this.stored) part.hidden = true;
  }

  add(item) {
    this.#clear();
    if (item.kind === "text") this.#text(item);
    else if (item.kind === "png") {
      const alt = this.alts[this.figures++] ?? "Figure drawn by your code";
      this.element.append(make("img", { src: `data:image/png;base64,${item.data}`, alt }));
      this.said += ` Figure: ${alt}`;
    } else if (item.kind === "html") {
      const place = make("div", { className: "output text_html" }, ...safe(item.html));
      this.element.append(place);
      this.said += ` ${item.text}`;
      if (!place.querySelector("figure.mhalib-widget")) return;
      place.classList.add("with-widget");
      this.live?.(place);
    } else if (item.kind === "error") {
      this.element.append(make("pre", { className: "run-error", textContent: item.text }));
      this.said += ` ${item.text}`;
    } else {
      this.element.append(make("p", { className: "run-told", textContent: item.text }));
      this.said += ` ${item.text}`;
    }
  }

  #text({ stream, text }) {
    let pre = this.element.lastElementChild;
    if (pre.dataset.stream !== stream) {
      pre = make("pre", { className: `run-text run-${stream}` });
      pre.dataset.stream = stream;
      pre.tabIndex = 0; // a long line scrolls, by keyboard, too
      this.element.append(pre);
    }
    pre.append(text);
    if (this.said.length < 300) this.said += ` ${text}`;
  }

  /** The run is over; say so if nothing came. */
  end() {
    if (this.fresh) return;
    this.#clear();
    this.element.append(make("p", { className: "run-told", textContent: "It ran. It printed nothing." }));
  }

  /** Show what came with the page again. */
  reset() {
    this.element.hidden = true;
    this.element.replaceChildren();
    for (const part of this.stored) part.hidden = false;
    this.fresh = false;
  }
}
