// The controls of the frame: native, labelled, in one row, each bound to one value of the model.

import { assign, fit, h, rich, say } from "./dom.js";

export function bind(model, name, stops, show) {
  const update = () => show(model.get(name));
  model.on(`change:${name}`, update);
  stops.push(() => model.off(`change:${name}`, update));
  update();
}

const plain = (label) => label.replaceAll("`", "");

/** The row of the sentence: one line to type in, how many tokens it has, the examples if Python declares some. */
export function sentence(model, stops, tokenizer, { name = "text", label = "your sentence", also = {} } = {}) {
  const { max, tokens, examples } = model.get("limits")[name];
  const count = h("span", { class: "mh-count" });
  const countIt = () => {
    const found = tokenizer.encode(model.get(name)).length;
    const cut = [...box.value].length > max;
    const over = found > tokens ? `first ${tokens} of ${found} tokens` : `${found} token${found === 1 ? "" : "s"}`;
    say(count, cut ? `first ${max} characters, ${over}` : over);
    count.classList.toggle("mh-over", cut || found > tokens);
  };
  const box = h("input", {
    type: "text",
    class: "mh-line-input",
    "aria-label": label,
    placeholder: "Type a sentence",
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    dir: "auto",
    oninput: () => {
      assign(model, { [name]: [...box.value].slice(0, max).join("") });
      countIt();
    },
  });
  bind(model, name, stops, (value) => {
    if ([...box.value].slice(0, max).join("") !== value) box.value = value;
    countIt();
  });
  const list =
    examples &&
    h(
      "select",
      {
        class: "mh-button mh-examples",
        "aria-label": "examples",
        onchange: () => {
          assign(model, { [name]: examples[list.value], ...also });
          list.value = "";
        },
      },
      h("option", { value: "", hidden: true }, "Examples"),
      examples.map((text, k) => h("option", { value: k }, text)),
    );
  if (list) list.value = "";
  return h("div", { class: "mh-sentence-row" }, h("div", { class: "mh-line" }, box, count), list);
}

/** One of a few values: [[value, label]]. A row of segments, one tab stop; a list if there are many. */
export function segments(model, name, stops, { label, options }) {
  if (options.length > 8) return menu(model, name, stops, { label, options });
  const group = `mh-${name}-${Math.random().toString(36).slice(2)}`; // radio groups are per document
  const inputs = options.map(([value, text]) => {
    const input = h("input", { type: "radio", name: group, value, onchange: () => assign(model, { [name]: value }) });
    return [value, input, h("label", { "data-label": plain(text) }, input, h("span", {}, rich(text)))];
  });
  bind(model, name, stops, (now) => {
    for (const [value, input] of inputs) input.checked = value === now;
  });
  return h(
    "div",
    { class: "mh-set", role: "radiogroup", "aria-label": plain(label) },
    label && h("span", { class: "mh-label", "aria-hidden": "true" }, rich(label)),
    h(
      "div",
      { class: "mh-segments" },
      inputs.map(([, , element]) => element),
    ),
  );
}

/** One of many values: [[value, label]]. `shown: false` hides the label from the eye. */
export function menu(model, name, stops, { label, options, shown = true }) {
  const list = h(
    "select",
    { "aria-label": plain(label), onchange: () => assign(model, { [name]: options[list.selectedIndex][0] }) },
    options.map(([, text]) => h("option", {}, plain(text))),
  );
  bind(model, name, stops, (now) => {
    list.selectedIndex = options.findIndex(([value]) => value === now);
  });
  return h("label", { class: "mh-set" }, shown && h("span", { class: "mh-label" }, rich(label)), list);
}

/**
 * Switches in a toolbar: one tab stop, arrow keys move, Space and Enter switch. `update` takes
 * [{ label, on, className, title }]; `flip(k)` is called with the number of a switch.
 */
