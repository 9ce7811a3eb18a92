// Tables whose cells are typed in, with one tab stop: arrow keys go to the next cell, whatever table it is in.

import { h, rich } from "./dom.js";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * `label` names the whole. `chosen(key)` is called when a cell gets the focus, `typed(key, text)` when its text is
 * complete (Enter, or the focus leaves it); `enter(key)` after Enter; `remove(key)` for Delete in a cell that is not
 * being typed in; all of them may be left out.
 */
export function sheet({ label, chosen = () => {}, typed = () => {}, enter = () => {}, remove = null }) {
  const cells = new Map();
  const element = h("div", { class: "mh-picture mh-sheet", role: "group", "aria-label": label });
  let current = null;

  const visible = () => [...cells].filter(([, cell]) => cell.checkVisibility());
  const mark = (key) => {
    current = key;
    for (const [each, cell] of cells) cell.tabIndex = each === key ? 0 : -1;
  };
  const focus = (key) => {
    cells.get(key)?.focus();
    cells.get(key)?.select?.();
  };
  /** From a cell to the nearest one in a direction: what stands in the same row or column goes before. */
  const walk = (key, [dx, dy]) => {
    const middle = (cell) => {
      const box = cell.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    };
    const [x, y] = middle(cells.get(key));
    let best = [Infinity];
    for (const [each, cell] of visible()) {
      const [cx, cy] = middle(cell);
      const along = (cx - x) * dx + (cy - y) * dy;
      const across = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);
      if (along > 2 && along + 4 * across < best[0]) best = [along + 4 * across, each];
    }
    if (best[1]) focus(best[1]);
    return Boolean(best[1]);
  };
  /** The cell after (or before) this one, in reading order. */
  const next = (key, by = 1, wanted = () => true) => {
    const keys = visible().map(([each]) => each);
    for (let k = keys.indexOf(key) + by; k >= 0 && k < keys.length; k += by) if (wanted(keys[k])) return keys[k];
    return null;
  };

  function keydown(event, key, cell) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = STEPS[event.key];
    const text = cell.value;
    const editing = text !== undefined && cell.dataset.before !== text;
    if (step) {
      const atEnd = step[0] < 0 ? cell.selectionEnd === 0 : cell.selectionStart === text?.length;
      if (step[0] && editing && !atEnd) return; // the caret moves
      if (!walk(key, step)) return;
    } else if (event.key === "Enter" && text !== undefined) {
      finish(key, cell);
      enter(key);
    } else if (event.key === "Escape" && editing) cell.value = cell.dataset.before;
    else if (event.key === "Delete" && !editing && remove) remove(key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  function finish(key, cell) {
    if (cell.dataset.before === cell.value) return;
    cell.dataset.before = cell.value;
    typed(key, cell.value);
  }

  /** Make `cell` (an input, a button) part of the sheet. */
  function join(key, cell) {
    cells.set(key, cell);
    cell.tabIndex = -1;
    if (cell.value !== undefined) cell.dataset.before = cell.value;
    cell.addEventListener("keydown", (event) => keydown(event, key, cell));
    cell.addEventListener("focus", () => {
      mark(key);
      cell.select?.();
      chosen(key);
    });
    cell.addEventListener("blur", () => cell.isConnected && cell.value !== undefined && finish(key, cell));
    return cell;
  }

  return {
    element,
    cells,
    focus,
    next,
    current: () => current,
    mark,
    /** An input for a number (or a text). */
    input: (key, name, attributes = {}) =>
      join(key, h("input", { class: "mh-cell", inputmode: "decimal", maxlength: 16, autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-label": name, ...attributes })), // prettier-ignore
    toggle: (key, name, onclick) =>
      join(key, h("button", { type: "button", class: "mh-cell", "aria-label": name, onclick })),
    /** Show a text that was not typed. */
    write(key, text) {
      const cell = cells.get(key);
      if (document.activeElement === cell && cell.dataset.before !== cell.value) return; // being typed
      cell.dataset.before = text;
      if (cell.value === text) return;
      cell.value = text;
      if (document.activeElement === cell) cell.select();
    },
    /** Take all tables away. */
    clear() {
      cells.clear();
      element.replaceChildren();
    },
  };
}

/** A table: `cell(i, j)` gives the content of a cell (text, an element, or null for a masked one). Labels are rich. */
export function grid({ title, rows, columns, count, cell, className = "" }) {
  const content = (i, j) => {
    const inside = cell(i, j);
    if (inside === null) return h("td", { class: "mh-masked", "aria-label": "masked" });
    return h("td", {}, inside);
  };
  return h(
    "table",
    { class: `mh-grid ${className}` },
    h("caption", {}, title),
    columns.length > 0 &&
      h("thead", {}, h("tr", {}, rows.length > 0 && h("td"), columns.map((name) => h("th", { scope: "col" }, rich(name))))), // prettier-ignore
    h(
      "tbody",
      {},
      Array.from({ length: count }, (_, i) =>
        h(
          "tr",
          {},
          rows.length > 0 && h("th", { scope: "row" }, rich(rows[i])),
          columns.map((_, j) => content(i, j)),
        ),
      ),
    ),
  );
}

/** A key for the sign of the chosen cell: the number pads of phones have none. */
export function signKey(cells) {
  const flip = (event) => {
    const cell = document.activeElement;
    if (![...cells.values()].includes(cell) || cell.value === undefined) return;
    event.preventDefault(); // the focus stays in the cell
    cell.value = /^[−-]/.test(cell.value) ? cell.value.slice(1) : `−${cell.value}`;
  };
  return h("button", { type: "button", class: "mh-button mh-sign", "aria-label": "change the sign of the chosen cell", onpointerdown: flip, onmousedown: (event) => event.preventDefault() }, "±"); // prettier-ignore
}
