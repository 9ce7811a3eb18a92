// Elements and listeners. Text goes in as text nodes only; nothing is parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

export function h(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** Set attributes that changed. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

/** Set the text if it changed, so that a live region speaks only when there is news. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Let `parent` have `count` children: what is over goes, what is missing is made by `make(k)`. */
export function fit(parent, count, make) {
  while (parent.childElementCount > count) parent.lastChild.remove();
  for (let k = parent.childElementCount; k < count; k++) parent.append(make(k));
}

/** "d_k" with a real subscript, in the colour of its dimension. */
export function symbol(name) {
  const [base, sub] = name.split("_");
  return h("var", { class: `dim dim-${name}` }, base, sub ? h("sub", {}, sub) : null);
}

/** A label of text in which `d_k`, `d_model` … between backquotes become symbols. */
export function rich(text) {
  return text.split("`").map((part, i) => (i % 2 ? symbol(part) : part));
}

/**
 * Call `update` once per animation frame in which any of `names` changed. Returns the function
 * that stops watching.
 */
export function watch(model, names, update) {
  let frame = 0;
  const request = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      update();
    });
  };
  for (const name of names) model.on(`change:${name}`, request);
  update();
  return () => {
    cancelAnimationFrame(frame);
    for (const name of names) model.off(`change:${name}`, request);
  };
}

/** Remember the last result of a function, for as long as its arguments stay the same. */
export function cached(f) {
  let key;
  let value;
  return (...args) => {
    if (!key?.every((k, i) => k === args[i])) value = f(...args);
    key = args;
    return value;
  };
}

/** Set several values of the model, tell it, and the kernel if there is one. */
export function assign(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}
