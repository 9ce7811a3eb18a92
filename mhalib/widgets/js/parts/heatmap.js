// A matrix as a picture: one canvas pixel a cell, scaled up by the browser; masks, grid and marks
// are drawn over it in SVG, so that they follow the theme. The colours of the pixels are one hue
// with more or less opacity, which suits any background.

import { cursor } from "./cursor.js";
import { fixed } from "../math/format.js";
import { fit, h, say, set, svg } from "./dom.js";

const POSITIVE = [64, 118, 222];
const NEGATIVE = [224, 108, 24];

/** Opacity of a value: shares are spread out a little near 0, signed values are linear. */
const opacity = (value, kind, max) => Math.min(1, Math.abs(value) / max) ** (kind === "share" ? 0.6 : 1);

/**
 * `onMove(i, j, pressed)` hears of every move of the position. `update` takes { matrix, mask,
 * rows, cols (labels; none: no labels), kind: "share" | "signed", max }; `mark` takes outlines
 * [i, j, height, width, className].
 */
export function heatmap({ label, onMove = () => {}, compact = false }) {
  const canvas = h("canvas", { class: "mh-pixels", "aria-hidden": "true" });
  const pen = canvas.getContext("2d", { willReadFrequently: true }); // small: no layer of its own
  const masked = svg("path", { class: "mh-masked" });
  const grid = svg("path", { class: "mh-lines" });
  const marks = svg("g");
  const over = svg("svg", { preserveAspectRatio: "none", "aria-hidden": "true" }, masked, grid, marks);
  const surface = h("div", { class: "mh-surface mh-map" }, canvas, over);
  const top = h("div", { class: "mh-cols", "aria-hidden": "true" });
  const left = h("div", { class: "mh-rows", "aria-hidden": "true" });
  const element = h("div", { class: `mh-heatmap${compact ? " mh-compact" : ""}` }, top, left, surface);
  let size = [0, 0];
  let drawn = {};

  const position = cursor(surface, {
    label,
    size: () => size,
    locate: (event) => {
      const box = surface.getBoundingClientRect();
      const cell = [
        Math.floor(((event.clientY - box.top) / box.height) * size[0]),
        Math.floor(((event.clientX - box.left) / box.width) * size[1]),
      ];
      return cell.every((at, axis) => at >= 0 && at < size[axis]) ? cell : null;
    },
    show: onMove,
  });

  // Of many pictures only some are on the screen: the others are drawn when they come near it.
  let wanted = null;
  let near = false;
  new IntersectionObserver(
    (entries) => {
      near = entries.at(-1).isIntersecting;
      if (near && wanted) draw();
    },
    { rootMargin: "300px" },
  ).observe(element);

  function resize(rows, cols) {
    if (size[0] === rows && size[1] === cols) return;
    size = [rows, cols];
    [canvas.width, canvas.height] = [cols, rows];
    set(over, { viewBox: `0 0 ${cols} ${rows}` });
    element.style.setProperty("--rows", rows);
    element.style.setProperty("--cols", cols);
    const across = Array.from({ length: rows - 1 }, (_, i) => `M0 ${i + 1}H${cols}`);
    const down = Array.from({ length: cols - 1 }, (_, j) => `M${j + 1} 0V${rows}`);
    set(grid, { d: rows * cols <= 1200 ? [...across, ...down].join("") : "" });
    drawn = {};
  }

  function draw() {
    const { matrix, mask, kind, max, rows, cols } = wanted;
    const newMask = !same(mask?.data, drawn.mask?.data);
    if (newMask) set(masked, { d: mask ? hatching(mask) : "" });
    if (newMask || matrix !== drawn.matrix || kind !== drawn.kind || max !== drawn.max) {
      pen.putImageData(paint(pen.createImageData(matrix.cols, matrix.rows), matrix, mask, kind, max), 0, 0);
    }
    write(left, rows);
    write(top, cols);
    drawn = wanted;
    wanted = null;
  }

  return {
    element,
    surface,
    at: position.at,
    moveTo: position.move,
    update({ matrix, mask = null, rows = [], cols = [], kind = "share", max = 1 }) {
      element.hidden = matrix.data.length === 0;
      if (element.hidden) return;
      resize(matrix.rows, matrix.cols);
      wanted = { matrix, mask, kind, max, rows: labels(left, rows), cols: labels(top, cols) };
      if (near) draw();
    },
    mark(outlines) {
      fit(marks, outlines.length, () => svg("rect"));
      outlines.forEach(([i, j, height, width, className = ""], k) =>
        set(marks.children[k], { x: j, y: i, width, height, class: `mh-outline ${className}` }),
      );
    },
  };
}

function paint(image, { data }, mask, kind, max) {
  const pixels = image.data;
  for (let c = 0; c < data.length; c++) {
    const colour = data[c] < 0 ? NEGATIVE : POSITIVE;
    for (let k = 0; k < 3; k++) pixels[4 * c + k] = colour[k];
    pixels[4 * c + 3] = mask && !mask.data[c] ? 0 : 255 * opacity(data[c], kind, max);
  }
  return image;
}

/** A stroke through each masked cell, from its lower left to its upper right; strokes that meet are one line. */
function hatching({ data, rows, cols }) {
  const isMasked = (i, j) => i >= 0 && i < rows && j >= 0 && j < cols && !data[i * cols + j];
  let d = "";
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) {
      if (!isMasked(i, j) || isMasked(i + 1, j - 1)) continue;
      let length = 1;
      while (isMasked(i - length, j + length)) length++;
      d += `M${j} ${i + 1}l${length} -${length}`;
    }
  }
  return d;
}

function same(a, b) {
  return a === b || (a?.length === b?.length && a.every((value, c) => value === b[c]));
}

const LONGEST = 12; // characters of a label

/** The labels of a strip, cut to the length that it makes room for. */
function labels(strip, texts) {
  const lines = texts.map((text) => {
    const characters = [...text];
    return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join("")}…` : text;
  });
  const longest = String(Math.max(0, ...lines.map((line) => [...line].length)));
  if (strip.style.getPropertyValue("--longest") !== longest) strip.style.setProperty("--longest", longest);
  return lines;
}

/** Write the labels whose text is new. */
function write(strip, lines) {
  fit(strip, lines.length, (k) => {
    const label = h("span");
    label.style.setProperty("--at", k);
    return label;
  });
  lines.forEach((line, k) => say(strip.children[k], line));
}

/** What the colours mean. */
export function colourKey(kind, max = 1) {
  const stops = kind === "share" ? [0, 0.1, 0.25, 0.5, 1] : [-1, -0.5, 0, 0.5, 1];
  return h(
    "div",
    { class: "mh-colours" },
    stops.map((stop) => {
      const [r, g, b] = stop < 0 ? NEGATIVE : POSITIVE;
      const swatch = h("span", { class: "mh-swatch" });
      swatch.style.backgroundColor = `rgb(${r} ${g} ${b} / ${opacity(stop, kind, 1)})`;
      return h("span", {}, swatch, kind === "share" ? String(stop) : fixed(stop * max, 1));
    }),
    kind === "share" ? h("span", {}, h("span", { class: "mh-swatch mh-hatch" }), "masked") : null,
  );
}

export function largestSize(...matrices) {
  let max = 1e-12;
  for (const { data } of matrices) {
    for (let c = 0; c < data.length; c++) if (data[c] > max || -data[c] > max) max = Math.abs(data[c]);
  }
  return max;
}
