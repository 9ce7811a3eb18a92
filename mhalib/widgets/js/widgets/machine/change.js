// What the view computes from traces beside the forward pass: one row's probabilities, how far a change went.

import { row } from "../../math/tensor.js";

/** softmax of one row of logits. */
export function shares({ logits }, i) {
  const z = row(logits, i);
  const largest = z.reduce((a, b) => Math.max(a, b));
  const e = z.map((value) => Math.exp(value - largest));
  const total = e.reduce((a, b) => a + b);
  return e.map((value) => value / total);
}

/** The column of the largest weight in a row, 0 if there is none. */
export const largestOf = (W, i) => (W ? row(W, i).reduce((best, w, j, all) => (w > all[best] ? j : best), 0) : 0);

/** ‖x′ − x‖ / ‖x‖ of every token: after X, and after each layer. */
export function changeOf(before, after) {
  let stream = after.X;
  const share = (A, B) => {
    const found = new Float64Array(A.rows);
    for (let i = 0; i < A.rows; i++) {
      let [apart, size] = [0, 1e-12];
      for (let c = i * A.cols; c < (i + 1) * A.cols; c++) {
        apart += (A.data[c] - B.data[c]) ** 2;
        size += A.data[c] ** 2;
      }
      found[i] = Math.sqrt(apart / size);
    }
    return found;
  };
  return [
    share(before.X, after.X),
    ...before.layers.map((block, l) => {
      stream = after.layers[l]?.output ?? stream;
      return share(block.output, stream);
    }),
  ];
}

/** The ids of the `count` largest logits, largest first; among equals the smaller id first. */
export function largestIds(logits, count) {
  const best = [];
  for (let id = 0; id < logits.length; id++) {
    if (best.length === count && logits[id] <= logits[best[count - 1]]) continue;
    let k = best.length;
    while (k > 0 && logits[id] > logits[best[k - 1]]) k--;
    best.splice(k, 0, id);
    if (best.length > count) best.pop();
  }
  return best;
}
