// A cell that does not answer is ended; a laptop that was closed meanwhile is no reason to.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Python } from "../../_ext/run/python.js";

let now, tick, worker;

class FakeWorker {
  ended = false;
  constructor() {
    worker = this;
  }
  postMessage({ do: what, id }) {
    this.id = id;
    if (what === "start") queueMicrotask(() => this.onmessage({ data: { type: "answer", id } }));
  }
  terminate() {
    this.ended = true;
  }
}

beforeEach(() => {
  now = 0;
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: {} });
  globalThis.Worker = FakeWorker;
  Date.now = () => now;
  globalThis.setInterval = (f) => ((tick = f), 1);
  globalThis.clearInterval = () => {};
});

const pass = (milliseconds) => ((now += milliseconds), tick());
const told = (data) => worker.onmessage({ data });

async function running() {
  const python = new Python("http://book/_static/run/edition/", () => {});
  const result = python.run({ code: "", name: "cell 1", give: () => {}, seconds: 5 });
  while (!python.startedRun) await null;
  told({ type: "started" });
  return result.then.bind(result);
}

test("after five seconds without a word it is ended", async () => {
  const then = await running();
  for (let k = 0; k < 20; k++) pass(250);
  assert.equal(worker.ended, false);
  pass(250);
  assert.equal(worker.ended, true);
  assert.equal(await new Promise(then), "hung");
});

test("a night with the lid closed is one tick", async () => {
  const then = await running();
  for (let k = 0; k < 10; k++) pass(250);
  pass(8 * 3600 * 1000);
  assert.equal(worker.ended, false);
  told({ type: "answer", id: worker.id, value: "done" });
  assert.equal(await new Promise(then), "done");
});

test("what speaks is not hung", async () => {
  const then = await running();
  for (let k = 0; k < 100; k++) {
    pass(250);
    if (k % 10 === 0) told({ type: "item", item: { kind: "text", text: "." } });
  }
  assert.equal(worker.ended, false);
  told({ type: "answer", id: worker.id, value: "done" });
  assert.equal(await new Promise(then), "done");
});
