// The colours of canvas pictures. What is SVG or HTML takes its colours from frame.css by itself.

const rgb = (style, name) => style.getPropertyValue(name).trim();

/** The colours for cells where `element` stands: "r g b", and lines. */
export function coloursOf(element) {
  const style = getComputedStyle(element);
  return { plus: rgb(style, "--mh-plus"), minus: rgb(style, "--mh-minus"), line: rgb(style, "--mh-line") };
}

/** Custom properties of `element` by name ("road" for --mh-road) as colours that a canvas takes. */
export function palette(element, names) {
  const probe = element.appendChild(document.createElement("i"));
  probe.style.forcedColorAdjust = "none";
  const style = getComputedStyle(probe);
  const colours = names.map((name) => {
    probe.style.color = `var(--mh-${name})`;
    return [name, style.color];
  });
  probe.remove();
  return Object.fromEntries(colours);
}

/** Call `redraw` when the page, JupyterLab or the reader's system turns light or dark. */
export function onTheme(stops, redraw) {
  const watching = new MutationObserver(redraw);
  const attributes = { attributes: true, attributeFilter: ["data-theme", "data-mode", "data-jp-theme-light"] };
  watching.observe(document.documentElement, attributes);
  watching.observe(document.body, attributes);
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", redraw);
  stops.push(() => {
    watching.disconnect();
    media.removeEventListener("change", redraw);
  });
}
