// Parts that several views share: predictions side by side, and losses by relation.

import { showExact } from "../course.js";
import { fixed, h, rich, say } from "../dom.js";
import { evaluator } from "../evaluation.js";
import { ranked } from "../model.js";

/** Write a shape: "`n` × `d_k`" becomes n × d_k = 13 × 16, in the colours of the dimensions. */
export function shape(element, names, { rows, cols }) {
  const numbers = ` = ${rows}\u00a0×\u00a0${cols}`;
  if (element.lastChild?.data !== numbers) element.replaceChildren(...rich(names), numbers);
}

/** The cell of the weights to start with: a word that looks back at the course's own. */
export function firstCell(labels) {
  const bats = labels.indexOf("bats");
  return bats < 0 ? [Math.max(0, labels.length - 3), 0] : [Math.max(0, labels.lastIndexOf("the")), bats];
}

/** A bar for a share; `mark` draws a line across it at another share. */
function meter(value, className = "", mark = null) {
  const bar = h("span", { class: `mh-meter ${className}${mark === null ? "" : " mh-marked"}` });
  bar.style.setProperty("--part", Math.max(0, Math.min(1, value)));
  if (mark !== null) bar.style.setProperty("--mark", mark);
  return bar;
}

/**
 * The likeliest next tokens. `update` takes the probabilities `before`, those `after` a change (or
 * null), and the `exact` ones as a Map from id to probability (or null).
 */
export function predictions({ onPick = null, count = 6 } = {}) {
  const list = h("ol", { class: "mh-predictions" });
  const note = h("p", { class: "mh-note", "aria-live": "polite" });
  return {
    element: h("div", {}, note, list),
    update(tokenizer, text, before, { after = null, exact = null, chosen = null } = {}) {
      say(note, text);
      const focused = list.contains(document.activeElement) ? document.activeElement.value : null;
      const top = ranked(before).slice(0, count);
      const more = [...(after ? ranked(after).slice(0, 3) : []), ...(exact?.keys() ?? [])];
      for (const id of more) if (!top.includes(id) && top.length < count + 4) top.push(id);
      list.replaceChildren(
        ...top.map((id) => {
          const name = showExact(tokenizer, id);
          return h(
            "li",
            { class: id === chosen ? "mh-chosen-word" : null },
            onPick
              ? h(
                  "button",
                  {
                    type: "button",
                    class: "mh-link",
                    value: id,
                    "aria-pressed": String(id === chosen),
                    onclick: () => onPick(id),
                  },
                  name,
                )
              : h("span", { class: "mh-name" }, name),
            h(
              "span",
              { class: "mh-pair" },
              meter(before[id], "", exact?.get(id) ?? null),
              after && meter(after[id], "mh-after"),
            ),
            h(
              "span",
              { class: "mh-figures" },
              fixed(before[id], 3),
              exact && h("span", { class: "mh-exact-text" }, `exact ${fixed(exact.get(id) ?? 0, 3)}`),
              after && h("span", { class: "mh-after-text" }, fixed(after[id], 3)),
            ),
          );
        }),
      );
      if (focused !== null) list.querySelector(`[value="${focused}"]`)?.focus();
    },
  };
}

/**
 * The loss by relation of the whole model and of a changed one, measured on `texts`. `update` takes what
 * to take out of the model, null for nothing.
 */
export function relationLosses(transformer, tokenizer, texts) {
  const bars = relationBars();
  const note = h("p", { class: "mh-note", "aria-live": "polite" });
  const evaluation = evaluator(transformer, tokenizer, texts);
  let whole = null;
  let asked;
  const done = (changed) => {
    bars.update(whole, changed);
    say(note, `nats a word, on ${texts.length} texts drawn apart from training`);
  };
  return {
    element: h("div", { class: "mh-panel" }, h("p", { class: "mh-title" }, "loss by relation"), bars.element, note),
    stop: evaluation.stop,
    update(ablate) {
      if (asked === JSON.stringify(ablate)) return;
      asked = JSON.stringify(ablate);
      evaluation.stop();
      say(note, "measuring …");
      const compare = () => (ablate ? evaluation.run(ablate, done) : done(null));
      if (whole) compare();
      else
        evaluation.run({}, (result) => {
          whole = result;
          compare();
        });
    },
  };
}

/** One bar a relation: the loss of the whole model, and of the changed one. */
function relationBars() {
  const list = h("ul", { class: "mh-predictions" });
  return {
    element: list,
    update(full, changed) {
      const names = Object.keys(full);
      const largest = Math.max(1, ...Object.values(full), ...Object.values(changed ?? {}));
      list.replaceChildren(
        ...names.map((name) =>
          h(
            "li",
            {},
            h("span", { class: "mh-name" }, name),
            h(
              "span",
              { class: "mh-pair" },
              meter(full[name] / largest),
              changed && meter(changed[name] / largest, "mh-after"),
            ),
            h(
              "span",
              { class: "mh-figures" },
              fixed(full[name], 2),
              changed && h("span", { class: "mh-after-text" }, fixed(changed[name], 2)),
            ),
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
