// Mirrors mhalib/vocab.py (chapter 7): choosing the next token.

import { softmax } from "./attention.js";

/** Ids from the largest logit down; among equals the smaller id first. */
export function ranked(logits) {
  return Array.from(logits, (_, id) => id).sort((a, b) => logits[b] - logits[a] || a - b);
}

function keep(logits, ids) {
  const kept = new Set(ids);
  return logits.map((value, id) => (kept.has(id) ? value : -Infinity));
}

export function topKFilter(logits, k) {
  return keep(logits, ranked(logits).slice(0, k));
}

/** A sum that is below p by no more than this has reached it, as in mhalib/sampling.py. */
const ROUNDING = 1e-9;

/** The fewest tokens, likeliest first, whose probabilities reach p together; 1 keeps everything. */
export function topPFilter(logits, p) {
  if (p === 1) return logits.slice();
  const shares = softmax(logits);
  let before = 0;
  return keep(
    logits,
    ranked(logits).filter((id) => {
      const kept = before === 0 || before < p - ROUNDING;
      before += shares[id];
      return kept;
    }),
  );
}

/** The probabilities that sampling draws from: temperature, then top_k, then top_p (0: not used). */
export function samplingProbabilities(logits, { temperature = 1, topK = 0, topP = 1 } = {}) {
  let tempered = logits.map((value) => value / temperature);
  if (topK) tempered = topKFilter(tempered, topK);
  if (topP < 1) tempered = topPFilter(tempered, topP);
  return softmax(tempered);
}

/** The id whose share of [0, 1) holds `u`. */
export function draw(probabilities, u) {
  const total = probabilities.reduce((sum, share) => sum + share, 0);
  const last = probabilities.findLastIndex((share) => share > 0); // takes what is left
  let sum = 0;
  return probabilities.findIndex((share, id) => id === last || (sum += share) > u * total);
}