export function toolbar({ label, flip, className = "" }) {
  let current = 0;
  const focus = (k) => {
    current = Math.max(0, Math.min(bar.childElementCount - 1, k));
    [...bar.children].forEach((each, i) => (each.tabIndex = i === current ? 0 : -1));
    bar.children[current]?.focus();
  };
  const bar = h("div", {
    class: `mh-toolbar ${className}`,
    role: "toolbar",
    "aria-label": plain(label),
    onkeydown: (event) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -1e9, End: 1e9 }[event.key];
      if (!step) return;
      focus(current + step);
      event.preventDefault();
      event.stopPropagation();
    },
  });
  const make = (k) =>
    h("button", { type: "button", tabindex: -1, onclick: () => flip(k), onfocus: () => (current = k) }, h("span"));
  return {
    element: bar,
    update(switches) {
      fit(bar, switches.length, make);
      current = Math.min(current, Math.max(0, switches.length - 1));
      switches.forEach(({ label: text, on, className: own = "", title = null }, k) => {
        const each = bar.children[k];
        each.tabIndex = k === current ? 0 : -1;
        each.className = `mh-switch ${own}`;
        each.setAttribute("aria-pressed", String(on));
        if (title) each.setAttribute("aria-label", title);
        if (text.includes("`")) each.firstChild.replaceChildren(...rich(text));
        else say(each.firstChild, text);
      });
    },
  };
}

/**
 * A slider with its exact value in a box beside it. `steps` are the places of the slider; the box takes
 * any number within the limits.
 */
export function slider(model, name, stops, { label, steps }) {
  const { type, min, max } = model.get("limits")[name];
  const nearest = (value) =>
    steps.reduce((best, s, i) => (Math.abs(s - value) < Math.abs(steps[best] - value) ? i : best), 0);
  const range = h("input", {
    type: "range",
    min: 0,
    max: steps.length - 1,
    step: 1,
    oninput: () => assign(model, { [name]: steps[range.valueAsNumber] }),
  });
  const box = h("input", {
    type: "number",
    min,
    max,
    step: type === "int" ? 1 : "any",
    "aria-label": `${plain(label)}, exact value`,
    onchange: () => {
      const typed = box.valueAsNumber;
      if (!Number.isNaN(typed)) {
        assign(model, { [name]: Math.min(max, Math.max(min, type === "int" ? Math.round(typed) : typed)) });
      }
      box.value = model.get(name);
    },
  });
  bind(model, name, stops, (value) => {
    range.value = nearest(value);
    range.setAttribute("aria-valuetext", value);
    range.style.setProperty("--fill", `${(100 * range.value) / (steps.length - 1)}%`);
    if (box.value !== String(value)) box.value = value;
  });
  return h(
    "div",
    { class: "mh-set mh-grow" },
    h("label", {}, h("span", { class: "mh-label" }, rich(label)), range),
    box,
  );
}

/** A number typed or stepped within its limits, and at most `most()` if that is given. */
export function number(model, name, stops, { label, step = 1, most = () => Infinity }) {
  const { type, min, max } = model.get("limits")[name];
  const box = h("input", {
    type: "number",
    class: "mh-count-box",
    min,
    max,
    step,
    "aria-label": plain(label),
    onfocus: () => (box.max = Math.min(max, most())),
    oninput: () => set(false),
    onchange: () => set(true),
  });
  const set = (done) => {
    const typed = box.valueAsNumber;
    const whole = type === "int" ? Math.round(typed) : typed;
    if (Number.isFinite(whole)) assign(model, { [name]: Math.min(max, most(), Math.max(min, whole)) });
    if (done) box.value = model.get(name);
  };
  bind(model, name, stops, (value) => {
    if (box.valueAsNumber !== value) box.value = value;
  });
  return h("label", { class: "mh-set" }, h("span", { class: "mh-label" }, rich(label)), box);
}

export function button(label, onclick, attributes = {}) {
  return h("button", { type: "button", class: "mh-button", onclick, ...attributes }, rich(label));
}
