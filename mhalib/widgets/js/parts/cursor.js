// A position in a picture of rows × columns that pointer, touch and arrow keys move.

const STEPS = {
  ArrowLeft: (i, j) => [i, j - 1],
  ArrowRight: (i, j) => [i, j + 1],
  ArrowUp: (i, j) => [i - 1, j],
  ArrowDown: (i, j) => [i + 1, j],
  Home: (i) => [i, 0],
  End: (i) => [i, Infinity],
  PageUp: (i, j) => [0, j],
  PageDown: (i, j) => [Infinity, j],
};

/**
 * Make `surface` a focusable picture. `size()` gives [rows, cols]; `locate(event)` the cell under a
 * pointer or null; `show(i, j, pressed)` is called when the position moves (`pressed`: by click, tap
 * or Enter).
 */
export function cursor(surface, { label, size, locate, show }) {
  let at = [0, 0];
  const move = (to, pressed = false) => {
    const [rows, cols] = size();
    at = [Math.max(0, Math.min(rows - 1, to[0])), Math.max(0, Math.min(cols - 1, to[1]))];
    if (rows && cols) show(at[0], at[1], pressed);
  };
  const point = (event, pressed) => {
    const cell = locate(event);
    if (cell && (pressed || cell[0] !== at[0] || cell[1] !== at[1])) move(cell, pressed);
  };
  surface.tabIndex = 0;
  surface.setAttribute("role", "application");
  surface.setAttribute("aria-roledescription", "chart");
  surface.setAttribute("aria-label", `${label}. Arrow keys move from value to value.`);
  surface.addEventListener("pointermove", (event) => point(event, false));
  surface.addEventListener("pointerdown", (event) => point(event, true));
  surface.addEventListener("focus", () => move(at));
  surface.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") move(at, true);
    else if (STEPS[event.key]) move(STEPS[event.key](...at));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return { move: (i, j) => (at = [i, j]), at: () => at };
}
