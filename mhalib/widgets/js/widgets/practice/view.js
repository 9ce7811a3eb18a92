// A problem for pencil and paper: empty cells, each checked at once; a known mistake is named.

import { judge, laidOut } from "../../math/practice.js";
import { button } from "../../parts/bar.js";
import { assign, h, rich, say, watch } from "../../parts/dom.js";
import { frame } from "../../parts/frame.js";
import { grid, sheet, signKey } from "../../parts/sheet.js";

const NAMES = ["number", "typed"];
const MARKS = { right: "✓", wrong: "✗", rounded: "≈", "no number": "?", empty: "" };
const number = (value) => (typeof value === "string" ? value : String(Number(value.toFixed(2))).replace("-", "−"));

export default function practice(model, el) {
  const stops = [];
  let problem = null;
  let built = null; // the problem that the tables are built for
  let chosen = 0;
  let hints = 0; // of the chosen cell
  let seen = false; // whether an answer of this problem was shown
  let solved = false; // whether all of it is right
  let begin = false; // whether the first cell is to have the focus

  const cells = sheet({
    label: "the problem. Arrow keys move, Enter checks a cell",
    chosen(key) {
      if (Number(key) !== chosen) hints = 0;
      chosen = Number(key);
      tell();
    },
    typed(key, text) {
      const typed = texts();
      typed[Number(key)] = text.slice(0, 16);
      assign(model, { typed });
    },
    enter(key) {
      const all = verdicts();
      const open = (each) => all[each].verdict !== "right";
      if (open(key)) return;
      const next = cells.next(key, 1, open) ?? [...cells.cells.keys()].find(open);
      if (next) cells.focus(next);
    },
  });
  const texts = () => problem.places.map((_, k) => model.get("typed")[k] ?? "");
  const verdicts = (typed = texts()) => typed.map((_, k) => judge(problem, typed, k));

  function build() {
    cells.clear();
    let k = 0;
    const table = ({ name, rows, columns, cells: content }) => {
      const called = (i, j) => [name, rows.length > 1 && rows[i], columns.length > 1 && columns[j]].filter(Boolean).join(", ").replaceAll("`", ""); // prettier-ignore
      const cell = (i, j) => {
        const value = content[i][j];
        if (value === false) return null;
        if (value !== null) return String(value).replace("-", "−");
        const key = String(k++);
        const text = typeof problem.right[key] === "string";
        const input = cells.input(key, called(i, j), text ? { inputmode: "text", class: "mh-cell mh-long" } : {}); // prettier-ignore
        return h("span", { class: "mh-check" }, input, h("i", { "aria-hidden": "true" }));
      };
      return grid({ title: h("b", {}, rich(name)), rows, columns, count: content.length, cell });
    };
    cells.element.append(...problem.grids.map(table));
    cells.mark("0");
  }

  /** What is said of the chosen cell: two lines. */
  function words() {
    const bold = (text) => h("b", {}, rich(text));
    const all = verdicts();
    const left = all.filter(({ verdict }) => verdict !== "right").length;
    if (!left) return [bold("✓ All correct."), seen ? "New numbers, and this time without the answer?" : "New numbers for another one."]; // prettier-ignore
    const open = `${left} cell${left === 1 ? "" : "s"} to go.`;
    const { verdict, mistakes } = all[chosen];
    const { name, formula } = problem.grids[problem.places[chosen].g];
    const hint = ["", `${name}: ${formula}.`, `${problem.steps[chosen]}.`, `It is ${number(problem.right[chosen])}.`][hints]; // prettier-ignore
    if (verdict === "right") return [bold("✓ Right."), open];
    if (verdict === "rounded") return [bold("≈ Right so far."), "Give two decimals."];
    if (verdict === "no number") return [bold("? That is not a number."), "Type −0.5 or 2/3, for example."];
    if (verdict === "empty") {
      const cell = cells.cells.get(String(chosen)).getAttribute("aria-label");
      return [hint ? rich(hint) : `${cell}: type it, then Enter.`, open];
    }
    const named = mistakes.map((m) => model.get("mistakes")[m]);
    if (!named.length) return [bold("✗ Not yet."), rich(hint || "None of the mistakes known here. A hint may help.")];
    const says = named.length > 1 ? "Fill in more cells to tell them apart." : named[0].says;
    return [bold(`✗ ${named.map((mistake) => mistake.name).join(", or ")}.`), rich(hint || says)];
  }
  function tell() {
    const typed = texts();
    const all = verdicts();
    for (const [key, cell] of cells.cells) {
      const { verdict } = all[key];
      cell.parentElement.dataset.verdict = verdict;
      say(cell.nextSibling, MARKS[verdict]);
      cell.setAttribute("aria-invalid", String(verdict === "wrong" || verdict === "no number"));
      cells.write(key, typed[key]);
    }
    box.say(...words());
    const solved = model.get("solved");
    say(count, solved ? `solved: ${solved}` : "");
  }

  const hint = button("Hint", () => {
    hints = Math.min(3, hints + 1);
    if (hints === 3) seen = true;
    tell();
  });
  const answer = button("Answer", () => {
    seen = true;
    assign(model, { typed: problem.right.map(number) });
  });
  const fresh = button("New numbers", () => {
    assign(model, { number: (model.get("number") + 1) % model.get("problems").length, typed: [] });
    begin = true;
  });
  const count = h("span", { class: "mh-label" });
  const box = frame(model, el, stops, {
    names: NAMES,
    controls: [fresh, hint, answer, signKey(cells.cells), count],
    picture: cells.element,
    key: h("span", {}, rich("✓ right · ✗ not yet · ≈ more decimals")),
    numbers: null,
  });

  stops.push(
    watch(model, [...NAMES, "problems"], () => {
      const problems = model.get("problems");
      const wanted = problems[Math.min(model.get("number"), problems.length - 1)];
      problem = laidOut(model.get("form"), wanted);
      const done = verdicts().every(({ verdict }) => verdict === "right");
      if (built !== wanted) {
        built = wanted;
        chosen = hints = 0;
        seen = done; // as it was left
        solved = done;
        build();
      }
      if (done && !solved && !seen) assign(model, { solved: model.get("solved") + 1 });
      solved ||= done;
      tell();
      if (begin) cells.focus("0");
      begin = false;
      box.changed();
    }),
  );
  return () => stops.forEach((stop) => stop());
}
