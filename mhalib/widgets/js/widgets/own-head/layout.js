// Where the parts of the picture are, in pixels. No DOM.

const SIDE = 250;

export function layout(width, { n, d }) {
  const wide = width >= 600;
  const labels = wide ? 74 : 60;
  if (!wide) {
    const side = Math.min(300, width - labels - 4);
    const cell = side / n;
    const bottom = 38 + side + 8;
    const strip = (k) => ({ x: labels, y: bottom + 42 + 28 * k, w: (width - labels - 4) / d, h: 22, rows: n, cols: d });
    return {
      wide,
      labels,
      height: bottom + 42 + 28 * 4 - 6,
      bars: { x: labels + 4, y: bottom, w: cell, h: 34 },
      parts: {
        weights: { x: labels + 4, y: 38, w: cell, h: cell, rows: n, cols: n },
        Q: strip(0),
        K: strip(1),
        V: strip(2),
        output: strip(3),
      },
    };
  }
  const [x, y] = [labels + 2 + 96 + 16, 18 + 64 + 6];
  const cell = SIDE / n;
  const v = x + SIDE + 18;
  return {
    wide,
    labels,
    height: y + SIDE + 6 + 34,
    bars: { x, y: y + SIDE + 6, w: cell, h: 34 },
    right: v + 96 + 12,
    end: width,
    parts: {
      Q: { x: labels + 2, y, w: 96 / d, h: cell, rows: n, cols: d },
      K: { x, y: 18, w: cell, h: 64 / d, rows: n, cols: d, turned: true },
      weights: { x, y, w: cell, h: cell, rows: n, cols: n },
      V: { x: v, y: 18, w: 96 / d, h: 64 / n, rows: n, cols: d },
      output: { x: v, y, w: 96 / d, h: cell, rows: n, cols: d },
    },
  };
}
