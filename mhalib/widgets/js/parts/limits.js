// What a value may be, by the limits that Python declares and sends with the state.

const KINDS = {
  int: ({ min, max }, value) => Number.isInteger(value) && value >= min && value <= max,
  float: ({ min, max }, value) => Number.isFinite(value) && value >= min && value <= max,
  choice: ({ options }, value) => options.includes(value),
  bool: (_, value) => typeof value === "boolean",
  text: ({ max }, value) => typeof value === "string" && [...value].length <= max,
  pair: ({ of }, value) => Array.isArray(value) && value.length === 2 && value.every((each) => allowed(of, each)),
  list: ({ of }, value) => Array.isArray(value) && value.length <= 1000 && value.every((each) => allowed(of, each)),
  numbers: ({ pattern, max }, value) =>
    value?.constructor === Object &&
    Object.entries(value).every(([name, number]) => RegExp(`^${pattern}$`).test(name) && Math.abs(number) <= max),
};

export function allowed(limit, value) {
  return KINDS[limit.type](limit, value);
}

/** Of some values by name those that the limits know and allow. */
export function within(limits, values) {
  const known = Object.entries(Object(values)).filter(
    ([name, value]) => Object.hasOwn(limits, name) && allowed(limits[name], value),
  );
  return Object.fromEntries(known);
}
