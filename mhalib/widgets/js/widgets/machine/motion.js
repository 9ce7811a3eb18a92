// What happens by itself: once when the picture comes into sight, and when a word is picked.

import { h } from "../../parts/dom.js";

/** Call once, when the element is in sight. */
export function runOnce(el, call) {
  const seen = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) return;
    seen.disconnect();
    call();
  }, { threshold: 0.5 }); // prettier-ignore
  seen.observe(el);
  return () => seen.disconnect();
}

/** The picked word flies from the list to the end of the sentence's tokens. */
export function fly(picture, word) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches || !picture.where()) return;
  const place = picture.where();
  const from = picture.listAt(0);
  const to = place.turned
    ? [place.rows.at(-1) ?? 0, 30]
    : [place.labels[0] + 30, (place.rows.at(-1) ?? 0) + place.pitch];
  const ghost = h("b", { class: "mh-ghost", "aria-hidden": "true" }, word);
  picture.element.append(ghost);
  const at = (x, y) => `translate(${x}px, ${y}px)`;
  ghost.animate([{ transform: at(from.x, from.y) }, { transform: at(...to) }], { duration: 320, easing: "ease-in-out" }).onfinish = () => ghost.remove(); // prettier-ignore
}
