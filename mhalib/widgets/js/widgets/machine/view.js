// The whole machine: one picture of a sentence's way through the model; anything switched off, opened, followed.

import { fixed } from "../../math/format.js";
import { losses } from "../../math/model.js";
import { Provenance } from "../../math/provenance.js";
import { mean } from "../../math/tensor.js";
import { nameOf as nameInTrace, parse } from "../../math/trace-names.js";
import { segments, sentence, toolbar } from "../../parts/bar.js";
import { assign, cached, h, say, watch } from "../../parts/dom.js";
import { frame } from "../../parts/frame.js";
import { show } from "../../parts/tokens.js";
import { withModel } from "../../parts/with-model.js";
import { onThePicture, rail, roving } from "./controls.js";
import { measured } from "./losses.js";
import { fly, runOnce } from "./motion.js";
import { SQUARE, partOf, stepIn } from "./panels.js";
import { machinePicture } from "./picture.js";
import { crumb, nextSaid, ofRow, ofStage, ofToken } from "./readout.js";
import { shownNow } from "./state.js";
import { outline, stagesOf, tell } from "./story.js";
import { ablation } from "./switches.js";
import { allTables } from "./tables.js";
import { walkThrough } from "./walk.js";
import { nameOf, sayNumber } from "./words.js";

const NAMES = ["text", "position", "layer", "head", "off", "follow", "opened", "step", "right"];
const bold = (text) => h("b", {}, text);

export default function view(model, el) {
  return withModel(model, el, (course) => build(model, el, course));
}

