// The numbers behind a picture, folded; built only while it is open.

import { h, rich } from "./dom.js";

/** `content()` gives { head: [...], rows: [[...]] }; the first cell of a row is its heading. */
export function dataTable(summary, content) {
  const table = h("table");
  const details = h(
    "details",
    { class: "mh-data", ontoggle: () => update() },
    h("summary", {}, summary),
    h("div", { class: "mh-scroll", tabindex: 0, role: "region", "aria-label": summary }, table),
  );
  const update = () => {
    if (!details.open) return;
    const { head, rows } = content();
    table.replaceChildren(
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head.map((text) => h("th", { scope: "col" }, rich(text))),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map(([first, ...cells]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, first),
            cells.map((cell) => h("td", {}, cell)),
          ),
        ),
      ),
    );
  };
  return { element: details, update };
}
