// What is pressed on the picture itself: the switches of each layer at their place, and groups of buttons that
// are one tab stop.

import { h, rich } from "../../parts/dom.js";
import { isOff, SWITCHES } from "./switches.js";

/** Let arrow keys move among the buttons of an element, which is one tab stop. */
export function roving(bar) {
  const buttons = () => [...bar.querySelectorAll("button:not(:disabled)")];
  const only = (button) => buttons().forEach((each) => (each.tabIndex = each === button ? 0 : -1));
  bar.addEventListener("focusin", (event) => only(event.target));
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const all = buttons();
    const k = all.indexOf(document.activeElement);
    if (!step || k < 0) return;
    all[Math.max(0, Math.min(all.length - 1, k + step))].focus();
    event.preventDefault();
    event.stopPropagation();
  });
  return { only, first: () => only(buttons()[0]) };
}

/** The switches that stand on the picture: [{ label, on, className, title, x, y, w, act }]. */
export function onThePicture(place, now, acts) {
  const { n, off, opened, layer, head, config } = now;
  const list = [];
  const add = (label, x, y, w, more) => list.push({ label, x, y, w, h: place.turned ? 28 : 22, ...more });
  const H = config.n_heads;
  const flip = (...name) => () => acts.flip(name.join(".")); // prettier-ignore
  for (const zone of place.zones) {
    if (zone.kind === "X") {
      if (place.full || opened === "X") {
        const [x, title] = opened === "X" ? [zone.to - 62, "close X"] : [zone.strip[0] + 16, "open X"];
        if (!place.turned) add(opened === "X" ? "✕ close" : "⤢", x, 2, opened === "X" ? 60 : 24, { on: opened === "X", className: "mh-open", title, act: () => acts.open("X", layer, head) }); // prettier-ignore
      }
      continue;
    }
    const l = zone.layer;
    const inside = Boolean(zone.inside);
    const on = !isOff(off, "layers", l);
    const from = place.turned ? 2 : zone.from + (zone.to - zone.from < 60 ? 1 : 4);
    const y = place.turned ? zone.from + 4 : 2;
    const slim = place.turned && place.width < 330;
    const narrow = !place.turned && zone.to - zone.from < 60;
    add(`layer ${l}`, from, y, place.turned ? (slim ? 56 : 58) : narrow ? zone.to - zone.from - 1 : 54, { on, ...(narrow && { h: 34 }), className: `mh-layer-name${narrow ? " mh-tight-name" : ""}`, title: `layer ${l}`, act: flip("layers", l) }); // prettier-ignore
    const chips = zone.chips || inside;
    if (!chips) continue;
    const oneRow = inside && !place.turned;
    const wide = zone.to - zone.from;
    const tight = !place.turned && !oneRow && wide < 132;
    const step = tight ? Math.min(24, (wide - 30) / Math.min(H, 4)) : 24;
    const size = slim ? [30, 28] : place.turned ? [34, 32] : [step, step - 2];
    const left = place.turned ? (slim ? 58 : 62) : oneRow ? zone.from + 62 : zone.from + 6;
    const top = place.turned ? zone.from + 4 : oneRow ? 4 : 26;
    for (let k = 0; k < H; k++) {
      const x = left + size[0] * (oneRow ? k : k % 4);
      const row = oneRow ? 0 : Math.floor(k / 4);
      const open = inside && opened === "head";
      add(String(k), x, top + row * (place.turned ? 32 : 24), size[1], {
        on: !isOff(off, "heads", l, k),
        className: `mh-head-chip${inside && !(open && k === head) ? " mh-pale" : ""}`,
        title: inside ? `layer ${l}, show head ${k}` : `layer ${l}, head ${k}`,
        head: k,
        lens: { layer: l, head: k },
        act: inside ? () => acts.open("head", l, k) : flip("heads", l, k),
        pressed: inside ? open && k === head : undefined,
      });
    }
    const after = left + size[0] * (oneRow ? H : Math.min(H, 4)) + (place.turned ? 2 : 2);
    const parts = {
      W_O: ["`W_O`", place.turned && !slim ? 34 : tight ? 22 : 28],
      ffn: ["FFN", place.turned && !slim ? 38 : 32],
    };
    let x = after;
    for (const [kind, [label, w]] of Object.entries(parts)) {
      const above = !place.turned && !oneRow && x + w > zone.to + 1; // no room: in the line of the name
      const open = inside && opened === kind;
      add(label, above ? zone.from + 61 : x, above ? 2 : top, w, {
        on: !isOff(off, kind, l),
        className: `mh-part${open ? " mh-shown-part" : ""}`,
        title: inside ? `layer ${l}, show ${kind === "ffn" ? "FFN" : kind}` : `layer ${l}, ${kind === "ffn" ? "FFN" : kind}`, // prettier-ignore
        act: inside ? () => acts.open(kind, l, head) : flip(kind, l),
        pressed: inside ? open : undefined,
      });
      x += w + 2;
    }
    if (inside && !place.turned) {
      const short = zone.to - zone.from < 372;
      const name = opened === "head" ? ["heads", l, head] : [opened, l];
      const gone = isOff(off, ...name);
      add(`${short ? "" : "switch "}${gone ? "on" : "off"}`, x + (short ? 4 : 8), 2, short ? 30 : 76, { on: true, pressed: gone, className: "mh-open", title: `switch ${gone ? "on" : "off"}: ${opened === "head" ? `head ${head}` : opened === "ffn" ? "FFN" : opened}`, act: flip(...name) }); // prettier-ignore
    }
    const width = place.turned ? 62 : 56;
    const brief = place.turned ? slim : zone.to - zone.from < (inside ? 372 : 155); // what stands beside it needs the room
    if (place.turned || zone.to - zone.from > 120) {
      add([["open ⤢", "⤢"], ["✕ close", "✕"]][Number(inside)][Number(brief)], place.turned ? place.width - (slim ? 32 : 64) : zone.to - (brief ? 26 : width + 4), place.turned ? y : 2, brief ? (slim ? 32 : 24) : width, {
        on: inside,
        className: "mh-open",
        title: inside ? `close layer ${l}` : `open layer ${l}`,
        act: () => acts.open(inside ? "" : "head", l, head),
      }); // prettier-ignore
    }
  }
  if (n) {
    const out = opened === "output";
    const { x, top = 2 } = place.words;
    const w = out ? 60 : Math.min(place.width - x + 2, place.turned ? 132 : 150);
    const name = out ? "mh-open" : "mh-layer-name mh-words-name";
    if (out || now.right === "next word") add(out ? "✕ close" : now.heading, out ? place.width - w : x - 2, top, w, { on: out, className: name, title: out ? "close the output" : `${now.heading}: open the output`, act: () => acts.open("output", layer, head) }); // prettier-ignore
  }
  return list;
}

/** The switches of the whole model, under the picture. */
export const rail = (off) =>
  Object.entries(SWITCHES).map(([name, label]) => ({ label, on: !off.includes(name), className: "mh-toggle", name }));

/** ◀ ▶ Run: one tab stop. */
export function runBar({ back, run, next }) {
  const button = (label, title, onclick, name = "") =>
    h("button", { type: "button", class: `mh-button ${name}`, "aria-label": title, onclick }, rich(label));
  const play = button("▶ Run", "run", run, "mh-walk");
  const bar = h("div", { class: "mh-walk-bar", role: "toolbar", "aria-label": "walk through the machine" }, button("◀", "one stage back", back), play, button("▶", "one stage on", next)); // prettier-ignore
  roving(bar).only(play);
  return {
    element: bar,
    show(running) {
      play.replaceChildren(running ? "❚❚ Stop" : "▶ Run");
      play.setAttribute("aria-label", running ? "stop" : "run");
    },
  };
}
