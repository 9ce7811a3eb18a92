// The views of the lessons' widgets.

import embedding from "../widgets/embedding/view.js";
import layers from "../widgets/layers/view.js";
import machine from "../widgets/machine/view.js";
import multiHead from "../widgets/multi-head/view.js";
import ownHead from "../widgets/own-head/view.js";
import scaling from "../widgets/scaling/view.js";
import singleHead from "../widgets/single-head/view.js";
import tokenizer from "../widgets/tokenizer/view.js";
import vocabHead from "../widgets/vocab-head/view.js";

export const VIEWS = {
  "vocab-head": vocabHead,
  embedding,
  layers,
  machine,
  "multi-head": multiHead,
  "own-head": ownHead,
  scaling,
  "single-head": singleHead,
  tokenizer,
};
