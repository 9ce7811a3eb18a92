// The residual stream (chapter 6): its stages, how far two vectors are apart, what a change reaches.

import { dot, matrix, row } from "./tensor.js";
import { cosine } from "./embedding.js";

/** The stream before, inside and after each layer: [[name, matrix (n, d_model)]]. */
export function stages(trace, norm) {
  const [attention, ffn] = norm === "post" ? ["norm_1", "norm_2"] : ["residual_1", "residual_2"];
  return [
    ["X", trace.X],
    ...trace.layers.flatMap((layer, i) =>
      layer
        ? [
            [`layer ${i}, after attention`, layer[attention]],
            [`layer ${i}, after feed-forward`, layer[ffn]],
          ]
        : [],
    ),
  ];
}

/** One token's vector at every stage, as rows. */
export function streamOf(list, position) {
  const S = matrix(list.length, list[0][1].cols);
  list.forEach(([, A], s) => S.data.set(row(A, position), s * S.cols));
  return S;
}

/** The cosine of two tokens' vectors at every stage. */
export function cosines(list, position, otherList, otherPosition) {
  return list.map(([, A], s) => cosine(row(A, position), row(otherList[s][1], otherPosition)));
}

/** |change| / |vector| of every token at every stage. */
export function changes(list, changed) {
  const C = matrix(list.length, list[0][1].rows);
  list.forEach(([, A], s) => {
    for (let i = 0; i < A.rows; i++) {
      const [a, b] = [row(A, i), row(changed[s][1], i)];
      const difference = a.map((value, t) => value - b[t]);
      C.data[s * C.cols + i] = Math.sqrt(dot(difference, difference) / dot(a, a));
    }
  });
  return C;
}
