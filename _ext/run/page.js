// On every page, small: the buttons of the cells, what was done before, the marks in the table of contents.
// Python, the editor and all else come with `cells.js`, at the first Run or the first click into a cell.
/* global SETUP -- of the build: { folder, exercises: { page: how many } } */
import { entries, read, watch, write } from "./store.js";

const script = document.currentScript.src;
const base = new URL(`${SETUP.folder}/`, script);
const root = new URL("../../", script);
const pageOf = ({ href }) => decodeURI(href.slice(root.href.length)).replace(/\.html.*$/, "");
const page = pageOf(location);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const cells = all("div.cell").filter((cell) => cell.querySelector(".cell_input pre"));
/** What holds a cell's code: its fold, if it has one. */
const under = (cell) => cell.querySelector("details:has(.cell_input)") ?? cell.querySelector(".cell_input");
const folder = location.protocol === "file:"; // where a browser starts no worker and loads no module

// ---- cells ---------------------------------------------------------------------------------------
let main;

/** Load the rest, once, and hand it what was asked for. */
function ask(kind, cell) {
  if (folder) return say(cell, "To run code, type “python -m http.server” in this folder and open http://localhost:8000.");
  main ??= import(new URL("cells.js", base)).then((module) => module.start({ base, root, page, cells }));
  main.then(
    (course) => course[kind](cell),
    () => say(cell, "This did not load. Are you online? Press again.", (main = null)),
  );
}

function say(cell, text) {
  const note = cell.querySelector(".run-note") ?? document.createElement("p");
  note.className = "run-note";
  note.role = "status";
  under(cell).after(note);
  note.textContent = text;
}

cells.forEach((cell, i) => {
  const exercise = cell.classList.contains("run-exercise");
  const input = cell.querySelector(".cell_input");
  const make = (className, kind, text) => {
    const button = document.createElement("button");
    button.className = className;
    button.type = "button";
    button.ariaLabel = exercise ? `${text} your answer` : `${text} cell ${i + 1}`;
    if (exercise) button.textContent = text;
    button.onclick = () => ask(kind, cell);
    return button;
  };
  const run = make("run-run", "run", exercise ? "Check" : "Run");
  if (exercise) input.append(run);
  else under(cell).after(run); // a folded cell runs, too
  input.append(make("run-edit", "edit", "Edit"));
  input.addEventListener("click", ({ target, clientX, clientY }) => {
    if (!target.closest("pre") || !getSelection().isCollapsed || folder) return;
    cell.runPoint = { x: clientX, y: clientY }; // where the cursor goes
    ask("edit", cell);
  });
});
if (cells[0] && !folder && entries(`code/${page}/`).length) ask("restore", cells[0]);

// ---- quizzes -------------------------------------------------------------------------------------
all(".quiz").forEach((quiz, n) => {
  const name = `quiz/${page}/${n + 1}`;
  const fields = all("input", quiz);
  for (const i of read(name)?.split(",") ?? []) if (fields[i]) fields[i].checked = true;
  quiz.addEventListener("click", () =>
    setTimeout(() => write(name, fields.flatMap((field, i) => (field.checked ? i : [])).join() || null)),
  );
});

// ---- the place -----------------------------------------------------------------------------------
if (page in SETUP.exercises) {
  addEventListener("visibilitychange", () => {
    const above = all(".bd-article h2").filter((title) => title.getBoundingClientRect().top < innerHeight / 2);
    const section = above.at(-1);
    if (document.hidden && section) write(`place/${page}`, section.parentElement.id);
  });
}

// ---- the table of contents -----------------------------------------------------------------------
function mark() {
  for (const link of all("nav.bd-links a")) {
    link.querySelector(".run-mark")?.remove();
    const count = SETUP.exercises[pageOf(link)];
    const solved = count && entries(`solved/${pageOf(link)}/`).length;
    if (!solved) continue;
    const sign = document.createElement("span");
    sign.className = "run-mark";
    sign.textContent = solved < count ? ` ${solved}/${count}` : " ✓";
    sign.role = "img";
    sign.ariaLabel = `${solved} of ${count} exercises solved`;
    link.append(sign);
  }
}
mark();
watch(mark);
addEventListener("course-solved", mark);
