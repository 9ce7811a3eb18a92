// The merges of one word as a tree over its bytes.

/**
 * Of the steps of `Tokenizer.mergeSteps`, those that merge in word `w`: [{ step, rank, joints }], each joint
 * { from, to, left, right } in places of bytes; a joint's children meet between `left` and `right`, their centres.
 */
export function mergeTree(steps, w, lengthOf) {
  const levels = [];
  let spans = (steps[0].words[w] ?? []).map((id, i) => ({ id, from: i, to: i + 1, centre: i + 0.5 }));
  for (let step = 1; step < steps.length; step++) {
    const { words, rank } = steps[step];
    if (words[w].length === spans.length) continue;
    const joints = [];
    let at = 0;
    let old = 0;
    spans = words[w].map((id) => {
      const size = lengthOf(id);
      const [left, right] = [spans[old], spans[old + 1]];
      const whole = left.to - left.from === size;
      old += whole ? 1 : 2;
      const centre = whole ? left.centre : (left.centre + right.centre) / 2;
      if (!whole) joints.push({ from: at, to: at + size, left, right, centre, id });
      const span = whole ? left : { id, from: at, to: at + size, centre, level: levels.length + 1 };
      at += size;
      return span;
    });
    levels.push({ step, rank, joints });
  }
  return levels;
}
