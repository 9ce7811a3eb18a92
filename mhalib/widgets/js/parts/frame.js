// The frame of every widget, top to bottom: the sentence, one row of controls, the picture, a readout of
// fixed height, and a footer: the key, the numbers, how to read it, a link. Nothing in it moves when a
// value changes.

import { assign, h, rich } from "./dom.js";

/**
 * Fill `el`. `names`: the values that Reset puts back. `top`: the row of the sentence, or null. `controls`:
 * what the row holds. `picture`: an element. `key`: an element. `numbers()`: tables,
 * [{ title, head, rows }], where the picture is no table itself. `more`: [{ label, element, opened }], further parts that open below.
 * `beside`: buttons at the end of the readout. `below`: the
 * controls stand below the picture.
 * `first`: what Reset puts back, where a view is built anew for another model.
 *
 * Returns { say(line, more, result), changed() }: the two lines of the readout (text, or a list of text and
 * nodes) and what a phone keeps in sight (`result` of the two as text; the first, if nothing is given), and what
 * to call after each change.
 */
export function frame(model, el, stops, parts) {
  const { names, top = null, controls = [], picture, key, numbers, more = [], beside = [], below = false } = parts;
  const first =
    parts.first ?? model.first ?? Object.fromEntries(names.map((name) => [name, structuredClone(model.get(name))]));
  const reset = h(
    "button",
    {
      type: "button",
      class: "mh-button mh-reset",
      "aria-label": "Reset",
      onclick: () => assign(model, Object.fromEntries(names.map((name) => [name, structuredClone(first[name])]))),
    },
    h("span", {}, "Reset"),
  );
  const lines = [h("p", { class: "mh-said" }), h("p", { class: "mh-said-more" })];
  const readout = h("div", { class: "mh-readout" }, h("div", {}, lines), beside);
  const spoken = h("div", { class: "mh-unseen", role: "status", "aria-live": "polite" });
  const result = h("p", { class: "mh-result", "aria-hidden": "true" });
  const tables = h("div", { class: "mh-tables" });
  const numbersPart = numbers && disclosure("numbers", tables, () => writeTables());
  const writeTables = () => {
    if (numbersPart?.open) tables.replaceChildren(...numbers().map(table));
  };
  const link = model.link && h("a", { class: "mh-link-state", href: "#", "aria-label": "link to this state" }, "link");
  const footer = h(
    "div",
    { class: "mh-foot" },
    h("div", { class: "mh-foot-key" }, key),
    more.map(({ label, element, opened }) => disclosure(label, element, opened)),
    numbersPart,
    disclosure("how to read this", h("p", {}, rich(model.get("caption")))),
    link,
  );
  const bar = h("div", { class: "mh-bar" }, controls, reset);
  const middle = below ? [picture, bar] : [bar, picture];
  el.append(...[top, ...middle, readout, footer, spoken, result].filter(Boolean));
  stops.push(follow(picture, readout, result));

  let timer = null; // null: nothing was moved yet, so nothing is spoken
  stops.push(() => clearTimeout(timer));
  return {
    say(...texts) {
      lines.forEach((line, k) => line.replaceChildren(...[texts[k] ?? ""].flat()));
      const [first, second] = lines.map((line) => line.textContent);
      result.textContent = texts[2]?.(first, second) || first;
      clearTimeout(timer);
      timer =
        timer === null
          ? 0
          : setTimeout(() => {
              const text = lines.map((line) => line.textContent).join(" ");
              if (spoken.textContent !== text) spoken.textContent = text;
            }, 400);
    },
    changed() {
      writeTables();
      if (link) link.setAttribute("href", model.link());
    },
  };
}

/** "▸ label": a part that opens below the footer. `opened()` is called when it opens. */
export function disclosure(label, content, opened = () => {}) {
  return h(
    "details",
    { class: "mh-more", ontoggle: (event) => event.target.open && opened() },
    h("summary", {}, label),
    h("div", { class: "mh-more-body" }, content),
  );
}

function table({ title, head, rows }) {
  const cells = (row) => {
    const [name, ...values] = row;
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      values.map((value) => h("td", {}, value)),
    );
  };
  return h(
    "div",
    { class: "mh-scroll", tabindex: 0, role: "region", "aria-label": title },
    h(
      "table",
      {},
      h("caption", {}, title),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head.map((text) => h("th", { scope: "col" }, rich(text))),
        ),
      ),
      h("tbody", {}, rows.map(cells)),
    ),
  );
}

/** On a narrow screen the first line of the readout stays in sight as long as the picture is. */
function follow(picture, readout, result) {
  const seen = new Map();
  const watching = new IntersectionObserver((entries) => {
    for (const entry of entries) seen.set(entry.target, entry.isIntersecting && entry.boundingClientRect.height > 0);
    const below = readout.getBoundingClientRect().top > 0;
    result.classList.toggle("mh-shown", Boolean(seen.get(picture) && !seen.get(readout) && below));
  });
  watching.observe(picture);
  watching.observe(readout);
  return () => watching.disconnect();
}

/** What the colours of shares mean. */
export function shareKey({ masked = true } = {}) {
  const steps = [0, 0.1, 0.25, 0.5, 1].map((share) =>
    h("span", { class: "mh-key-item" }, h("i", { class: "mh-swatch", "data-share": share }), String(share)),
  );
  const hatched = h("span", { class: "mh-key-item" }, h("i", { class: "mh-swatch mh-hatched" }), "masked");
  return masked ? [...steps, hatched] : steps;
}
