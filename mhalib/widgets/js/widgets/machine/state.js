// What is shown, computed from the model's values: the traces, the chosen number, the list at the right; no DOM.

import { causalMask } from "../../math/attention.js";
import { fixed } from "../../math/format.js";
import { parse } from "../../math/trace-names.js";
import { row } from "../../math/tensor.js";
import { show } from "../../parts/tokens.js";
import { changeOf, largestIds, largestOf, shares } from "./change.js";
import { SQUARE } from "./panels.js";
import { strongest, tell } from "./story.js";
import { ablation } from "./switches.js";
import { changeSaid } from "./words.js";

/**
 * What is shown now. `whole` and `changed` give the traces without and with what is off; while the reader is
 * `holding` the button, the whole model is shown.
 */
export function shownNow(model, given, last) {
  const { config, tokenizer, ids, whole, changed, holding, stages, lens } = given;
  const n = ids.length;
  const off = model.get("off");
  if (!n) return { ...last, n: 0, list: [], panels: [], step: 0, off, config, opened: "", layer: 0, position: 0 };
  const position = Math.min(model.get("position"), n - 1);
  const layer = Math.min(model.get("layer"), config.n_layers - 1);
  const head = Math.min(model.get("head"), config.n_heads - 1);
  const before = whole(ids.join());
  const after = off.length ? changed(ids.join(), JSON.stringify(off)) : null;
  const shown = holding || !after ? before : after;
  const { layers } = shown.trace;
  const labels = ids.map((id) => show(tokenizer, id));
  const ref = model.get("follow") ? parse(model.get("follow")) : null;
  const explained = ref && ref.i < n ? shown.source.explain(ref) : null;
  const followed = explained ? ref : null;
  const gone = (...part) => shown !== before && off.includes(part.join("."));
  const causal = !gone("mask");
  const now = { n, ids, labels, config, off, position, layer, head, whole: before, changed: after, shown, gone, causal, followed, explained, lens, stages }; // prettier-ignore
  now.panels = [];
  now.mask = causal ? causalMask(n) : null;
  now.step = Math.min(model.get("step"), stages.length);
  now.opened = layers[layer] || !["head", "W_O", "ffn"].includes(model.get("opened")) ? model.get("opened") : "";
  now.square = followed?.stage === "scores" ? "scores" : "weights";
  now.key = keyOf(now, layers[layer]?.weights[head]);
  Object.assign(now, listed(model, given, now));
  now.default = startOf(now);
  now.chosenWord = followed && ["probabilities", "logits"].includes(followed.stage) ? followed.j : null;
  now.change = { said: changeSaid(off, now.top), bars: after && changeOf(before.trace, after.trace) };
  return now;
}

/** The key that the opened head is shown at. */
function keyOf({ followed, position }, weights) {
  if (followed && SQUARE.includes(followed.stage)) return followed.j;
  if (followed && ["K", "V"].includes(followed.stage)) return followed.i;
  return largestOf(weights, position);
}

/** The number that is told of before one is chosen. */
function startOf(now) {
  const { layer, head, position, opened, shown } = now;
  const inOpened = { X: { kind: "X" }, ffn: { kind: "ffn", layer }, output: { kind: "words" } }[opened];
  if (inOpened) return tell(inOpened, now).ref;
  if (opened === "head") return { stage: "weights", layer, head, i: position, j: now.key };
  if (opened === "W_O") return { stage: "O", layer, head: null, i: position, j: 0 };
  return strongest(shown.trace, position, shown.trace.layers.findLastIndex(Boolean));
}

/** The first `count` of a list of words, among them the two that the whole model finds likeliest. */
export function atMost(list, count) {
  const [first, second] = [...list].sort((a, b) => b.before - a.before);
  const lost = [first, second].filter((each) => list.indexOf(each) >= count);
  return [...list.slice(0, count - lost.length), ...lost];
}

/** The list at the right: the likeliest words, or the losses by relation. */
function listed(
  model,
  { tokenizer, holding, relations },
  { whole, changed, shown, position, opened, off, config, labels },
) {
  const logits = ({ trace }) => row(trace.logits, position);
  const before = shares(whole.trace, position);
  const after = changed && shares(changed.trace, position);
  const count = opened === "output" ? 12 : model.get("landing") ? 6 : 7;
  const ids = largestIds(logits(changed ?? whole), count);
  if (after) ids.push(...largestIds(logits(whole), 2).filter((id) => !ids.includes(id)));
  const shownLogits = logits(shown);
  const all = ids.map((id) => ({
    id,
    name: show(tokenizer, id),
    before: before[id],
    after: after && !holding ? after[id] : null,
    part: before[id],
    partAfter: after?.[id] ?? 0,
    figure: opened === "output" ? `logit ${fixed(shownLogits[id], 2)}` : null,
  }));
  const top = atMost(all, count);
  const best = largestIds(shownLogits, 1)[0];
  const right = opened === "output" ? "next word" : model.get("right");
  if (right === "next word") return { top, best, right, list: top, heading: `after “${labels[position]}”` };
  relations.ask(off.length ? ablation(off, config) : null);
  return { top, best, right, list: relations.list(), heading: "loss by relation" };
}