function build(model, el, { transformer, tokenizer, read }) {
  const stops = [];
  const { config } = transformer;
  const landing = model.get("landing");
  const stages = stagesOf(config.n_layers);
  const traced = (key, ablate) => {
    const ids = key.split(",").map(Number);
    const trace = transformer.forward(ids, { ablate });
    const loss = cached(() => (ids.length < 2 ? null : mean(losses(trace))));
    return { trace, loss, source: new Provenance(transformer, trace, ablate) };
  };
  const whole = cached((key) => traced(key, {}));
  const changed = cached((key, off) => traced(key, ablation(JSON.parse(off), config)));
  const walk = walkThrough(model, stages, stops);
  const { halt, run } = walk;
  const relations = measured(transformer, tokenizer, model.get("evaluation"), () => update());
  stops.push(relations.stop);

  let now = { n: 0, list: [], panels: [], labels: [], off: [], gone: () => false };
  let passing = null; // what the pointer is over
  let lens = null; // the head whose switch the pointer is on
  let holding = false; // the whole model is shown for as long as its button is held
  let at = null; // the stage that arrow keys have come to
  const trail = [];

  // ---------------------------------------------------------------- what is pressed
  const flip = (name) => {
    const others = model.get("off").filter((other) => other !== name);
    halt();
    at = null;
    assign(model, { off: others.length === model.get("off").length ? [...others, name].sort() : others, step: 0 });
  };
  const open = (opened, layer, head) => {
    at = null;
    const same = model.get("opened") === opened && model.get("layer") === layer && model.get("head") === head;
    const to = { opened: same ? "" : opened, layer, head, step: 0 };
    if (to.opened && now.followed && !isIn(now.followed, to)) to.follow = ""; // what is said is of what is open
    assign(model, to);
  };
  const isIn = (ref, { opened, layer, head }) =>
    partOf(ref, config.norm) === opened && (ref.layer ?? layer) === layer && (ref.head ?? head) === head;
  const follow = (ref) => {
    const to = { follow: nameInTrace(ref), step: 0 };
    if (ref.layer !== null) to.layer = ref.layer;
    if (ref.head !== null) to.head = ref.head;
    if (model.get("opened")) to.opened = partOf(ref, config.norm);
    if (SQUARE.includes(ref.stage) || ref.stage === "Q" || ref.stage === "heads") to.position = ref.i;
    assign(model, to);
  };
  const back = () => {
    trail.pop();
    const last = trail.pop();
    assign(model, { follow: "" });
    if (last) follow(parse(last));
  };
  const pick = (found) => {
    passing = null;
    if (found.token !== undefined) assign(model, { position: found.token, follow: "" });
    else if (found.row !== undefined) {
      const { id } = now.list[found.row];
      if (id !== undefined) follow({ stage: "probabilities", layer: null, head: null, i: now.position, j: id });
    } else follow(found.ref);
  };

  let placed = [];
  const onPicture = toolbar({ label: "parts of the model: switch off, open", className: "mh-on-picture", flip: (k) => placed[k].act() }); // prettier-ignore
  const hover = (event) => {
    const k = [...onPicture.element.children].indexOf(event.target.closest("button"));
    const found = k < 0 || event.pointerType !== "mouse" ? null : (placed[k]?.lens ?? null);
    if (JSON.stringify(found) === JSON.stringify(lens)) return;
    lens = now.lens = found;
    picture.redraw();
  };
  onPicture.element.addEventListener("pointerover", hover);
  onPicture.element.addEventListener("pointerleave", hover);

  const right = segments(model, "right", stops, { label: "", options: [["next word", "next word"], ["loss by relation", "loss"]] }); // prettier-ignore
  right.setAttribute("aria-label", "what the list at the right shows");
  const whole_ = h("button", { type: "button", class: "mh-button mh-hold" }, "hold: whole model");
  const hold = (on) => () => {
    if (holding === on) return;
    holding = on;
    whole_.setAttribute("aria-pressed", String(on));
    update();
  };
  for (const event of ["pointerdown", "keydown"]) whole_.addEventListener(event, (e) => (e.type === "pointerdown" || e.key === " " || e.key === "Enter") && hold(true)()); // prettier-ignore
  for (const event of ["pointerup", "pointerleave", "pointercancel", "keyup", "blur"]) whole_.addEventListener(event, hold(false)); // prettier-ignore
  const switches = toolbar({ label: "switches of the whole model", className: "mh-rail", flip: (k) => flip(rail([])[k].name) }); // prettier-ignore

  // ---------------------------------------------------------------- keys
  const arrow = (di, dj) => {
    if (!now.n) return;
    if (model.get("opened") && now.panels.length) return follow(stepIn(now.panels, startIn(), di, dj));
    if (di) {
      const from = Math.min(model.get("position"), now.n - 1);
      const position = Number.isFinite(di) ? from + di : di > 0 ? now.n - 1 : 0;
      assign(model, { position: Math.max(0, Math.min(now.n - 1, position)), follow: "" });
      return;
    }
    const from = at ?? stages.length - 1;
    at = dj === Infinity ? stages.length - 1 : dj === -Infinity ? 0 : Math.max(0, Math.min(stages.length - 1, from + dj)); // prettier-ignore
    explainIt();
  };
  const startIn = () => {
    const { stage, layer, head } = now.panels.find((p) => SQUARE.includes(p.stage)) ?? now.panels[0];
    const ref = model.get("follow") ? parse(model.get("follow")) : null; // now.followed may be a frame behind
    const held = ref && now.panels.some((p) => p.stage === ref.stage);
    return held ? ref : { stage, layer, head, i: now.position, j: now.key };
  };
  const enter = (key) => {
    if (key === " ") return run();
    const { ref } = at === null ? {} : tell(stages[at], now);
    if (!ref) return open("head", now.layer, now.head);
    open(partOf(ref, config.norm), ref.layer ?? now.layer, ref.head ?? now.head);
  };
  const escape = () => {
    halt();
    if (model.get("opened")) assign(model, { opened: "" });
    else assign(model, { follow: "", step: 0 });
    at = null;
    explainIt();
  };

  const picture = machinePicture(stops, {
    now: () => now,
    landing,
    controls(place) {
      const list = now.n ? onThePicture(place, now, { flip, open }) : [];
      placed = list;
      onPicture.update(list.map(({ pressed, on, ...rest }) => ({ ...rest, on: pressed ?? on })));
      list.forEach(({ x, y, w, h: height, head, on }, k) => {
        const button = onPicture.element.children[k];
        Object.assign(button.style, { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${height}px` });
        button.dataset.head = head === undefined ? "" : head % 8;
        button.classList.toggle("mh-gone", !on && !/mh-open|mh-words-name/.test(button.className));
      });
      picture?.place(onPicture.element, 0, 0);
      if (place.turned) picture?.place(right, 134, place.words.top - 1);
      else picture?.place(right, place.words.x, 26);
      right.hidden = !now.n || now.opened === "output";
    },
    peek(found) {
      passing = found;
      explainIt();
    },
    pick,
    arrow,
    enter,
    escape,
  });

  const openIt = h("button", { type: "button", class: "mh-button", onclick: () => {
    const ref = focusRef();
    if (ref) open(partOf(ref, config.norm), ref.layer ?? now.layer, ref.head ?? now.head);
  } }); // prettier-ignore
  const key = h("span", { class: "mh-crumb" });
  const story = h("ol", { class: "mh-unseen", "aria-label": "the way through the machine" });
  const box = frame(model, el, stops, {
    names: NAMES,
    below: true,
    top: sentenceRow(),
    controls: landing ? [lessonLinks()] : [switches.element, whole_],
    picture: picture.element,
    key,
    beside: [openIt],
    numbers: () => (now.n ? allTables(now, tokenizer, relations.found) : []),
  });
  el.append(story);

  function sentenceRow() {
    const line = sentence(model, stops, tokenizer, { also: { step: 0 } });
    if (landing) line.append(h("button", { type: "button", class: "mh-button mh-next-word", onclick: nextWord }, "+ Next word")); // prettier-ignore
    line.append(walk.element);
    return line;
  }
  function lessonLinks() {
    const links = model.get("lessons").filter(([, name]) => name);
    return h("nav", { class: "mh-lessons", "aria-label": "lessons" }, links.map(([number, name, href]) => h("a", { href }, h("b", {}, String(number)), ` ${name}`))); // prettier-ignore
  }
  function nextWord() {
    if (!now.n) return;
    halt();
    const ids = [...now.ids, now.best];
    fly(picture, show(tokenizer, now.best));
    assign(model, { text: tokenizer.decode(ids), position: Math.min(ids.length, 32) - 1, follow: "", step: 0, opened: "" }); // prettier-ignore
  }

  // ---------------------------------------------------------------- what is said
  const focusRef = () => passing?.ref ?? now.followed ?? (at === null && !now.step ? null : tell(stages[now.step ? now.step - 1 : at], now).ref) ?? now.default; // prettier-ignore
  function explainIt() {
    if (!now.n) {
      box.say("Type a sentence.");
      openIt.hidden = true;
      picture.redraw();
      return;
    }
    const stage = now.step ? now.step - 1 : at;
    const seen = passing?.ref ?? null;
    now.seen = seen ?? now.followed;
    const result = (line, more) => `${line}\n${stage !== null && !now.followed && !passing ? more : now.change.said || nextSaid(now)}`; // prettier-ignore
    if (passing?.token !== undefined) box.say(...ofToken(now, passing.token), result);
    else if (passing?.row !== undefined) box.say(...ofRow(now, passing.row, relations.note), result);
    else if (seen)
      box.say(sayNumber(seen, now, tokenizer, bold), now.shown.source.explain(seen)?.formula ?? "", result);
    else if (now.followed) box.say(sayNumber(now.followed, now, tokenizer, bold), whereFrom(), result);
    else if (stage !== null) box.say(...ofStage(now, stage, lessonLink), result);
    else if (now.default)
      box.say(sayNumber(now.default, now, tokenizer, bold), now.change.said || (now.opened ? now.shown.source.explain(now.default).formula : `line: width = weight, colour = head. Strong lines end in “${now.labels[now.position]}”.`), result); // prettier-ignore
    else box.say(`“${now.labels[now.position]}” has nobody before it to look at.`, now.change.said, result);
    const ref = focusRef();
    const part = ref && partOf(ref, config.norm);
    openIt.hidden = !ref || Boolean(now.opened);
    if (ref) say(openIt, { X: "open X", head: "open this head", W_O: "open W_O", ffn: "open the FFN", output: "open the output" }[part]); // prettier-ignore
    now.told = `${nextSaid(now)} ${now.change.said}`;
    picture.redraw();
  }
  const lessonLink = (lesson) => {
    const [, , href] = model.get("lessons").find(([number]) => number === lesson) ?? [];
    return href && model.link ? h("a", { href }, `lesson ${lesson}`) : `lesson ${lesson}`;
  };
  const termName = (ref, before) => {
    const name = nameOf(ref, now, tokenizer, ref.layer === now.followed.layer);
    const again = before && ["stage", "layer", "head"].every((each) => before[each] === ref[each]);
    return again && name.length > 20 ? name.slice(name.indexOf("[")) : name;
  };
  const whereFrom = () => {
    const { formula, terms } = now.explained;
    const buttons = terms.slice(0, 4).map((term, k) =>
      h("button", { type: "button", tabindex: -1, onclick: () => follow(term.ref) },
        `${termName(term.ref, terms[k - 1]?.ref)}${term.product === undefined ? `: ${term.what}` : ` ${fixed(term.product, 2)}`}`)); // prettier-ignore
    if (trail.length > 1) buttons.unshift(h("button", { type: "button", onclick: back, "aria-label": "back" }, "◀"));
    const from = h("span", { class: "mh-from", role: "toolbar", "aria-label": "comes from" }, buttons);
    if (buttons.length) roving(from).first();
    return [h("span", { class: "mh-formula", title: formula }, formula), from];
  };

  // ---------------------------------------------------------------- what is shown
  function update() {
    now = shownNow(model, { config, tokenizer, ids: read(model.get("text")), whole, changed, holding, relations, stages, lens }, now); // prettier-ignore
    switches.update(rail(now.off));
    if (now.n) {
      const name = model.get("follow");
      if (now.followed && trail.at(-1) !== name) trail.push(name);
      if (!name) trail.length = 0;
      if (passing?.ref && (passing.ref.i >= now.n || now.shown.source.value(passing.ref) === undefined)) passing = null;
      if (passing?.token >= now.n || passing?.row >= now.list.length) passing = null;
      whole_.hidden = !now.off.length;
      say(key, crumb(now));
    }
    explainIt();
    box.changed();
    if (now.n) tellLater();
  }
  let telling = 0;
  const tellLater = () => {
    clearTimeout(telling);
    telling = setTimeout(() => story.replaceChildren(...outline({ ...now, change: now.change.said }).map((line) => h("li", {}, line))), 400); // prettier-ignore
  };
  stops.push(() => clearTimeout(telling));

  stops.push(watch(model, NAMES, () => {
    if (walk.isOn() && model.get("off") !== now.off) halt();
    update();
  })); // prettier-ignore
  if (landing) stops.push(runOnce(el, () => !model.get("step") && run()));
  return () => stops.forEach((stop) => stop());
}
