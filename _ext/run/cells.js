// The cells of a page that can be run and edited. Loaded at the first Run or the first click into a cell.
/* global SETUP -- of the build: { cells: { page: [ids] } } */
import style from "./cells.css";
import { Cell, make } from "./cell.js";
import { Python, Stopped } from "./python.js";
import { read, watch } from "./store.js";

/** Python, and what is said about it: which of the cells waits for it, and how much has come. */
class Session {
  constructor({ base, root, page, cells }) {
    Object.assign(this, { base, root, page });
    this.voice = make("div", { className: "run-voice" });
    this.voice.setAttribute("role", "status");
    document.body.append(this.voice);
    this.python = new Python(base, (news) => this.active?.loading(news));
    this.queue = Promise.resolve();
    this.cells = cells.map((element, i) => new Cell(element, i, this, SETUP.cells[page][i]));
    this.of = new Map(this.cells.map((cell) => [cell.element, cell]));
    watch((name, text) => {
      for (const cell of this.cells) if (name === cell.key || name === null) cell.elsewhere(text);
    });
  }

  say(text) {
    this.voice.textContent = "";
    setTimeout(() => (this.voice.textContent = text), 50);
  }

  editor() {
    return (this.loadingEditor ??= import(new URL("editor.js", this.base)).catch((error) => {
      this.loadingEditor = null;
      throw error;
    }));
  }

  /** Run `cell` after those that it needs, when what was asked before is done. */
  run(cell) {
    if (cell.busy) return cell.busy;
    cell.waits();
    cell.busy = this.queue.then(() => this.#run(cell)).finally(() => (cell.busy = null));
    this.queue = cell.busy.catch(() => {});
    return cell.busy;
  }

  async #run(cell) {
    const { python } = this;
    this.active = cell;
    try {
      cell.loading({ loaded: 0, total: 0 });
      await python.start();
      let above = this.cells.slice(0, cell.i).filter((other) => !other.exercise);
      if (cell.exercise) {
        const codes = this.cells.map((other) => (other.exercise ? other.definition() : other.code()));
        above = (await python.plan(codes, cell.i)).map((i) => this.cells[i]);
      }
      const needed = above.filter((other) => !other.isFresh());
      for (const [k, other] of needed.entries()) {
        cell.status(`Running the cells above: ${k + 1} of ${needed.length}`, true);
        const state = await other.execute({ quiet: !other.isChanged() && !other.exercise, above: true });
        if (state !== "done" && state !== "torch") {
          cell.status(state === "hung" ? "" : `Cell ${other.i + 1}, above, stopped with an error. This cell did not run.`);
          this.say(`Cell ${other.i + 1}, above, stopped with an error.`);
          return;
        }
      }
      await cell.execute({});
    } catch (error) {
      if (error instanceof Stopped) cell.status("Stopped. The next Run starts Python anew.");
      else cell.status(`Python ended: ${error.message} The next Run starts it anew. Your text is kept.`);
      this.say(cell.told.textContent);
    } finally {
      this.active = null;
      cell.finished();
    }
  }
}

/** Called by `page.js`. Returns what its buttons do. */
export function start(given) {
  document.head.append(make("style", { textContent: style }));
  const session = new Session(given);
  const restore = () => {
    for (const cell of session.cells) if (read(cell.key) !== null) cell.edit({ focus: false });
  };
  restore();
  return {
    run: (element) => session.run(session.of.get(element)),
    edit: (element) => session.of.get(element).edit(),
    restore: () => {},
    session,
  };
}
