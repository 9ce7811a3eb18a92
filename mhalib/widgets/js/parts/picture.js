// A picture in real pixels: a canvas for cells, an SVG of the same size over it for all that has a class.
// It is measured, never scaled: `draw(width)` lays it out anew when its room changes.

import { h, say, set, svg } from "./dom.js";
import { coloursOf, onTheme } from "./theme.js";

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * One tab stop. `draw(width)` writes the layers and returns { height, paint(pen, colours) }; `paint` then
 * draws on the canvas. A position is whatever `hit(x, y)` returns for a point (null: nothing there):
 *
 *   peek(position | null)  the pointer is over it, or has left
 *   pick(position)         a click, a tap
 *   arrow(di, dj)          an arrow key; Home, End: ±Infinity across; PageUp, PageDown: down
 *   enter(key), escape()   those keys; key is "Enter" or " "
 *   drag { start(position) → whether it drags, move(position, dy) }, with a mouse or a pen
 */
export function picture(stops, { label, draw, hit, peek, pick, arrow, drag, enter = () => {}, escape = () => {} }) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  const drawing = svg("svg", { "aria-hidden": "true" });
  const sentence = h("span", { class: "mh-unseen" });
  const surface = h(
    "div",
    {
      class: "mh-plane",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "picture",
      "aria-label": `${label}. Arrow keys move.`,
    },
    canvas,
    drawing,
    sentence,
  );
  const element = h("div", { class: "mh-picture" }, surface);
  let width = 0;
  let colours = null;
  let flashing = null;

  const redraw = () => {
    if (!width) return;
    colours ??= coloursOf(element);
    const { height: needed, paint } = draw(width);
    const height = Math.ceil(needed);
    const ratio = globalThis.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      for (const layer of [canvas, drawing, surface]) {
        layer.style.width = `${width}px`;
        layer.style.height = `${height}px`;
      }
    } else pen.clearRect(0, 0, width, height);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(pen, colours);
  };
  const fill = (room) => {
    if (Math.floor(room) === width) return;
    width = Math.floor(room);
    redraw();
  };
  const measure = new ResizeObserver(([entry]) => fill(entry.contentRect.width));
  queueMicrotask(() => fill(element.clientWidth)); // before the first paint, where the view is there at once
  measure.observe(element);
  stops.push(() => measure.disconnect());
  onTheme(stops, () => {
    colours = null;
    redraw();
  });

  const at = (event) => {
    const box = surface.getBoundingClientRect();
    return hit(event.clientX - box.left, event.clientY - box.top);
  };
  let held = null;
  let dragged = null; // where a drag began
  surface.addEventListener("pointermove", (event) => {
    if (dragged !== null && event.buttons) drag.move(at(event), event.clientY - dragged);
    else if (event.pointerType === "mouse" || held) peek(at(event));
  });
  surface.addEventListener("pointerleave", () => peek(null));
  surface.addEventListener("pointerdown", (event) => {
    held = event.pointerType === "mouse" ? null : setTimeout(() => peek(at(event)), 300);
    const start = event.pointerType !== "touch" && event.button === 0 && drag ? at(event) : null;
    dragged = start !== null && drag.start(start) ? event.clientY : null;
    if (dragged !== null) surface.setPointerCapture(event.pointerId);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    surface.addEventListener(end, () => {
      clearTimeout(held);
      held = null;
    });
  }
  surface.addEventListener("click", (event) => {
    const position = at(event);
    if (position && dragged === null) pick(position);
    dragged = null;
  });
  surface.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (ARROWS[event.key]) arrow(...ARROWS[event.key]);
    else if (event.key === "Home" || event.key === "End") arrow(0, event.key === "End" ? Infinity : -Infinity);
    else if (event.key === "PageUp" || event.key === "PageDown")
      arrow(event.key === "PageDown" ? Infinity : -Infinity, 0);
    else if (event.key === "Enter" || event.key === " ") enter(event.key);
    else if (event.key === "Escape") escape();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    element,
    surface,
    redraw,
    /** A layer of SVG shapes, in the order in which layers are made. */
    layer() {
      const group = svg("g");
      drawing.append(group);
      return { write: (list) => shapes(group, list) };
    },
    /** Mark for a moment what moved (a path). */
    flash(d) {
      flashing?.remove();
      flashing = null;
      if (d) drawing.append((flashing = svg("path", { class: "mh-moved", d })));
    },
    /** Put an element (a control) at a place over the picture. */
    place(control, left, top) {
      if (control.parentElement !== element) element.append(control);
      control.style.translate = `${left}px ${top}px`;
      control.classList.add("mh-placed");
    },
    /** The hidden sentence on the chosen item. */
    tell: (text) => say(sentence, text),
  };
}

/** Let a group hold these shapes, [tag, attributes, text] each; elements that are there are used again. */
export function shapes(group, list) {
  const wanted = list.filter(Boolean);
  while (group.childElementCount > wanted.length) group.lastChild.remove();
  wanted.forEach(([tag, attributes, text = ""], k) => {
    let shape = group.children[k];
    if (shape?.tagName !== tag) {
      const fresh = svg(tag);
      if (shape) shape.replaceWith(fresh);
      else group.append(fresh);
      shape = fresh;
    }
    for (const name of shape.getAttributeNames()) if (!(name in attributes)) shape.removeAttribute(name);
    set(shape, attributes);
    if (shape.textContent !== text) shape.textContent = text;
  });
}
