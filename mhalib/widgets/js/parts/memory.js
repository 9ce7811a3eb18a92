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
 * set from now on. `name` names the widget on its page. `model.link()` is then the address of its state.
 */
export function remember(model, name) {
  const limits = model.get("limits") ?? {};
  const key = `mhalib:${location.pathname}:${name}`;
  const own = `#${name}=`;
  const changed = () => {
    const entries = Object.keys(limits).map((each) => [each, model.get(each)]);
    const moved = entries.filter(([each, value]) => JSON.stringify(value) !== JSON.stringify(model.first[each]));
    return moved.length ? Object.fromEntries(moved) : null;
  };
  const take = (values) => {
    for (const [each, value] of Object.entries(within(limits, values))) model.set(each, value);
  };
  const linked = () => {
    if (!location.hash.startsWith(own)) return null;
    try {
      return parsed(decodeURIComponent(location.hash.slice(own.length)));
    } catch {
      return null; // a broken %
    }
  };
  take(linked() ?? stored(key));
  addEventListener("hashchange", () => {
    const values = linked();
    if (values) take({ ...model.first, ...values });
  });
  let timer = 0;
  for (const each of Object.keys(limits)) {
    model.on(`change:${each}`, () => {
      clearTimeout(timer);
      timer = setTimeout(() => store(key, changed()), 200);
    });
  }
  addEventListener("pagehide", () => store(key, changed()));
  model.link = () => own + encodeURIComponent(JSON.stringify(changed() ?? {}));
}
