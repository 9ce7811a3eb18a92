// The file of "Export": a notebook out, the same entries in again, and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fromFile, toNotebook } from "../../_ext/run/exchange.js";

const lessons = {
  "chapters/05-multi-head": { title: "5. Heads", exercises: { split_heads: "f049b105", merge_heads: "7f913b30" }, quizzes: 3 },
};
const entries = [
  ["code/chapters/05-multi-head/139fdeeb", "print('größe 🦇')"],
  ["code/chapters/05-multi-head/f049b105", "def f():\n    return 1\n\ncheck('split_heads', f)"],
  ["place/chapters/05-multi-head", "the-reshape-trap"],
  ["practice/one-score", "3"],
  ["quiz/chapters/05-multi-head/1", "0,2"],
  ["solved/chapters/05-multi-head/split_heads", "2026-01-01T00:00:00.000Z"],
];

test("what goes out comes in again", () => {
  assert.deepEqual(fromFile(toNotebook(entries, lessons)), entries);
  assert.deepEqual(fromFile(toNotebook([], lessons)), []);
});

test("solutions are cells, in the order of the lessons", () => {
  const { cells } = JSON.parse(toNotebook(entries, lessons));
  assert.deepEqual(
    cells.map((cell) => cell.source.join("")).slice(2),
    ["## 5. Heads", entries[1][1]],
  );
});

test("a solution that was changed in Jupyter is the one that counts", () => {
  const notebook = JSON.parse(toNotebook(entries, lessons));
  notebook.cells.at(-1).source = "changed = True"; // Jupyter writes a text or a list
  assert.equal(Object.fromEntries(fromFile(JSON.stringify(notebook)))[entries[1][0]], "changed = True");
});

test("what this page has not written is refused", () => {
  const notebook = JSON.parse(toNotebook(entries, lessons));
  const kept = notebook.metadata["multi-head-attention-course"];
  const refused = (change, words) => {
    const copy = structuredClone(notebook);
    change(copy, copy.metadata["multi-head-attention-course"]);
    assert.throws(() => fromFile(JSON.stringify(copy)), words);
  };
  assert.ok(kept);
  assert.throws(() => fromFile("no JSON"), /This page did not write that file/);
  assert.throws(() => fromFile("null"), /This page did not write that file/);
  refused((copy) => (copy.metadata = {}), /This page did not write that file/);
  refused((_, kept) => (kept.version = 2), /This page did not write that file/);
  refused((_, kept) => (kept.entries["../../theme"] = "dark"), /which no page has/);
  refused((_, kept) => (kept.entries["quiz/chapters/05-multi-head/1"] = 3), /which no page has/);
  refused((_, kept) => (kept.entries["practice/one-score"] = "-1"), /no count/);
  refused((_, kept) => (kept.entries["code/a/b"] = "x".repeat(300_000)), /too long/);
});
