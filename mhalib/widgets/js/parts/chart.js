// Small SVG charts: axes, one or more paths, bars.

import { set, svg } from "./dom.js";

export const linear =
  ([a, b], [from, to]) =>
  (value) =>
    from + ((value - a) / (b - a)) * (to - from);

export const log = ([a, b], [from, to]) => {
  const scale = linear([Math.log(a), Math.log(b)], [from, to]);
  return (value) => scale(Math.log(Math.max(value, Number.MIN_VALUE)));
};

const round = (value) => Math.round(value * 100) / 100;

export function line(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${round(x)} ${round(y)}`).join("");
}

/** Bars from `base`, as one path: [left, width, top] each. */
export function bars(list, base) {
  return list
    .map(([x, width, y]) => `M${round(x)} ${round(base)}V${round(y)}h${round(width)}V${round(base)}z`)
    .join("");
}

/**
 * An empty chart of `width` × `height` units. `ticks` (re)draws the axes:
 * x: [[value, label]], y: [[value, label]], with the scales that place them.
 */
export function chart({ width, height, left = 34, right = 8, top = 10, bottom = 24, className = "" }) {
  const axes = svg("g", { class: "mh-axes" });
  const element = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: `mh-chart ${className}`, "aria-hidden": "true" },
    axes,
  );
  const inner = { left, right: width - right, top, bottom: height - bottom };
  return {
    element,
    inner,
    path(className, attributes = {}) {
      const path = svg("path", { class: className, ...attributes });
      element.append(path);
      return path;
    },
    ticks({ x = [], y = [], xScale, yScale }) {
      axes.replaceChildren(
        ...y.flatMap(([value, label]) => {
          const at = round(yScale(value));
          return [
            svg("path", { d: `M${inner.left} ${at}H${inner.right}`, class: "mh-grid" }),
            svg("text", { x: inner.left - 5, y: at, class: "mh-tick mh-end" }, label),
          ];
        }),
        svg("path", { d: `M${inner.left} ${inner.bottom}H${inner.right}`, class: "mh-axis" }),
        ...x.flatMap(([value, label]) => {
          const at = round(xScale(value));
          return [
            svg("path", { d: `M${at} ${inner.bottom}v4`, class: "mh-axis" }),
            svg("text", { x: at, y: inner.bottom + 15, class: "mh-tick mh-middle" }, label),
          ];
        }),
      );
    },
  };
}

/** Where a pointer is, in the units of the chart. */
export function unitsAt(event, element) {
  const box = element.getBoundingClientRect();
  const view = element.viewBox.baseVal;
  return [
    ((event.clientX - box.left) / box.width) * view.width,
    ((event.clientY - box.top) / box.height) * view.height,
  ];
}

export function place(circle, x, y) {
  set(circle, { cx: round(x), cy: round(y) });
}
