// What the view computes from traces beside the forward pass: one row's probabilities, how far a change went.

import { dot, row } from "../../math/tensor.js";

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
  const share = (A, B) =>
    Array.from({ length: A.rows }, (_, i) => {
      const [a, b] = [row(A, i), row(B, i)];
      const apart = a.map((value, t) => value - b[t]);
      return Math.sqrt(dot(apart, apart) / Math.max(1e-12, dot(a, a)));
    });
  return [
    share(before.X, after.X),
    ...before.layers.map((block, l) => {
      stream = after.layers[l]?.output ?? stream;
      return share(block.output, stream);
    }),
  ];
}
