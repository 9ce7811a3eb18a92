// Attention as a sheet of small numbers: each can be typed over, and what follows from it is computed anew.

import { byHand, LONG, sources } from "../../math/by-hand.js";
import { parse } from "../../math/practice.js";
import { segments } from "../../parts/bar.js";
import { assign, h, rich, watch } from "../../parts/dom.js";
import { frame } from "../../parts/frame.js";
import { grid, sheet, signKey } from "../../parts/sheet.js";
import { explain, short } from "./words.js";

const NAMES = ["n", "mask", "hidden", "scaled", "values", "cell", "step"];
const GROUPS = [["X", "W_Q", "W_K", "W_V", "Q", "K", "V"], ["scores"], ["scaled"], ["mask"], ["exp"], ["weights"], ["output"], ["W_O", "result"]]; // prettier-ignore
/** On a phone one step at a time: what is read, and what is computed. */
const STEPS = [["X", "W_Q", "Q"], ["X", "W_K", "K"], ["X", "W_V", "V"], ["Q", "K", "scores"], ["scores", "scaled"], ["scaled", "mask", "exp"], ["exp", "weights"], ["weights", "V", "output"], ["output", "W_O", "result"]]; // prettier-ignore
const TITLES = {
  scores: ["scores", "q · k"],
  scaled: ["scaled", "score / divisor"],
  exp: ["exp", "e^(s − max)"],
  output: ["output", "weights · V"],
  result: ["result", "output · `W_O`"],
};
const LARGEST = 1000;

