// Python, away from the page: this worker loads Pyodide and runs cells, one after the other.
// It has no DOM. What it is told and what it tells are plain objects; see `python.js`.
/* global loadPyodide, SETUP -- what the build knows: files, sizes, packages */

const tell = (message) => self.postMessage(message);
const here = new URL("./", self.location.href);
const runtime = new URL(SETUP.runtime, here);

// ---- how much has come ---------------------------------------------------------------------------
const parts = new Map();
let last = 0;

function report() {
  let loaded = 0;
  let total = 0;
  for (const { size, share } of parts.values()) {
    loaded += size * share;
    total += size;
  }
  const now = Date.now();
  if (now - last < 80 && loaded < total) return;
  last = now;
  tell({ type: "progress", loaded, total });
}

const plainFetch = self.fetch.bind(self);

/** Fetch, and count what comes. The answer itself stays as it is, so that the browser can keep it compiled. */
self.fetch = async (address, options) => {
  const answer = await plainFetch(address, options);
  const name = new URL(answer.url || address, here).pathname.split("/").pop();
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  const raw = SETUP.sizes[name];
  if (!raw || !answer.body) return answer;
  const sent = Number(answer.headers.get("content-length")) || raw; // packed, if the server packs
  const part = { size: sent, share: 0 };
  parts.set(name, part);
  count(answer.clone().body.getReader(), part, raw);
  return answer;
};

async function count(reader, part, raw) {
  for (let got = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    got += value.length;
    part.share = Math.min(1, got / raw);
    report();
  }
  part.share = 1;
  report();
}

/** The packages of one kind that a cell needs: expected before the first of them answers. */
function expect(names) {
  for (const name of names) if (!parts.has(name)) parts.set(name, { size: SETUP.sizes[name] ?? 0, share: 0 });
}

// ---- Python --------------------------------------------------------------------------------------
let python;
let kernel;

async function start() {
  expect(SETUP.base);
  importScripts(new URL("pyodide.js", runtime));
  const library = fetch(new URL(SETUP.library, here)).then((answer) => answer.arrayBuffer());
  const code = SETUP.code.map((name) => fetch(new URL(name, here)).then((answer) => answer.text()));
  const quiet = () => {};
  python = await loadPyodide({
    indexURL: runtime.href,
    packages: SETUP.packages.base,
    stdout: quiet,
    stderr: quiet,
    env: { HOME: "/home/pyodide", MPLBACKEND: "agg" },
  });
  python.unpackArchive(await library, "wheel");
  python.FS.mkdir("/home/pyodide/course_run");
  for (const [k, name] of SETUP.code.entries()) python.FS.writeFile(`/home/pyodide/course_run/${name}`, await code[k]);
  python.registerJsModule("course_page", { give: (item) => tell({ type: "item", item: JSON.parse(item) }) });
  tell({ type: "unpacked" });
  kernel = python.runPython(`
import json, sys
import numpy, mhalib, mhalib.checks, course_page
from course_run import kernel, names
kernel.Kernel(lambda item: course_page.give(json.dumps(item)))`);
  tell({ type: "ready" });
}

async function load(kind) {
  if (kind === "models") {
    expect(["models.zip"]);
    const models = await (await fetch(new URL("models.zip", here))).arrayBuffer();
    const beside = python.runPython("import os, mhalib; os.path.dirname(os.path.dirname(mhalib.__file__))");
    python.unpackArchive(models, "zip", { extractDir: beside });
    return kernel.load(kind);
  }
  expect(SETUP.packages[kind].map((name) => SETUP.files[name]));
  await python.loadPackage(SETUP.packages[kind], { messageCallback: () => {}, errorCallback: () => {} });
  kernel.load(kind);
}

const plain = (proxy) => {
  const value = proxy.toJs({ dict_converter: Object.fromEntries });
  proxy.destroy();
  return value;
};

async function run({ code, name, quiet }) {
  for (const kind of plain(kernel.missing(code))) await load(kind);
  for (;;) {
    tell({ type: "started" });
    const result = plain(kernel.run(code, name, quiet));
    if (result.state !== "missing") return result.state;
    for (const kind of result.load) await load(kind);
  }
}

const answers = {
  start,
  run,
  /** Which of the cells above does cell `i` take names from? */
  plan: ({ codes, i }) => plain(python.runPython("names.needed_for").call(null, python.toPy(codes), i)),
};

let queue = Promise.resolve();
self.onmessage = ({ data }) => {
  queue = queue.then(async () => {
    try {
      tell({ type: "answer", id: data.id, value: await answers[data.do](data) });
    } catch (error) {
      tell({ type: "failed", id: data.id, text: String(error?.message ?? error) });
    }
  });
};
