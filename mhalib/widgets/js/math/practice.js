// What is said of an answer, by the numbers that mhalib/by_hand computed for a problem.

/** A typed number: "−0.5", "0,5", "2/3"; NaN if it is none. */
export function parse(text) {
  const [above, below = "1", ...rest] = text.trim().replaceAll("−", "-").replaceAll(",", ".").split("/");
  const plain = (part) => (/^[+-]?(\d+\.?\d*|\.\d+)$/.test(part.trim()) ? Number(part) : NaN);
  return rest.length ? NaN : plain(above) / plain(below);
}

const words = (text) => text.trim().toLowerCase().replace(/\s+/g, " ");

/** How many decimals were typed. */
const decimals = (text) => text.trim().split(/[.,]/)[1]?.length ?? 0;

/** Whether `text` is the value `wanted`, or a number that close to it. */
export function matches(text, wanted, within) {
  if (typeof wanted === "string") return words(text) === words(wanted);
  return Math.abs(parse(text) - wanted) <= within * 1.001;
}

const differ = (a, b, within) => (typeof a === "string" ? a !== b : Math.abs(a - b) > within * 1.001);

/**
 * Judge cell k of a problem { right, wrong, within } when `texts` are typed in all cells ("": empty):
 * "empty", "right", "no number", "rounded" (right, but with too few decimals), "wrong". `mistakes` are the numbers
 * of those known mistakes that give what was typed here, of these the ones that explain most of the other cells.
 */
export function judge({ right, wrong, within }, texts, k) {
  const text = texts[k];
  const say = (verdict, mistakes = []) => ({ verdict, mistakes });
  if (!text.trim()) return say("empty");
  if (matches(text, right[k], within[k])) return say("right");
  if (typeof right[k] === "number") {
    if (!Number.isFinite(parse(text))) return say("no number");
    const places = decimals(text);
    const unit = 10 ** -places;
    if (places < 2 && !text.includes("/") && Math.abs(parse(text) - right[k]) <= unit / 2 + 1e-9) return say("rounded");
  }
  const explained = wrong.map(
    (values) => texts.filter((typed, c) => typed && matches(typed, values[c], within[c])).length,
  );
  const found = wrong.flatMap((values, m) =>
    differ(values[k], right[k], within[k]) && matches(text, values[k], within[k]) ? [m] : [],
  );
  const most = Math.max(...found.map((m) => explained[m]));
  return say(
    "wrong",
    found.filter((m) => explained[m] === most),
  );
}

/** A problem of a rung as the page shows it: its tables, and the table, row and column of each asked cell. */
export function laidOut(form, problem) {
  const grids = form.map((grid, g) => ({ ...grid, ...problem.labels?.[g], cells: problem.cells[g] }));
  const places = grids.flatMap(({ cells }, g) =>
    cells.flatMap((row, i) => row.flatMap((cell, j) => (cell === null ? [{ g, i, j }] : []))),
  );
  return { ...problem, grids, places, within: places.map(({ g }) => grids[g].within) };
}
