// Entry of the classic script of the site: makes each figure live as soon as the parser has
// finished it, before anything is painted, so that nothing on the page moves.
import { enliven } from "./home.js";

function enlivenFinished() {
  for (const figure of document.querySelectorAll("figure.mhalib-widget:not([data-live])")) {
    if (!figure.querySelector(":scope > figcaption")) continue; // its last child
    figure.dataset.live = "";
    enliven(figure);
  }
}

enlivenFinished();
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
