// What a reader set, beyond the page: a link that holds it, and this browser's memory of the page.
// Both are optional: a browser may refuse to store, and what is read is checked by the limits.

import { within } from "./limits.js";

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // not ours
  }
}

function stored(key) {
  try {
    return parsed(localStorage.getItem(key));
  } catch {
    return null; // a browser may refuse
  }
}

function store(key, values) {
  try {
    if (values) localStorage.setItem(key, JSON.stringify(values));
    else localStorage.removeItem(key);
  } catch {
    // a browser may refuse
  }
}

/**
 * Give a page's model back what was set before, from the address or from the last visit, and keep what is
 * set from now on. `name` names the widget on its page. `model.link()` is then the address of its state; what a
 * limit calls `kept` is the reader's own, and no part of a link.
 */
export function remember(model, name) {
  const limits = model.get("limits") ?? {};
  const key = `mhalib:${location.pathname}:${name}`;
  const own = `#${name}=`;
  const names = Object.keys(limits);
  const shared = names.filter((each) => !limits[each].kept);
  const changed = (of = names) => {
    const entries = of.map((each) => [each, model.get(each)]);
    const moved = entries.filter(([each, value]) => JSON.stringify(value) !== JSON.stringify(model.first[each]));
    return moved.length ? Object.fromEntries(moved) : null;
  };
  const take = (values, of = names) => {
    for (const [each, value] of Object.entries(within(limits, values))) if (of.includes(each)) model.set(each, value);
  };
  const linked = () => {
    if (!location.hash.startsWith(own)) return null;
    try {
      return parsed(decodeURIComponent(location.hash.slice(own.length)));
    } catch {
      return null; // a broken %
    }
  };
  const before = stored(key);
  const given = linked();
  take(before, given ? names.filter((each) => limits[each].kept) : names);
  take(given, shared);
  addEventListener("hashchange", () => {
    const values = linked();
    if (values) take({ ...model.first, ...values }, shared);
  });
  let timer = 0;
  for (const each of names) {
    model.on(`change:${each}`, () => {
      clearTimeout(timer);
      timer = setTimeout(() => store(key, changed()), 200);
    });
  }
  addEventListener("pagehide", () => store(key, changed()));
  model.link = () => own + encodeURIComponent(JSON.stringify(changed(shared) ?? {}));
}
