// A reader's work as one file: a notebook whose cells hold the solutions, so that it runs in Jupyter, and whose
// metadata holds all entries, so that a page can read it again. No DOM: `tests/run` runs it in Node.

const FORMAT = "multi-head-attention-course";
const KINDS = /^(code\/[\w/-]+|solved\/[\w/-]+|quiz\/[\w/-]+\/\d+|place\/[\w/-]+|practice\/[\w-]+)$/;
const LIMIT = 200_000; // characters of one entry

const lines = (text) => text.split(/(?<=\n)/);

/**
 * @param found [name, text] of each entry
 * @param lessons what each page has, see `progress.js`
 * @returns the notebook, as text
 */
export function toNotebook(found, lessons) {
  const entries = Object.fromEntries(found);
  const cells = [
    markdown("# My solutions\n\nExported from the page “Your progress”. Needs `mhalib` (see the course's README)."),
    code("import numpy as np\n\nimport mhalib\nfrom mhalib.checks import check", "imports"),
  ];
  for (const [page, { title, exercises }] of Object.entries(lessons)) {
    const written = Object.entries(exercises).filter(([, cell]) => entries[`code/${page}/${cell}`] !== undefined);
    if (written.length) cells.push(markdown(`## ${title}`));
    for (const [, cell] of written) cells.push(code(entries[`code/${page}/${cell}`], cell, `code/${page}/${cell}`));
  }
  const metadata = {
    kernelspec: { display_name: "Python 3", language: "python", name: "python3" },
    language_info: { name: "python" },
    [FORMAT]: { version: 1, entries },
  };
  cells.forEach((cell, i) => (cell.id = `c${i}`));
  return `${JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;
}

const markdown = (text) => ({ cell_type: "markdown", id: "", metadata: {}, source: lines(text) });
const code = (text, name, entry) => ({
  cell_type: "code",
  execution_count: null,
  id: "",
  metadata: entry ? { course: entry } : {},
  outputs: [],
  source: lines(text),
});

/**
 * @param text of a file that `toNotebook` made, perhaps changed in Jupyter since
 * @returns [name, text] of each entry; throws an Error that says what is wrong
 */
export function fromFile(text) {
  let notebook;
  try {
    notebook = JSON.parse(text);
  } catch {
    throw new Error("This page did not write that file.");
  }
  const kept = notebook?.metadata?.[FORMAT];
  if (kept?.version !== 1 || typeof kept.entries !== "object") throw new Error("This page did not write that file.");
  const entries = new Map(Object.entries(kept.entries));
  for (const cell of Array.isArray(notebook.cells) ? notebook.cells : []) {
    const name = cell?.metadata?.course; // what was changed in Jupyter counts
    if (typeof name === "string" && name.startsWith("code/")) entries.set(name, [cell.source].flat().join(""));
  }
  for (const [name, value] of entries) {
    if (!KINDS.test(name) || typeof value !== "string") throw new Error(`It holds “${String(name).slice(0, 40)}”, which no page has.`);
    if (name.startsWith("practice/") && !/^\d{1,6}$/.test(value)) throw new Error(`Its entry “${name.slice(0, 40)}” is no count.`);
    if (value.length > LIMIT) throw new Error(`Its entry “${name.slice(0, 40)}” is too long.`);
  }
  return [...entries];
}
