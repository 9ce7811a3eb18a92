// Entry of the classic script of the site: makes each figure live as soon as the parser has
// finished it, before anything is painted, so that nothing on the page moves.
import { enliven } from "./home.js";

const seen = new WeakSet();

function enlivenFinished() {
  for (const figure of document.querySelectorAll("figure.mhalib-widget")) {
    const finished = figure.querySelector(":scope > figcaption"); // its last child
    if (!finished || seen.has(figure)) continue;
    seen.add(figure);
    enliven(figure);
  }
}

enlivenFinished();
document.addEventListener("mhalib-figures", enlivenFinished); // a cell run on the page made figures
if (document.readyState === "loading") {
  const observer = new MutationObserver(enlivenFinished);
  observer.observe(document, { childList: true, subtree: true });
  document.addEventListener(
    "DOMContentLoaded",
    () => {
      observer.disconnect();
      enlivenFinished();
    },
    { once: true },
  );
}
