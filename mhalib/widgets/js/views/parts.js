// Parts that several views share: predictions side by side, and losses by relation.

import { showExact } from "../course.js";
import { fixed, h, say } from "../dom.js";
import { ranked } from "../model.js";
import { row } from "../tensor.js";

function meter(value, className = "") {
  const bar = h("span", { class: `mh-meter ${className}` });
  bar.style.setProperty("--part", Math.max(0, Math.min(1, value)));
  return bar;
}

/** The likeliest next tokens after one position; `changed` beside `full` if it is given. */
export function predictions({ onPick = null, count = 6 } = {}) {
  const list = h("ol", { class: "mh-predictions" });
  const note = h("p", { class: "mh-note", "aria-live": "polite" });
  return {
    element: h("div", {}, note, list),
    update(tokenizer, full, position, text, changed = null) {
      say(note, text);
      const before = row(full.probabilities, position);
      const after = changed && row(changed.probabilities, position);
      const top = ranked(before).slice(0, count);
      if (after) for (const id of ranked(after).slice(0, 3)) if (!top.includes(id)) top.push(id);
      list.replaceChildren(
        ...top.slice(0, count + 2).map((id) => {
          const name = showExact(tokenizer, id);
          return h(
            "li",
            {},
            onPick
              ? h("button", { type: "button", class: "mh-link", onclick: () => onPick(id) }, name)
              : h("span", { class: "mh-name" }, name),
            h("span", { class: "mh-pair" }, meter(before[id]), after && meter(after[id], "mh-after")),
            h("span", { class: "mh-figures" }, fixed(before[id], 3), after && h("span", { class: "mh-after-text" }, fixed(after[id], 3))),
          );
        }),
      );
    },
  };
}

/** One bar a relation: the loss of the whole model, and of the changed one. */
export function relationBars() {
  const list = h("ul", { class: "mh-predictions" });
  return {
    element: list,
    update(full, changed = null) {
      const names = Object.keys(full);
      const largest = Math.max(1, ...Object.values(full), ...Object.values(changed ?? {}));
      list.replaceChildren(
        ...names.map((name) =>
          h(
            "li",
            {},
            h("span", { class: "mh-name" }, name),
            h("span", { class: "mh-pair" }, meter(full[name] / largest), changed && meter(changed[name] / largest, "mh-after")),
            h("span", { class: "mh-figures" }, fixed(full[name], 2), changed && h("span", { class: "mh-after-text" }, fixed(changed[name], 2))),
          ),
        ),
      );
    },
  };
}

/** What the two colours of the bars mean. */
export function beforeAfter(before, after) {
  return h(
    "p",
    { class: "mh-legend" },
    h("span", { class: "mh-key mh-key-before" }, before),
    h("span", { class: "mh-key mh-key-after" }, after),
  );
}
