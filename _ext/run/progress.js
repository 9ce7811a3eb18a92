// The page "Your progress": what this browser keeps, as a table; out as a notebook, in again, away.
/* global SETUP -- of the build: { lessons: { page: { title, exercises: { name: cell }, quizzes, sections: { id: title } } },
   practice: { page, problems: { id: title } } } */
import { entries, forget as forgetAll, isRefused, read, remembered, remind, watch, write } from "./store.js";
import { fromFile, toNotebook } from "./exchange.js";

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const root = new URL("../../", document.currentScript.src);
const place = document.getElementById("course-progress");
const table = make("div");
const told = make("p", { className: "progress-told" });
told.setAttribute("role", "status");

function row(page, { title, exercises, quizzes, sections }) {
  const href = new URL(`${page}.html`, root).href;
  const names = Object.keys(exercises);
  const solved = names.filter((name) => read(`solved/${page}/${name}`));
  const list = make("ul", { className: "progress-exercises" });
  for (const name of names) {
    const done = solved.includes(name);
    const begun = read(`code/${page}/${exercises[name]}`) !== null;
    const item = make("li", {}, make("a", { href: `${href}#cell-${exercises[name]}` }, make("code", { textContent: name })));
    item.append(done ? " ✓ solved" : begun ? " begun" : "");
    item.className = done ? "progress-done" : "";
    list.append(item);
  }
  const answered = entries(`quiz/${page}/`).length;
  const at = read(`place/${page}`);
  const name = make("th", { scope: "row" }, make("a", { href, textContent: title }));
  if (sections[at]) name.append(make("br"), "last at ", make("a", { href: `${href}#${at}`, textContent: sections[at] }));
  const text = names.length ? `${solved.length} of ${names.length} solved` : "–";
  return make(
    "tr", {}, name, make("td", {}, text, list),
    make("td", { textContent: quizzes ? `${Math.min(answered, quizzes)} of ${quizzes}` : "–" }),
  );
}

// ---- by hand: the widgets of that page count what was solved -------------------------------------
const { page: byHand, problems } = SETUP.practice;
const sheet = new URL(`${byHand}.html`, root);
const ids = Object.keys(problems);
/** What home.js calls the widget of a problem, the k-th of its kind on the page. */
const widget = (id) => (ids.indexOf(id) ? `practice-${ids.indexOf(id) + 1}` : "practice");
const practiced = (id) => Number(remembered(sheet.pathname, widget(id)).solved) || 0;
const practice = () => ids.filter(practiced).map((id) => [`practice/${id}`, String(practiced(id))]);

function byHandRow() {
  const items = ids.map((id) => {
    const link = make("a", { href: `${sheet}#${id}`, textContent: problems[id] });
    const count = practiced(id);
    return make("li", { className: count ? "progress-done" : "" }, link, count ? ` ✓ ${count} solved` : "");
  });
  const done = ids.filter(practiced).length;
  const name = make("th", { scope: "row" }, make("a", { href: sheet, textContent: "By hand" }));
  const list = make("ul", { className: "progress-exercises" }, ...items);
  return make("tr", {}, name, make("td", {}, `${done} of ${ids.length} kinds of problems solved`, list), make("td", { textContent: "–" }));
}

function show() {
  const lessons = Object.entries(SETUP.lessons).filter(([, lesson]) => Object.keys(lesson.exercises).length || lesson.quizzes);
  const all = lessons.flatMap(([page, lesson]) => Object.keys(lesson.exercises).map((name) => `solved/${page}/${name}`));
  const solved = all.filter(read).length;
  const head = make("tr", {}, ...["Lesson", "Exercises", "Questions"].map((text) => make("th", { scope: "col", textContent: text })));
  const meter = make("progress", { max: all.length, value: solved });
  meter.setAttribute("aria-label", "Exercises solved");
  table.replaceChildren(
    make("p", { className: "progress-sum" }, make("strong", { textContent: `${solved} of ${all.length} exercises solved` }), meter),
    make("div", { className: "pst-scrollable-table-container" },
      make("table", { className: "table" }, make("thead", {}, head), make("tbody", {}, ...lessons.map(([page, lesson]) => row(page, lesson)), byHandRow()))),
  );
}

function button(text, click) {
  const element = make("button", { type: "button", textContent: text });
  element.addEventListener("click", click);
  return element;
}

function save() {
  const file = new Blob([toNotebook([...entries(), ...practice()], SETUP.lessons)], { type: "application/x-ipynb+json" });
  const link = make("a", { href: URL.createObjectURL(file), download: "my-progress.ipynb" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  told.textContent = "Saved as my-progress.ipynb: your solutions run in Jupyter, and this page can read the file again.";
}

async function load(file) {
  try {
    const found = fromFile(await file.text());
    for (const [name, text] of found) {
      const [, id] = name.match(/^practice\/(.+)/) ?? [];
      if (id in problems) remind(sheet.pathname, widget(id), { solved: Number(text) });
      else if (!id) write(name, text);
    }
    told.textContent = `Read: ${found.length} ${found.length === 1 ? "entry" : "entries"} from ${file.name}.`;
    show();
  } catch (error) {
    told.textContent = `${file.name} was not read: ${error.message} Nothing was changed.`;
  }
}

if (place) {
  const field = make("input", { type: "file", accept: ".ipynb,.json", hidden: true });
  field.addEventListener("change", () => field.files[0] && load(field.files[0]).then(() => (field.value = "")));
  const sure = make("span", { hidden: true });
  const forget = button("Forget everything", () => {
    sure.hidden = false;
    sure.querySelector("button").focus();
  });
  sure.append(
    "Your code, solved exercises, answers and what you set in widgets will be deleted from this browser. ",
    button("Yes, forget", () => {
      forgetAll(root.pathname);
      sure.hidden = true;
      told.textContent = "Forgotten.";
      forget.focus();
      show();
    }),
    " ",
    button("No, keep", () => ((sure.hidden = true), forget.focus())),
  );
  show();
  place.replaceChildren(
    table,
    make("p", { className: "progress-do" }, button("Export", save), button("Import", () => field.click()), field, forget, sure),
    told,
  );
  if (isRefused()) told.textContent = "This browser keeps nothing: what you do is lost when a page closes.";
  watch(show);
}
