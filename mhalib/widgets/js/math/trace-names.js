// The name of a number in a trace is its place, "layers.1.weights.0.9.4" or "probabilities.9.388": what
// it is in, the head for what is kept per head, row, column.

const PER_HEAD = ["Q", "K", "V", "scores", "weights", "heads"];

export function parse(name) {
  const parts = name.split(".");
  const layer = parts[0] === "layers" ? Number(parts[1]) : null;
  const rest = layer === null ? parts : parts.slice(2);
  const [stage, ...numbers] = [rest[0], ...rest.slice(1).map(Number)];
  if (PER_HEAD.includes(stage)) return { layer, stage, head: numbers[0], i: numbers[1], j: numbers[2] };
  return { layer, stage, head: null, i: numbers[0], j: numbers[1] };
}

export function nameOf({ layer, stage, head, i, j }) {
  return [...(layer === null ? [] : ["layers", layer]), stage, ...(head === null ? [] : [head]), i, j].join(".");
}
