// Native, labelled controls bound to one value of the model, both ways. Each returns its element
// and pushes to `stops` what ends its binding.

import { assign, fit, h, rich, say } from "./dom.js";

function bind(model, name, stops, show) {
  const update = () => show(model.get(name));
  model.on(`change:${name}`, update);
  stops.push(() => model.off(`change:${name}`, update));
  update();
}

/**
 * A slider with its exact value in a number box beside it. `steps` lists the values on the
 * slider; the box takes any number between the first and the last (`integer`: whole numbers).
 */
export function slider(model, name, stops, { label, steps, integer = true }) {
  const last = steps.at(-1);
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
    min: steps[0],
    max: last,
    step: integer ? 1 : "any",
    "aria-label": `${label.replaceAll("`", "")}, exact value`,
    onchange: () => {
      const typed = box.valueAsNumber;
      if (!Number.isNaN(typed)) {
        const within = Math.min(last, Math.max(steps[0], integer ? Math.round(typed) : typed));
        assign(model, { [name]: within });
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
  return h("div", { class: "mh-control mh-slider" }, h("label", {}, h("span", {}, rich(label)), range), box);
}

/** One of a few values, as radio buttons in a row. `options`: {value: label}; values are strings
 * unless `number`. */
export function choice(model, name, stops, { label, options, number = false }) {
  const group = `mh-${name}-${Math.random().toString(36).slice(2)}`; // radio groups are per document
  const inputs = Object.entries(options).map(([value, text]) => {
    const input = h("input", {
      type: "radio",
      name: group,
      value,
      onchange: () => assign(model, { [name]: number ? Number(value) : value }),
    });
    return [input, h("label", {}, input, h("span", {}, rich(text)))];
  });
  bind(model, name, stops, (value) => {
    for (const [input] of inputs) input.checked = input.value === String(value);
  });
  return h(
    "fieldset",
    { class: "mh-control mh-choice" },
    h("legend", {}, rich(label)),
    h(
      "div",
      { class: "mh-segments" },
      inputs.map(([, element]) => element),
    ),
  );
}

/** A drop-down list. `options`: [[value, label]]; values are strings unless `number`. */
export function dropdown(model, name, stops, { label, options, number = false }) {
  const select = h(
    "select",
    { onchange: () => assign(model, { [name]: number ? Number(select.value) : select.value }) },
    options.map(([value, text]) => h("option", { value }, text)),
  );
  bind(model, name, stops, (value) => {
    select.value = value;
  });
  return h("label", { class: "mh-control mh-select" }, h("span", {}, rich(label)), select);
}

/** A box to tick. */
export function tick(model, name, stops, { label }) {
  const input = h("input", { type: "checkbox", onchange: () => assign(model, { [name]: input.checked }) });
  bind(model, name, stops, (value) => {
    input.checked = value;
  });
  return h("label", { class: "mh-control mh-tick" }, input, h("span", {}, rich(label)));
}

/** Free text of at most `limit` characters; what is over the limit is cut, and said. */
export function textBox(model, name, stops, { label, limit, rows = 2 }) {
  const note = h("span", { class: "mh-note", role: "status" });
  const area = h("textarea", {
    rows,
    spellcheck: "false",
    autocapitalize: "off",
    dir: "auto",
    oninput: () => {
      const characters = [...area.value];
      say(note, characters.length > limit ? `Only the first ${limit} characters are used.` : "");
      assign(model, { [name]: characters.slice(0, limit).join("") });
    },
  });
  bind(model, name, stops, (value) => {
    if ([...area.value].slice(0, limit).join("") !== value) area.value = value;
  });
  return h("label", { class: "mh-control mh-text" }, h("span", {}, rich(label)), area, note);
}

/** A row of labels that each hold an input; a new text changes the label that is there. */
function chipRow(label, makeInput) {
  const row = h("div", { class: "mh-chip-row" });
  return {
    element: h("fieldset", { class: "mh-control mh-chips" }, h("legend", {}, rich(label)), row),
    write(labels) {
      fit(row, labels.length, (j) => h("label", {}, makeInput(j), h("span")));
      labels.forEach((text, j) => say(row.children[j].lastChild, text));
    },
    check(isChecked) {
      row.querySelectorAll("input").forEach((input, j) => {
        input.checked = isChecked(j);
      });
    },
  };
}

/** Any number of positions out of a row of labels; the value is their sorted list. */
export function chips(model, name, label) {
  const row = chipRow(label, (j) => {
    const onchange = () => {
      const others = model.get(name).filter((k) => k !== j);
      assign(model, { [name]: box.checked ? [...others, j].sort((a, b) => a - b) : others });
    };
    const box = h("input", { type: "checkbox", onchange });
    return box;
  });
  return {
    element: row.element,
    update(labels) {
      row.write(labels);
      row.check((j) => model.get(name).includes(j));
    },
  };
}

/** One position out of a row of labels. */
export function pick(model, name, stops, label) {
  const group = `mh-${name}-${Math.random().toString(36).slice(2)}`;
  const row = chipRow(label, (j) =>
    h("input", { type: "radio", name: group, onchange: () => assign(model, { [name]: j }) }),
  );
  const check = () => row.check((j) => j === model.get(name));
  model.on(`change:${name}`, check);
  stops.push(() => model.off(`change:${name}`, check));
  return {
    element: row.element,
    update(labels) {
      row.write(labels);
      check();
    },
  };
}

export function button(label, onclick, attributes = {}) {
  return h("button", { type: "button", class: "mh-button", onclick, ...attributes }, rich(label));
}

/** The values of a model by name, as the page has them (in Jupyter: as they are now). */
export function valuesOf(model, names) {
  return Object.fromEntries(names.map((name) => [name, structuredClone((model.first ?? {})[name] ?? model.get(name))]));
}

/** Puts the values named in `names` back to what they were first. */
export function resetButton(model, names, first = valuesOf(model, names)) {
  return button("Reset", () => assign(model, first));
}
