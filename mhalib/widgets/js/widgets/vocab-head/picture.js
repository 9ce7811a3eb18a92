// The dot product behind a logit: x, the word's row of E, their products, feature by feature.

import { fixed } from "../../math/format.js";
import { cells, largestSize } from "../../parts/cells.js";
import { picture } from "../../parts/picture.js";

const NAMES = ["x", "E row", "product"];
const [TALL, PITCH, LEFT] = [30, 50, 54];

export function productPicture(stops, { now, told }) {
  let w = 1;
  let feature = 0;
  let passing = null;
  let said = "";
  const show = () => {
    plane.redraw();
    told(said);
  };
  const size = () => now()?.strips[0].cols ?? 0;
  const plane = picture(stops, {
    label: "the dot product, feature by feature",
    draw,
    hit(x) {
      if (!size()) return null;
      return 1 + Math.max(0, Math.min(size() - 1, Math.floor((x - LEFT) / w))); // from 1: 0 would be nothing
    },
    peek(position) {
      passing = position;
      show();
    },
    pick(position) {
      feature = position - 1;
      passing = null;
      show();
    },
    arrow(di, dj) {
      feature = Math.max(0, Math.min(size() - 1, feature + (dj || di)));
      passing = null;
      show();
    },
  });
  const words = plane.layer();

  function draw(width) {
    const state = now();
    if (!state) {
      words.write([]);
      plane.tell("");
      return { height: 40, paint() {} };
    }
    w = (width - LEFT) / size();
    const t = passing ? passing - 1 : Math.min(feature, size() - 1);
    const [x, e, p] = state.strips.map(({ data }) => fixed(data[t], 3));
    said = `feature ${t}: ${x} × ${e} = ${p}`;
    words.write([
      ...NAMES.map((name, k) => ["text", { x: 0, y: k * PITCH + TALL / 2 + 4, class: "mh-small-text" }, name]),
      ["rect", { x: LEFT + t * w, y: 0, width: w, height: 2 * PITCH + TALL, class: "mh-outline mh-strong" }],
      ["text", { x: 0, y: 3 * PITCH + 4 }, said],
      ["text", { x: 0, y: 3 * PITCH + 28, class: "mh-strong-text" }, `Σ ${fixed(state.sum, 3)}`],
      ["text", { x: 0, y: 3 * PITCH + 48, class: "mh-soft mh-small-text" }, "each row of colours has its own scale"],
    ]);
    plane.tell(said);
    const paint = (pen, colours) =>
      state.strips.forEach((strip, k) =>
        cells(pen, colours, { matrix: strip, x: LEFT, y: k * PITCH, w, h: TALL, max: largestSize(strip) }),
      );
    return { height: 3 * PITCH + 54, paint };
  }

  return plane;
}
