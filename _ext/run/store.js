// What a reader did, in this browser's storage: one entry a thing, so that two tabs do not write over each other.
//
//   course/code/PAGE/CELL    what stands in a cell that was changed
//   course/solved/PAGE/NAME  when exercise NAME was solved first
//   course/quiz/PAGE/N       the chosen options of question N
//   course/place/PAGE        where the reader was last: the id of the section
//
// A browser may refuse to store: then it lasts as long as the page.

const PREFIX = "course/";
const memory = new Map();
let refused = false;

function storage() {
  try {
    return localStorage;
  } catch {
    refused = true;
    return null;
  }
}

export function read(name) {
  try {
    return storage()?.getItem(PREFIX + name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

/** Store a text; null removes the entry. */
export function write(name, text) {
  if (text === null) memory.delete(name);
  else memory.set(name, text);
  try {
    if (text === null) storage()?.removeItem(PREFIX + name);
    else storage()?.setItem(PREFIX + name, text);
  } catch {
    refused = true; // full, or forbidden
  }
}

/** All entries whose name begins with `start`, as [rest of the name, text]. */
export function entries(start = "") {
  const found = new Map([...memory].filter(([name]) => name.startsWith(start)));
  try {
    for (const key of Object.keys(storage() ?? {})) {
      if (key.startsWith(PREFIX + start)) found.set(key.slice(PREFIX.length), localStorage.getItem(key));
    }
  } catch {
    refused = true;
  }
  return [...found].map(([name, text]) => [name.slice(start.length), text]).sort();
}

/** What the widget `name` of the page at `path` remembers: the values that a reader changed. */
export function remembered(path, name) {
  try {
    return JSON.parse(storage()?.getItem(`mhalib:${path}:${name}`)) ?? {};
  } catch {
    return {};
  }
}

/** Change some of what a widget remembers. */
export function remind(path, name, values) {
  try {
    storage()?.setItem(`mhalib:${path}:${name}`, JSON.stringify({ ...remembered(path, name), ...values }));
  } catch {
    refused = true;
  }
}

/** Forget all of it, and what the widgets of the pages below `path` remember. */
export function forget(path) {
  for (const [name] of entries()) write(name, null);
  try {
    for (const key of Object.keys(storage() ?? {})) if (key.startsWith(`mhalib:${path}`)) localStorage.removeItem(key);
  } catch {
    refused = true;
  }
}

export const isRefused = () => refused;

/** Call `changed(name, text)` when another tab wrote. */
export function watch(changed) {
  addEventListener("storage", (event) => {
    if (event.key === null) changed(null, null);
    else if (event.key.startsWith(PREFIX)) changed(event.key.slice(PREFIX.length), event.newValue);
  });
}
