// Small charts: where a value stands, lines and bars as paths.

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