export default function byHandSheet(model, el) {
  const stops = [];
  const given = model.get("given");
  const words = model.get("tokens");
  let now = null;
  let chosen = ["scores", 2, 1];
  let shown = null; // the number of tokens that the tables are built for
  let moved = 0;

  const keyOf = (cell) => cell.join(".");
  const cellOf = (key) => {
    const [name, i, j] = key.split(".");
    return [name, Number(i), Number(j)];
  };
  const cells = sheet({
    label: "the sheet. Arrow keys move, typing changes a number",
    chosen(key) {
      chosen = cellOf(key);
      moved = 0;
      if (model.get("cell") !== key) assign(model, { cell: key });
      tell();
    },
    typed(key, text) {
      const number = parse(text);
      if (!Number.isFinite(number)) return paint();
      put(key, Math.max(-LARGEST, Math.min(LARGEST, number)));
    },
    remove: (key) => put(key, null),
  });

  function put(key, number) {
    const { [key]: old, ...rest } = model.get("values");
    assign(model, { values: number === null ? rest : { ...rest, [key]: number } });
    paint();
  }
  function flip(i, j) {
    const { data, cols } = now.allowed;
    const hidden = [];
    data.forEach((open, c) => {
      const own = c === i * cols + j;
      if (own ? open : !open) hidden.push([Math.floor(c / cols), c % cols]);
    });
    assign(model, { mask: "painted", hidden });
  }

  // ------------------------------------------------------------------ tables
  function build() {
    const { n } = now.state;
    shown = n;
    cells.element.dataset.n = n;
    cells.clear();
    const tables = Object.fromEntries(GROUPS.flat().map((name) => [name, table(name)]));
    cells.element.append(
      ...GROUPS.map((names) => h("div", { class: "mh-group", "data-size": names.length }, names.map((name) => tables[name]))), // prettier-ignore
    );
  }
  function table(name) {
    const A = name === "mask" ? now.allowed : now[name];
    const tokens = words.slice(0, now.state.n);
    const numbers = Array.from({ length: Math.max(A.rows, A.cols) }, (_, t) => String(t));
    const rows = name.startsWith("W_") ? numbers : tokens;
    const columns = LONG.includes(name) || name === "mask" ? tokens : numbers.slice(0, A.cols);
    const [title, more] = TITLES[name] ?? [name.includes("_") ? `\`${name}\`` : name, ""];
    const across = name === "exp" ? [...columns, "Σ"] : columns;
    const input = (i, j) => {
      const sum = name === "exp" && j === A.cols;
      const key = sum ? `sum.${i}.0` : `${name}.${i}.${j}`;
      const called = `${sum ? "sum" : name}, ${rows[i]}${sum ? "" : `, ${columns[j]}`}`;
      return name === "mask" ? cells.toggle(key, called, () => flip(i, j)) : cells.input(key, called);
    };
    const element = grid({
      title: [h("b", {}, rich(title)), more && h("span", {}, rich(more))],
      rows: rows.slice(0, A.rows),
      columns: across,
      count: A.rows,
      cell: input,
    });
    element.dataset.name = name;
    if (!LONG.includes(name) && name !== "mask") element.classList.add("mh-no-head");
    return element;
  }

  // ---------------------------------------------------------------- on screen
  const back = h(
    "button",
    { type: "button", class: "mh-button", "aria-label": "step back", onclick: () => go(-1) },
    "◀",
  );
  const on = h("button", { type: "button", class: "mh-button", "aria-label": "next step", onclick: () => go(1) }, "▶");
  const where = h("span", { class: "mh-label" });
  const steps = h("div", { class: "mh-steps" }, back, where, on);
  const go = (by) => {
    const step = Math.max(0, Math.min(STEPS.length - 1, model.get("step") + by));
    const name = STEPS[step].at(-1);
    assign(model, { step, cell: `${name}.0.0` });
  };

  function paint() {
    const { values } = now.state;
    const from = new Set(sources(now, ...chosen).map(keyOf));
    for (const [key, cell] of cells.cells) {
      const [name, i, j] = cellOf(key);
      cell.classList.toggle("mh-from", from.has(key));
      cell.classList.toggle("mh-now", key === keyOf(chosen));
      if (name === "mask") {
        const open = Boolean(now.allowed.data[i * now.allowed.cols + j]);
        cell.setAttribute("aria-pressed", String(open));
        cell.textContent = open ? "✓" : "";
        continue;
      }
      const masked = ["exp", "weights"].includes(name) && !now.allowed.data[i * now.allowed.cols + j];
      cell.classList.toggle("mh-masked", masked && !(key in values));
      cell.classList.toggle("mh-own", key in values);
      cell.classList.toggle("mh-changed", Boolean(now.changed?.has(key)));
      cells.write(key, short(now[name].data[i * now[name].cols + j]));
    }
    const step = model.get("step");
    for (const element of cells.element.querySelectorAll("table"))
      element.classList.toggle("mh-away", !STEPS[step].includes(element.dataset.name));
    where.textContent = `step ${step + 1} of ${STEPS.length}: ${STEPS[step].at(-1)}`;
    back.disabled = step === 0;
    on.disabled = step === STEPS.length - 1;
  }
  function tell() {
    paint();
    const [line, more] = explain(now, now.state, words, ...chosen);
    const key = keyOf(chosen);
    const { [key]: own, ...rest } = now.state.values;
    let second = more;
    if (own !== undefined) {
      const [name, i, j] = chosen;
      const without = byHand(given, { ...now.state, values: rest })[name];
      const was = short(without.data[i * without.cols + j]);
      second = `Set by you (${name in given ? "given" : "computed"}: ${was}). Delete puts it back.`;
    }
    box.say(line, moved ? [h("b", { class: "mh-of-changed" }, `${moved} number${moved === 1 ? "" : "s"} changed. `), second] : second); // prettier-ignore
  }

  const box = frame(model, el, stops, {
    names: NAMES,
    controls: [
      segments(model, "n", stops, { label: "tokens", options: [[3, "3"], [4, "4"]] }), // prettier-ignore
      segments(model, "scaled", stops, { label: "divide by", options: [[true, "√`d_k`"], [false, "1"]] }), // prettier-ignore
      signKey(cells.cells),
      segments(model, "mask", stops, { label: "mask", options: ["none", "causal", "painted"].map((name) => [name, name]) }), // prettier-ignore
    ],
    picture: h("div", {}, steps, cells.element),
    key: [
      h("span", { class: "mh-key-item" }, h("i", { class: "mh-swatch mh-from" }), "what it comes from"),
      h("span", { class: "mh-key-item" }, h("i", { class: "mh-swatch mh-changed" }), "changed"),
      h("span", { class: "mh-key-item" }, h("i", { class: "mh-swatch mh-own" }), "set by you"),
      h("span", { class: "mh-key-item" }, h("i", { class: "mh-swatch mh-hatched" }), "masked"),
    ],
  });

  const texts = () => new Map([...cells.cells].map(([key, cell]) => [key, cell.value ?? cell.textContent]));
  stops.push(
    watch(model, NAMES, () => {
      const state = Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
      const before = now;
      now = { ...byHand(given, state), state };
      const same = before?.state.n === state.n;
      now.changed = before?.changed;
      const other = (name) => before && JSON.stringify(before.state[name]) !== JSON.stringify(state[name]);
      if (["n", "mask", "hidden", "scaled", "values"].some(other)) {
        const was = same ? texts() : null;
        if (!same) build();
        now.changed = new Set();
        paint();
        if (was) now.changed = new Set([...texts()].filter(([key, text]) => was.get(key) !== text).map(([key]) => key));
        moved = now.changed.size;
      } else if (shown !== state.n) build();
      const wanted = cells.cells.has(state.cell) ? state.cell : "scores.2.1";
      if (wanted !== keyOf(chosen)) {
        chosen = cellOf(wanted);
        moved = 0;
      }
      cells.mark(wanted);
      tell();
      box.changed();
    }),
  );
  return () => stops.forEach((stop) => stop());
}
