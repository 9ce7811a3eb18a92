// The whole machine: one picture of a sentence's way through the model; anything switched off, opened, followed.

import { causalMask } from "../../math/attention.js";
import { fixed } from "../../math/format.js";
import { losses } from "../../math/model.js";
import { nameOf as nameInTrace, parse, Provenance } from "../../math/provenance.js";
import { mean, row } from "../../math/tensor.js";
import { segments, sentence, toolbar } from "../../parts/bar.js";
import { show, withModel } from "../../parts/course.js";
import { assign, cached, h, say, watch } from "../../parts/dom.js";
import { frame } from "../../parts/frame.js";
import { changeOf, largestIds, largestOf, shares } from "./change.js";
import { onThePicture, rail, roving, runBar } from "./controls.js";
import { measured } from "./losses.js";
import { fly, runOnce } from "./motion.js";
import { SQUARE, partOf, stepIn } from "./panels.js";
import { machinePicture } from "./picture.js";
import { outline, stagesOf, strongest, tell } from "./story.js";
import { ablation } from "./switches.js";
import { allTables } from "./tables.js";
import { changeSaid, nameOf, sayNumber } from "./words.js";

const NAMES = ["text", "position", "layer", "head", "off", "follow", "opened", "step", "right"];
const bold = (text) => h("b", {}, text);

export default function view(model, el) {
  return withModel(model, el, (course) => build(model, el, course));
}

