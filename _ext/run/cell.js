// One cell of a page: its text, its editor, its bar, its run.
import { Output } from "./output.js";
import { isRefused, read, write } from "./store.js";

const SECONDS = 5; // for an exercise
export const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const button = (className, text, click) => {
  const element = make("button", { type: "button", className, textContent: text });
  element.addEventListener("click", click);
  return element;
};

export class Cell {
  constructor(element, i, session, id) {
    Object.assign(this, { element, i, session });
    this.input = element.querySelector(".cell_input");
    this.block = this.input.querySelector(".highlight")?.closest("[class*=highlight-]") ?? this.input.querySelector("pre");
    this.pre = this.input.querySelector("pre");
    this.original = this.pre.textContent.replace(/\n$/, "");
    this.key = `code/${session.page}/${id}`;
    this.checkLine = this.original.match(/^check\(\s*["'](\w+)["'].*/m);
    this.exercise = element.classList.contains("run-exercise") ? this.checkLine?.[1] : null;
    this.name = `cell ${i + 1}`;
    this.start = element.querySelector(".run-run");
    this.told = make("span", { className: "run-status" });
    this.bytes = make("progress", { hidden: true, max: 1 });
    this.bytes.setAttribute("aria-label", "Loading Python");
    this.stop = button("run-quiet", "Stop", () => session.python.end());
    this.back = button("run-quiet", this.exercise ? "Start again" : "Back to the original", () => this.reset());
    this.undo = button("run-quiet", "Undo", () => this.#undo());
    this.stop.hidden = this.undo.hidden = true;
    this.bar = make("div", { className: "run-bar", hidden: true }, this.told, this.bytes, this.stop, this.undo, this.back);
    this.fold = this.input.closest("details");
    if (this.exercise) this.input.append(this.bar);
    else this.start.after(this.bar);
    const stored = [...element.querySelectorAll(".cell_output")];
    this.output = new Output(element, stored);
    this.output.live = (place) => enliven(place, session.root);
    this.#bar();
  }

  // ---- its text ------------------------------------------------------------------------------------
  code() {
    return this.editor?.text() ?? read(this.key) ?? this.original;
  }

  /** What an exercise defines, without the call that checks it. */
  definition() {
    return this.code().replace(/^check\(.*$/gm, "");
  }

  isChanged() {
    return this.code() !== this.original;
  }

  /** Has its present text run, in the Python that is there? */
  isFresh() {
    return this.ran?.generation === this.session.python.generation && this.ran.code === this.code();
  }

  async edit({ focus = true } = {}) {
    const point = this.element.runPoint;
    delete this.element.runPoint;
    if (!this.editor) {
      const { makeEditor } = await this.session.editor();
      if (!this.editor) {
        const { height } = this.block.getBoundingClientRect();
        const place = make("div", { className: "run-editor highlight" });
        place.style.minHeight = `${height}px`;
        place.addEventListener("keydown", (event) => event.stopPropagation()); // "/" is the theme's search elsewhere
        this.block.after(place);
        this.block.hidden = true;
        this.input.classList.add("run-edited");
        const what = this.exercise ? `Your answer to ${this.exercise}` : `Code of cell ${this.i + 1}`;
        this.editor = makeEditor(place, this.code(), `${what}. Shift+Enter runs it, Escape leaves the editor.`, {
          change: (text) => this.#changed(text),
          run: () => this.session.run(this),
          leave: () => this.start.focus(),
        });
        this.place = place;
      }
    }
    if (point) this.editor.cursorAt(point);
    if (focus) this.editor.focus();
  }

  #changed(text) {
    write(this.key, text === this.original ? null : text);
    this.undo.hidden = true;
    this.#bar();
    if (isRefused()) this.status("This browser keeps nothing: your text is lost when the page closes.");
  }

  /** Another tab changed this cell. Who writes here goes on. */
  elsewhere(text) {
    if (this.editor?.hasFocus()) return;
    const now = text ?? this.original;
    if (this.editor) this.editor.replace(now);
    else if (text !== null) this.edit({ focus: false });
  }

  reset() {
    this.lost = this.code();
    write(this.key, null);
    this.editor?.destroy();
    this.place?.remove();
    this.editor = null;
    this.block.hidden = false;
    this.input.classList.remove("run-edited");
    this.output.reset();
    this.mark(null);
    this.ran = null;
    this.status(this.lost === this.original ? "" : "The original is back.");
    this.undo.hidden = this.lost === this.original;
    this.#bar();
    this.start.focus();
  }

  async #undo() {
    write(this.key, this.lost);
    this.undo.hidden = true;
    this.status("");
    await this.edit();
    this.#bar();
  }

  // ---- what it says ----------------------------------------------------------------------------------
  #bar() {
    this.back.hidden = !this.isChanged() && this.output.element.hidden;
    this.bar.hidden = this.back.hidden && this.undo.hidden && !this.told.textContent && this.stop.hidden;
    this.element.classList.toggle("run-changed", this.isChanged());
  }

  status(text, running = false) {
    if (this.told.textContent !== text) this.told.textContent = text;
    this.stop.hidden = !running;
    if (!running) this.bytes.hidden = true;
    this.#bar();
  }

  waits() {
    this.undo.hidden = true;
    this.start.setAttribute("aria-disabled", "true");
    this.element.classList.add("run-busy");
    this.status("Waiting for the cell before", true);
  }

  loading(news) {
    if (!news) {
      this.bytes.hidden = true;
      return;
    }
    this.bytes.hidden = false;
    if (news.type === "unpacked") {
      this.bytes.removeAttribute("value");
      return this.status("Starting Python", true);
    }
    const { loaded, total } = news;
    if (total) this.bytes.value = loaded / total;
    else this.bytes.removeAttribute("value");
    const mb = (bytes) => (bytes / 1e6).toFixed(1);
    this.status(loaded < total ? `Loading Python: ${mb(loaded)} of ${mb(total)} MB` : "Starting Python", true);
  }

  finished() {
    this.start.removeAttribute("aria-disabled");
    this.element.classList.remove("run-busy");
    this.stop.hidden = this.bytes.hidden = true;
    this.#bar();
  }

  mark(line) {
    if (line && this.fold) this.fold.open = true;
    this.editor?.mark(line);
    const style = getComputedStyle(this.pre);
    this.pre.classList.toggle("run-bad", !!line);
    if (line) this.pre.style.setProperty("--line", line - 1);
    if (line) this.pre.style.setProperty("--line-height", style.lineHeight);
  }

  // ---- its run -----------------------------------------------------------------------------------------
  /** Run the cell itself. `quiet`: for what it defines. */
  async execute({ quiet = false, above = false }) {
    const { python } = this.session;
    const started = performance.now();
    let code = above && this.exercise ? this.definition() : this.code();
    if (this.exercise && !above && !/^\s*check\(/m.test(code)) code += `\n${this.checkLine[0]}`;
    let right = null;
    if (!quiet) {
      this.output.begin();
      this.mark(null);
    }
    let clock;
    const state = await python
      .run({
        code,
        name: this.name,
        quiet,
        seconds: this.exercise ? SECONDS : Infinity,
        started: () => {
          if (above) return;
          this.status(this.exercise ? "Checking" : "Running", true);
          clearInterval(clock);
          clock = setInterval(
            () => this.status(`Running for ${Math.round((performance.now() - started) / 1000)} s`, true),
            1000,
          );
        },
        give: (item) => {
          if (item.kind === "error" && item.line) this.mark(item.line);
          if (item.ok !== undefined && item.ok !== null) right = item.ok;
          if (!(quiet && item.kind === "torch")) this.output.add(item);
        },
      })
      .finally(() => clearInterval(clock));
    if (state === "hung") {
      const text = `No answer after ${SECONDS} s: is there a loop that never ends?`;
      this.output.add({ kind: "told", text });
    } else if (!quiet) this.output.end();
    if (state === "done" || state === "torch") this.ran = { generation: python.generation, code: this.code() };
    if (right && this.exercise && !above) {
      const solved = `solved/${this.session.page}/${this.exercise}`;
      if (!read(solved)) write(solved, new Date().toISOString());
      dispatchEvent(new Event("course-solved"));
    }
    if (!above) {
      this.status("");
      const what = this.exercise ? "Your answer was checked." : `Cell ${this.i + 1} ran.`;
      this.session.say(`${what} ${this.output.said}`.slice(0, 400));
    }
    return state;
  }
}

/** Make the widgets live that a run has shown, by the script of the page's own. */
function enliven(place, root) {
  if (document.querySelector('script[src*="mhalib/widgets.js"]')) {
    document.dispatchEvent(new Event("mhalib-figures"));
    return;
  }
  document.head.append(make("script", { src: new URL("_static/mhalib/widgets.js", root).href }));
}
