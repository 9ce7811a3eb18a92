// Cells of a matrix on a canvas, in real pixels: blue positive, orange negative, stronger: larger.

/** How strong a value is drawn: shares are spread out a little near 0, signed values are linear. */
export const strength = (value, kind, max) => Math.min(1, Math.abs(value) / max) ** (kind === "share" ? 0.6 : 1);

/**
 * Draw the cells of `matrix` with `pen` from (x, y), each w × h pixels with `gap` between; `mask` (1 = may
 * attend) leaves cells out; `turned`: rows go across. `kind`: "share" or "signed", up to `max`.
 */
export function cells(pen, colours, { matrix, x, y, w, h, gap = 0, mask = null, kind = "signed", max = 1, turned }) {
  const { data, rows, cols } = matrix;
  const lined = gap > 0 && Math.min(w, h) >= 8;
  pen.strokeStyle = colours.line;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) {
      const c = i * cols + j;
      if (mask && !mask.data[c]) continue;
      const [left, top] = turned ? [x + i * w, y + j * h] : [x + j * w, y + i * h];
      const value = data[c];
      const alpha = strength(value, kind, max);
      if (alpha > 0.004) {
        pen.fillStyle = `rgb(${value < 0 ? colours.minus : colours.plus} / ${alpha.toFixed(3)})`;
        pen.fillRect(left, top, w - gap, h - gap);
      }
      if (lined) pen.strokeRect(left + 0.5, top + 0.5, w - gap - 1, h - gap - 1);
    }
  }
}

const STEP = 8; // pixels between two strokes of hatching

/** 45° strokes over a rectangle, as an SVG path; neighbouring rectangles share their strokes. */
export function hatch(x0, y0, x1, y1) {
  let d = "";
  for (let k = Math.ceil((x0 + y0) / STEP) * STEP; k < x1 + y1; k += STEP) {
    const [a, b] = [Math.max(x0, k - y1), Math.min(x1, k - y0)];
    d += `M${a} ${k - a}L${b} ${k - b}`;
  }
  return d;
}

/** The hatching of the masked cells of a mask drawn from (x, y). */
export function hatchMask(mask, { x, y, w, h }) {
  let d = "";
  for (let i = 0; i < mask.rows; i++) {
    for (let j = 0; j < mask.cols; j++) {
      const start = j;
      while (j < mask.cols && !mask.data[i * mask.cols + j]) j++;
      if (j > start) d += hatch(x + start * w, y + i * h, x + j * w, y + (i + 1) * h);
    }
  }
  return d;
}

/** The outlines of cells that moved by more than `least` between two matrices of one shape, as a path. */
export function moved(before, now, { x, y, w, h, least = 0.02 }) {
  if (!before || before.rows !== now.rows || before.cols !== now.cols) return "";
  let d = "";
  now.data.forEach((value, c) => {
    if (Math.abs(value - before.data[c]) <= least) return;
    const [i, j] = [Math.floor(c / now.cols), c % now.cols];
    d += `M${x + j * w} ${y + i * h}h${w - 1}v${h - 1}h${1 - w}z`;
  });
  return d;
}

export function largestSize(...matrices) {
  let max = 1e-12;
  for (const { data } of matrices) {
    for (let c = 0; c < data.length; c++) if (data[c] > max || -data[c] > max) max = Math.abs(data[c]);
  }
  return max;
}
