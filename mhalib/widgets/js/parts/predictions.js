// Parts that several views share: predictions side by side, and losses by relation.

import { fixed } from "../math/format.js";
import { fit, h, say, set } from "./dom.js";
import { showExact } from "./tokens.js";
import { evaluator } from "../math/analysis.js";
import { ranked } from "../math/vocab.js";

/**
 * A list of shares as bars, updated in place: each row { name, value, before, after, mark, figures }.
 * `before` and `after` are the two bars (after may be null); `mark` a line across the first; `figures`
 * the texts [[text, className]] behind. With `onPick` a name is a button that hands over the `value`.
 */
function bars({ tag, onPick = null }) {
  const list = h(tag, { class: "mh-predictions" });
  const make = () => {
    const name = onPick
      ? h("button", { type: "button", class: "mh-link", onclick: () => onPick(Number(name.value)) })
      : h("span", { class: "mh-name" });
    const pair = [h("span", { class: "mh-meter" }), h("span", { class: "mh-meter mh-after" })];
    return h("li", {}, name, h("span", { class: "mh-pair" }, pair), h("span", { class: "mh-figures" }));
  };
  const share = (bar, value) => bar.style.setProperty("--part", Math.max(0, Math.min(1, value)));
  return {
    element: list,
    update(shown, chosen = null) {
      const focused = list.contains(document.activeElement) ? document.activeElement.value : null;
      fit(list, shown.length, make);
      shown.forEach(({ name, value, before, after = null, mark = null, figures }, k) => {
        const item = list.children[k];
        const [label, { children: meters }, { children: texts }] = item.children;
        say(label, name);
        if (onPick) set(label, { value, "aria-pressed": value === chosen });
        item.classList.toggle("mh-chosen-word", chosen !== null && value === chosen);
        share(meters[0], before);
        meters[0].classList.toggle("mh-marked", mark !== null);
        if (mark !== null) meters[0].style.setProperty("--mark", mark);
        meters[1].hidden = after === null;
        meters[1].classList.toggle("mh-cut", after === 0);
        if (after !== null) share(meters[1], after);
        fit(item.lastChild, figures.length, () => h("span"));
        figures.forEach(([text, className = ""], f) => {
          say(texts[f], text);
          set(texts[f], { class: className });
        });
      });
      if (focused !== null && document.activeElement.value !== focused)
        list.querySelector(`[value="${focused}"]`)?.focus();
    },
  };
}

/**
 * The likeliest next tokens. `update` takes the probabilities `before`, those `after` a change (or
 * null), and the `exact` ones as a Map from id to probability (or null).
 */
export function predictions({ onPick = null, count = 6 } = {}) {
  const list = bars({ tag: "ol", onPick });
  const note = h("p", { class: "mh-note", "aria-live": "polite" });
  return {
    element: h("div", {}, note, list.element),
    update(tokenizer, text, before, { after = null, exact = null, chosen = null } = {}) {
      say(note, text);
      const top = ranked(before).slice(0, count);
      const more = [...(after ? ranked(after).slice(0, 3) : []), ...(exact?.keys() ?? [])];
      for (const id of more) if (!top.includes(id) && top.length < count + 4) top.push(id);
      list.update(
        top.map((id) => ({
          name: showExact(tokenizer, id),
          value: id,
          before: before[id],
          after: after && after[id],
          mark: exact?.get(id) ?? null,
          figures: [
            [fixed(before[id], 3)],
            ...(exact ? [[`exact ${fixed(exact.get(id) ?? 0, 3)}`, "mh-exact-text"]] : []),
            ...(after ? [[fixed(after[id], 3), "mh-after-text"]] : []),
          ],
        })),
        chosen,
      );
    },
  };
}

/**
 * The loss by relation of the whole model and of a changed one, measured on `texts`. `update` takes what
 * to take out of the model, null for nothing; `told` hears of the relation that lost most, [name, before, after].
 */
export function relationLosses(transformer, tokenizer, texts, told = () => {}) {
  const bars = relationBars();
  const note = h("p", { class: "mh-note", "aria-live": "polite" });
  const evaluation = evaluator(transformer, tokenizer, texts);
  let whole = null;
  let asked;
  const done = (changed) => {
    bars.update(whole, changed);
    say(note, `nats a word, on ${texts.length} texts drawn apart from training`);
    if (!changed) return told(null);
    const { all, ...named } = whole;
    const rise = (name) => changed[name] - whole[name];
    const worst = Object.keys(named).reduce((a, b) => (rise(b) > rise(a) ? b : a));
    told([worst, whole[worst], changed[worst]]);
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
  const list = bars({ tag: "ul" });
  return {
    element: list.element,
    update(full, changed) {
      const largest = Math.max(1, ...Object.values(full), ...Object.values(changed ?? {}));
      list.update(
        Object.keys(full).map((name) => ({
          name,
          before: full[name] / largest,
          after: changed && changed[name] / largest,
          figures: [[fixed(full[name], 2)], ...(changed ? [[fixed(changed[name], 2), "mh-after-text"]] : [])],
        })),
      );
    },
  };
}
