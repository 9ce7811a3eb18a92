// The map of the vocabulary, and the nearest words beside it.

import { fixed } from "../../math/format.js";
import { picture } from "../../parts/picture.js";
import { locateWord, mapLayout, placeNames, spots } from "./layout.js";

const text = (x, y, words, name = "") => ["text", { x, y, class: name }, words];
const rect = (x, y, width, height, name) => ["rect", { x, y, width, height, class: name }];
const circle = ([cx, cy], r, name) => ["circle", { cx, cy, r, class: name }];

export function wordMap(stops, { now, at, chosen: start, peek, pick, compare }) {
  let place = null;
  let points = [];
  const plane = picture(stops, {
    label: "the map of the vocabulary. Enter leads to the nearest words, Escape back",
    draw,
    peek,
    pick,
    hit: (x, y) => place && locateWord(place, points, x, y),
    arrow(di, dj) {
      const { near } = now();
      const seen = at();
      if (seen?.part === "list") return compare(Math.max(0, Math.min(near.length - 1, seen.i + (di || dj))));
      const axis = dj ? 0 : 1;
      const order = points.map((_, i) => i).sort((a, b) => points[a][axis] - points[b][axis] || a - b);
      const to = Math.max(0, Math.min(order.length - 1, order.indexOf(start()) + (dj || di)));
      pick({ part: "map", i: order[to] });
    },
    enter: () => (at()?.part === "list" ? pick(at()) : compare(0)),
    escape: () => compare(null),
  });
  const [back, words] = [plane.layer(), plane.layer()];

  function draw(width) {
    const { labels, plane: map, chosen, near } = now();
    place = mapLayout(width, near.length);
    points = spots(map.points, place.map);
    const seen = at();
    const close = near.map(([i]) => i);
    const hovered = seen?.part === "list" ? close[seen.i] : seen?.i;
    const rest = labels.map((_, i) => i).filter((i) => i !== chosen && !close.includes(i));
    let names = placeNames(points, labels, [chosen, ...close, ...rest], [chosen, ...close], place.map);
    if (hovered !== undefined && !names.some(({ index }) => index === hovered)) {
      names = placeNames(points, labels, [hovered, chosen, ...close, ...rest], [hovered, chosen, ...close], place.map);
    }
    const dots = rest.map((i) => `M${points[i][0] - 3} ${points[i][1]}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0`).join("");
    back.write([
      rect(place.map.x, place.map.y, place.map.w, place.map.h, "mh-field"),
      ...near.map(([i, cosine]) => [
        "path",
        { d: `M${points[chosen]}L${points[i]}`, class: "mh-links", "stroke-width": Math.max(0.5, 4 * cosine) },
      ]),
      ["path", { d: dots, class: "mh-spots" }],
      ...close.map((i) => circle(points[i], 5, "mh-spot-near")),
      circle(points[chosen], 7, "mh-spot-chosen"),
      hovered !== undefined && hovered !== chosen && circle(points[hovered], 8, "mh-outline mh-strong"),
      ...list(near, seen, place.list),
    ]);
    const nameClass = (i) => {
      if (i === chosen || i === hovered) return "mh-strong-text";
      return close.includes(i) ? "mh-small-text" : "mh-small-text mh-soft";
    };
    words.write([
      ...names.map(({ index, x, y, w, h }) => {
        const end = x + w < points[index][0];
        return text(end ? x + w : x, y + h - 3, labels[index], `${nameClass(index)}${end ? " mh-end" : ""}`);
      }),
      text(place.map.x, place.map.h + 16, `the two directions of largest spread: they hold ${fixed(100 * map.share, 0)} % of it`, "mh-soft mh-small-text"), // prettier-ignore
      text(place.list.x, place.list.y - 10, `nearest to “${labels[chosen]}” by cosine`, "mh-strong-text"),
      ...listNames(near, labels, seen, place.list),
    ]);
    plane.tell(`${labels[chosen]}: nearest ${near.map(([i]) => labels[i]).join(", ")}`);
    return { height: place.height, paint() {} };
  }

  return plane;
}

function slot({ x, y, w, h, rows, columns }, k) {
  const high = Math.ceil(rows / columns);
  return { left: x + Math.floor(k / high) * w, top: y + (k % high) * h, room: w - (columns > 1 ? 8 : 0) };
}

function list(near, seen, part) {
  return near.flatMap(([, cosine], k) => {
    const { left, top, room } = slot(part, k);
    const track = room - 90 - 44;
    return [
      seen?.part === "list" && seen.i === k && rect(left, top + 2, room, part.h - 4, "mh-outline"),
      rect(left + 90, top + part.h / 2 - 6, track, 12, "mh-track"),
      rect(left + 90, top + part.h / 2 - 6, Math.max(0, cosine) * track, 12, "mh-spot-near"),
    ];
  });
}

function listNames(near, labels, seen, part) {
  return near.flatMap(([i, cosine], k) => {
    const { left, top, room } = slot(part, k);
    const own = seen?.part === "list" && seen.i === k ? " mh-strong-text" : "";
    const baseline = top + part.h / 2 + 4.5;
    return [
      text(left + 84, baseline, labels[i], `mh-end${own}`),
      text(left + room - 4, baseline, fixed(cosine, 3), `mh-end${own}`),
    ];
  });
}