function build(model, el, { transformer, tokenizer, read }) {
  const stops = [];
  const { config } = transformer;
  const { n_layers: N, n_heads: H } = config;
  const landing = model.get("landing");
  const stages = stagesOf(N);
  const traced = (key, ablate) => {
    const ids = key.split(",").map(Number);
    const trace = transformer.forward(ids, { ablate });
    const loss = cached(() => (ids.length < 2 ? null : mean(losses(trace))));
    return { trace, loss, source: new Provenance(transformer, trace, ablate) };
  };
  const whole = cached((key) => traced(key, {}));
  const changed = cached((key, off) => traced(key, ablation(JSON.parse(off), config)));
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
    assign(model, { opened: same ? "" : opened, layer, head, step: 0 });
  };
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
  right.setAttribute("aria-label", "at the right");
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

  // ---------------------------------------------------------------- the walk
  let timer = 0;
  const halt = () => {
    clearTimeout(timer);
    timer = 0;
    walk.show(false);
  };
  const go = (step) => assign(model, { step: Math.max(0, Math.min(stages.length, step)), opened: "", follow: "" });
  const turn = () => {
    const next = model.get("step") + 1;
    go(next);
    timer = next < stages.length ? setTimeout(turn, 900) : 0;
    if (!timer) walk.show(false);
  };
  const run = () => {
    if (timer) return halt();
    walk.show(true);
    if (model.get("step") >= stages.length) model.set("step", 0);
    turn();
  };
  const stepBy = (d) => () => {
    halt();
    const step = model.get("step");
    go(step === 0 ? (d > 0 ? 1 : stages.length) : (step + d) % (stages.length + 1));
  };
  const walk = runBar({ back: stepBy(-1), run, next: stepBy(1) });
  stops.push(() => clearTimeout(timer));

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
      if (place.turned) picture?.place(right, place.width - 150, place.words.top - 4);
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
    const result = now.list === now.top || now.right === "next word" ? nextSaid() : undefined;
    if (passing?.token !== undefined) box.say(...ofToken(passing.token), result);
    else if (passing?.row !== undefined) box.say(...ofRow(passing.row), result);
    else if (seen)
      box.say(sayNumber(seen, now, tokenizer, bold), now.shown.source.explain(seen)?.formula ?? "", result);
    else if (now.followed) box.say(sayNumber(now.followed, now, tokenizer, bold), whereFrom(), result);
    else if (stage !== null) box.say(...ofStage(stage), result);
    else if (now.default)
      box.say(sayNumber(now.default, now, tokenizer, bold), now.change.said || (now.opened ? now.shown.source.explain(now.default).formula : `line: width = weight, colour = head. Strong lines end in “${now.labels[now.position]}”.`), result); // prettier-ignore
    else box.say(`“${now.labels[now.position]}” has nobody before it to look at.`, now.change.said, result);
    const ref = focusRef();
    const part = ref && partOf(ref, config.norm);
    openIt.hidden = !ref || Boolean(now.opened);
    if (ref) say(openIt, { X: "open X", head: "open this head", W_O: "open W_O", ffn: "open the FFN", output: "open the output" }[part]); // prettier-ignore
    now.told = `${nextSaid()} ${now.change.said}`;
    picture.redraw();
  }
  const nextSaid = () => `After “${now.labels[now.position]}”: ${now.top.slice(0, 3).map((t) => `${t.name} ${fixed(t.after ?? t.before, 3)}`).join(", ")}.`; // prettier-ignore
  const ofToken = (i) => {
    const best = strongest(now.shown.trace, i);
    const reads = best ? `reads most from “${now.labels[best.j]}” (layer ${best.layer}, head ${best.head}: ${fixed(best.weight, 3)})` : "has nobody before it"; // prettier-ignore
    return [`“${now.labels[i]}”: token ${i}, id ${now.ids[i]}; ${reads}`, `its readers: ${readers(i)}`];
  };
  const readers = (j) => {
    const sums = now.labels.map((label, i) => [label, i === j ? 0 : now.shown.trace.layers.reduce((sum, block) => sum + (block ? block.weights.reduce((s, W) => s + W.data[i * now.n + j], 0) : 0), 0)]); // prettier-ignore
    const most = sums.filter(([, s]) => s > 0.05).sort((a, b) => b[1] - a[1]).slice(0, 4); // prettier-ignore
    return most.length ? most.map(([label, s]) => `“${label}” ${fixed(s, 2)}`).join(", ") + " (weights of all heads added)" : "nobody"; // prettier-ignore
  };
  const ofRow = (k) => {
    const { id, name, before, after } = now.list[k];
    const values = after === null ? fixed(before, 4) : `${fixed(before, 4)}, changed ${fixed(after, 4)}`;
    return id === undefined ? [`loss on ${name}: ${values} nats a word`, relations.note] : [`after “${now.labels[now.position]}”: “${name}” ${values}`, "click: follow it back"]; // prettier-ignore
  };
  const ofStage = (k) => {
    const { said, more, lesson } = tell(stages[k], now);
    const [, , href] = model.get("lessons").find(([number]) => number === lesson) ?? [];
    return [`${k + 1}/${stages.length}  ${said}`, [href && model.link ? h("a", { href }, `lesson ${lesson}`) : `lesson ${lesson}`, ": ", more]]; // prettier-ignore
  };
  const whereFrom = () => {
    const { formula, terms } = now.explained;
    const buttons = terms.slice(0, 4).map((term) =>
      h("button", { type: "button", tabindex: -1, onclick: () => follow(term.ref) },
        `${nameOf(term.ref, now, tokenizer, term.ref.layer === now.followed.layer)}${term.product === undefined ? `: ${term.what}` : ` ${fixed(term.product, 2)}`}`)); // prettier-ignore
    if (trail.length > 1) buttons.unshift(h("button", { type: "button", onclick: back, "aria-label": "back" }, "◀"));
    const from = h("span", { class: "mh-from", role: "toolbar", "aria-label": "comes from" }, buttons);
    if (buttons.length) roving(from).first();
    return [h("span", { class: "mh-formula", title: formula }, formula), from];
  };

  // ---------------------------------------------------------------- what is shown
  function update() {
    const ids = read(model.get("text"));
    const n = ids.length;
    if (!n) {
      now = { ...now, n: 0, list: [], panels: [], step: 0, off: model.get("off"), config, opened: "", layer: 0, position: 0 }; // prettier-ignore
      switches.update(rail(now.off));
      explainIt();
      box.changed();
      return;
    }
    const off = model.get("off");
    const ablate = ablation(off, config);
    const position = Math.min(model.get("position"), n - 1);
    const layer = Math.min(model.get("layer"), N - 1);
    const before = whole(ids.join());
    const after = off.length ? changed(ids.join(), JSON.stringify(off)) : null;
    const shown = holding || !after ? before : after;
    const labels = ids.map((id) => show(tokenizer, id));
    const name = model.get("follow");
    const ref = name ? parse(name) : null;
    const explained = ref && ref.i < n ? shown.source.explain(ref) : null;
    const followed = explained ? ref : null;
    if (followed && trail.at(-1) !== name) trail.push(name);
    if (!name) trail.length = 0;
    const gone = (...at_) => shown !== before && off.includes(at_.join("."));
    const causal = !gone("mask");
    const best = strongest(shown.trace, position, shown.trace.layers.findLastIndex(Boolean));
    const head = Math.min(model.get("head"), H - 1);
    now = { n, ids, labels, config, off, position, layer, head, whole: before, changed: after, shown, gone, causal, followed, explained, lens, stages }; // prettier-ignore
    Object.assign(now, { panels: [], mask: causal ? causalMask(n) : null, step: Math.min(model.get("step"), stages.length), default: best }); // prettier-ignore
    now.opened = shown.trace.layers[layer] || !["head", "W_O", "ffn"].includes(model.get("opened")) ? model.get("opened") : ""; // prettier-ignore
    now.square = followed?.stage === "scores" ? "scores" : "weights";
    now.key = followed && SQUARE.includes(followed.stage) ? followed.j : followed && ["K", "V"].includes(followed.stage) ? followed.i : largestOf(shown.trace.layers[layer]?.weights[head], position); // prettier-ignore
    words();
    const inOpened = { X: { kind: "X" }, ffn: { kind: "ffn", layer }, output: { kind: "words" } }[now.opened];
    if (inOpened) now.default = tell(inOpened, now).ref;
    else if (now.opened === "head") now.default = { stage: "weights", layer, head, i: position, j: now.key };
    else if (now.opened === "W_O") now.default = { stage: "O", layer, head: null, i: position, j: 0 };
    now.chosenWord = followed && ["probabilities", "logits"].includes(followed.stage) ? followed.j : null;
    now.change = { said: changeSaid(off, now.top), bars: after && changeOf(before.trace, after.trace) };
    if (passing?.ref && (passing.ref.i >= n || now.shown.source.value(passing.ref) === undefined)) passing = null;
    if (passing?.token >= n || passing?.row >= now.list.length) passing = null;
    switches.update(rail(off));
    whole_.hidden = !off.length;
    say(key, crumb());
    explainIt();
    box.changed();
    tellLater();
  }
  const crumb = () => {
    if (!now.opened) return "";
    const part = { X: ["X"], output: ["output"], head: [`layer ${now.layer}`, `head ${now.head}`], W_O: [`layer ${now.layer}`, "W_O"], ffn: [`layer ${now.layer}`, "FFN"] }[now.opened]; // prettier-ignore
    const last = now.opened === "head" ? [`${now.labels[now.position]}, ${now.labels[now.key]}`] : [now.labels[now.position]]; // prettier-ignore
    return ["machine", ...part, ...last].join(" ▸ ");
  };
  let telling = 0;
  const tellLater = () => {
    clearTimeout(telling);
    telling = setTimeout(() => story.replaceChildren(...outline({ ...now, change: now.change.said }).map((line) => h("li", {}, line))), 400); // prettier-ignore
  };
  stops.push(() => clearTimeout(telling));

  /** The list at the right: the likeliest words, or the losses by relation. */
  function words() {
    const logits = ({ trace }) => row(trace.logits, now.position);
    const softmaxed = shares(now.whole.trace, now.position);
    const after = now.changed && shares(now.changed.trace, now.position);
    const count = now.opened === "output" ? 12 : landing ? 6 : 7;
    const top = largestIds(logits(now.changed ?? now.whole), count);
    now.best = largestIds(logits(now.shown), 1)[0];
    if (after) for (const id of largestIds(logits(now.whole), 2)) if (!top.includes(id)) top[top.length - 1] = id;
    const shownLogits = logits(now.shown);
    now.top = top.map((id) => ({
      id,
      name: show(tokenizer, id),
      before: softmaxed[id],
      after: after && !holding ? after[id] : after ? null : null,
      part: softmaxed[id],
      partAfter: after?.[id] ?? 0,
      figure: now.opened === "output" ? `logit ${fixed(shownLogits[id], 2)}` : null,
    }));
    now.right = now.opened === "output" ? "next word" : model.get("right");
    if (now.right !== "next word") {
      relations.ask(now.off.length ? ablation(now.off, config) : null);
      now.list = relations.list();
      now.heading = "loss by relation";
    } else {
      now.list = now.top;
      now.heading = `after “${now.labels[now.position]}”`;
    }
  }

  stops.push(watch(model, NAMES, () => {
    if (timer && (model.get("off") !== now.off)) halt();
    update();
  })); // prettier-ignore
  if (landing) stops.push(runOnce(el, () => !model.get("step") && run()));
  return () => stops.forEach((stop) => stop());
}
