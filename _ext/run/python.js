// The page's side of the worker: start it, give it cells, end it when it does not answer.

const TICK = 250;

export class Python {
  /**
   * @param base address of the folder with the worker
   * @param show called with { loaded, total } in bytes while it loads, with null when it is there
   */
  constructor(base, show) {
    this.base = base;
    this.show = show;
    this.generation = 0; // counts the workers: what ran in an earlier one is gone
    this.worker = null;
  }

  /** Resolves when Python is there; starts it if it is not. */
  start() {
    return (this.starting ??= this.#start());
  }

  async #start() {
    await serviceWorker(this.base);
    this.generation++;
    this.waiting = new Map();
    this.next = 0;
    const worker = (this.worker = new Worker(new URL("worker.js", this.base)));
    worker.onmessage = ({ data }) => worker === this.worker && this.#told(data); // not of one that was ended
    worker.onerror = (event) => {
      event.preventDefault();
      this.end(new Error("The browser could not start Python."));
    };
    await this.#ask({ do: "start" });
    this.show(null);
  }

  #ask(message) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ ...message, id });
    });
  }

  #told(data) {
    this.heard?.();
    if (data.type === "progress" || data.type === "unpacked") this.show(data);
    else if (data.type === "started") {
      this.show(null);
      this.startedRun?.();
    } else if (data.type === "item") this.give?.(data.item);
    else if (this.waiting.has(data.id)) {
      const { resolve, reject } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.type === "answer") resolve(data.value);
      else {
        const error = new Error(data.text);
        // an error of Pyodide itself: the worker is not to be used again
        this.end(error);
        reject(error);
      }
    }
  }

  /**
   * Run a cell.
   *
   * @param give called with each thing the cell gives
   * @param seconds after so long without a word from the worker it is ended; a closed laptop does not count
   * @returns "done", "failed", "torch", or "hung"
   */
  async run({ code, name, quiet = false, give, seconds = Infinity, started }) {
    await this.start();
    let ticker;
    let silent = 0;
    let last;
    this.give = give;
    this.heard = () => (silent = 0);
    this.startedRun = () => {
      started?.();
      last = Date.now();
      if (seconds === Infinity) return;
      clearInterval(ticker);
      ticker = setInterval(() => {
        silent += Math.min(Date.now() - last, 4 * TICK) / 1000;
        last = Date.now();
        if (silent > seconds) this.end(new Hung());
      }, TICK);
    };
    try {
      return await this.#ask({ do: "run", code, name, quiet });
    } catch (error) {
      if (error instanceof Hung) return "hung";
      throw error;
    } finally {
      clearInterval(ticker);
      this.give = this.heard = this.startedRun = null;
    }
  }

  async plan(codes, i) {
    await this.start();
    return this.#ask({ do: "plan", codes, i });
  }

  /** End the worker and all that it was to do. The next run starts another one. */
  end(reason = new Stopped()) {
    this.worker?.terminate();
    this.worker = this.starting = null;
    this.generation++;
    this.show(null);
    const waiting = [...(this.waiting?.values() ?? [])];
    this.waiting = new Map();
    for (const { reject } of waiting) reject(reason);
  }
}

export class Hung extends Error {}
export class Stopped extends Error {}

let registered;

/** Keep Python, and the pages that were read, for the next time and for offline. Without it all works, too. */
function serviceWorker(base) {
  if (!navigator.serviceWorker) return null;
  registered ??= navigator.serviceWorker
    .register(new URL("../../../course-offline.js", base))
    .then(() => navigator.serviceWorker.ready)
    .catch(() => {});
  return Promise.race([registered, new Promise((done) => setTimeout(done, 2000))]);
}
