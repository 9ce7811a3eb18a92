// The weights of all heads side by side, each below its switch; one position in all of them.

import { fixed } from "../../math/format.js";
import { cells, hatchMask, moved } from "../../parts/cells.js";
import { picture } from "../../parts/picture.js";

const GAP = 8;
const short = (label) => ([...label].length > 9 ? `${[...label].slice(0, 8).join("")}…` : label);

/** Where the matrices are: [{ x, y }], the side of each and of a cell. */
function layout(width, heads, n) {
  const wide = width >= 600;
  const names = wide ? 66 : 58;
  const columns = wide ? heads : Math.min(2, heads);
  const side = Math.floor(Math.min(wide ? 190 : 260, (width - names) / columns - GAP));
  const top = wide ? 34 : 56;
  const places = Array.from({ length: heads }, (_, k) => ({
    x: names + (k % columns) * (side + GAP),
    y: top + Math.floor(k / columns) * (side + 24),
  }));
  const rows = Math.ceil(heads / columns);
  return { wide, names, side, cell: side / Math.max(1, n), places, height: top + rows * (side + 24) - 22 };
}

export function headsPicture(stops, { now, at, peek, pick, switches }) {
  let place = null;
  let flashed = null;
  const plane = picture(stops, {
    label: "the weights of the heads side by side",
    draw,
    peek,
    pick,
    hit(x, y) {
      const n = now().labels.length;
      for (const [head, { x: left, y: top }] of (place?.places ?? []).entries()) {
        const [i, j] = [Math.floor((y - top) / place.cell), Math.floor((x - left) / place.cell)];
        if (i >= 0 && i < n && j >= 0 && j < n) return { head, i, j };
        if (x < place.names && i >= 0 && i < n && left === place.names) return { head, i, j: at().j };
      }
      return null;
    },
    arrow(di, dj) {
      const n = now().labels.length;
      const inside = (value) => Math.max(0, Math.min(n - 1, value));
      if (n) pick({ ...at(), i: inside(at().i + di), j: inside(at().j + dj) });
    },
  });
  const [back, words, marks] = [plane.layer(), plane.layer(), plane.layer()];

  function draw(width) {
    const { labels, weights, mask, off } = now();
    const n = labels.length;
    place = layout(width, weights.length, n);
    const { wide, names, side, cell, places } = place;
    plane.place(switches, names, 0);
    switches.style.setProperty("--chip", wide ? `${side}px` : "auto");
    switches.style.width = `${width - names}px`;
    if (!n) {
      for (const layer of [back, words, marks]) layer.write([]);
      plane.flash("");
      plane.tell("");
      return { height: 40, paint() {} };
    }
    const { i, j } = at();
    const baseline = (top, row) => top + (row + 0.5) * cell + 4;
    const readable = cell >= 11;
    back.write(mask ? places.map(({ x, y }) => ["path", { d: hatchMask(mask, { x, y, w: cell, h: cell }), class: "mh-hatching" }]) : []); // prettier-ignore
    words.write([
      ...places
        .filter(({ x }) => x === names)
        .flatMap(({ y }) =>
          labels.flatMap((label, row) =>
            readable || row === i
              ? [["text", { x: names - 6, y: baseline(y, row), class: `mh-end mh-small-text ${row === i ? "mh-strong-text" : "mh-soft"}` }, short(label)]] // prettier-ignore
              : [],
          ),
        ),
      ...(wide
        ? []
        : places.map(({ x, y }, k) => ["text", { x, y: y - 6, class: "mh-small-text mh-strong-text" }, `head ${k}`])),
      ...places.map(({ x, y }) => ["text", { x: x + Math.min(side - 30, (j + 0.5) * cell), y: y + side + 14, class: "mh-small-text mh-soft" }, short(labels[j])]), // prettier-ignore
    ]);
    marks.write(
      places.flatMap(({ x, y }, k) => [
        ["rect", { x, y: y + i * cell, width: side, height: cell, class: "mh-outline" }],
        ["rect", { x: x + j * cell, y: y + i * cell, width: cell, height: cell, class: "mh-outline mh-strong" }],
        off[k] && ["path", { d: `M${x} ${y + side}L${x + side} ${y}`, class: "mh-struck" }],
      ]),
    );
    if (now().before !== flashed) {
      flashed = now().before;
      const paths = (flashed ?? []).map((A, k) => moved(A, weights[k], { ...places[k], w: cell, h: cell }));
      plane.flash(paths.join(""));
    }
    const shares = weights.map((w, k) => `head ${k}: ${fixed(w.data[i * n + j], 3)}`);
    plane.tell(`${labels[i]} looks at ${labels[j]}: ${shares.join(", ")}.`);
    const paint = (pen, colours) =>
      places.forEach(({ x, y }, k) => {
        pen.globalAlpha = off[k] ? 0.28 : 1;
        cells(pen, colours, {
          matrix: weights[k],
          x,
          y,
          w: cell,
          h: cell,
          gap: cell >= 8 ? 1 : 0,
          mask,
          kind: "share",
        });
        pen.globalAlpha = 1;
      });
    return { height: place.height + 18, paint };
  }

  return plane;
}
