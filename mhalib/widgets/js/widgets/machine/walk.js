// The walk through the machine: stage after stage, by itself or step by step.

import { assign } from "../../parts/dom.js";
import { runBar } from "./controls.js";

export function walkThrough(model, stages, stops) {
  let timer = 0;
  const halt = () => {
    clearTimeout(timer);
    timer = 0;
    bar.show(false);
  };
  const go = (step) => assign(model, { step: Math.max(0, Math.min(stages.length, step)), opened: "", follow: "" });
  const turn = () => {
    const next = model.get("step") + 1;
    go(next);
    timer = next < stages.length ? setTimeout(turn, 900) : 0;
    if (!timer) bar.show(false);
  };
  const run = () => {
    if (timer) return halt();
    bar.show(true);
    if (model.get("step") >= stages.length) model.set("step", 0);
    turn();
  };
  const stepBy = (d) => () => {
    halt();
    const step = model.get("step");
    go(step === 0 ? (d > 0 ? 1 : stages.length) : (step + d) % (stages.length + 1));
  };
  const bar = runBar({ back: stepBy(-1), run, next: stepBy(1) });
  stops.push(() => clearTimeout(timer));
  return { element: bar.element, halt, run, isOn: () => timer !== 0 };
}
