// Seeded normal numbers; mhalib/widgets/normals.py gives the same ones.

/** Mulberry32: one 32-bit word from the seed and a counter. */
export function word(seed, counter) {
  let t = (seed + Math.imul(counter, 0x6d2b79f5)) | 0;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}

/** `count` standard normal numbers (Box–Muller on pairs of words). */
export function normals(seed, count) {
  const out = new Float64Array(count);
  for (let i = 0; i < count; i += 2) {
    const radius = Math.sqrt(-2 * Math.log((word(seed, i + 1) + 1) / 2 ** 32));
    const angle = (2 * Math.PI * word(seed, i + 2)) / 2 ** 32;
    out[i] = radius * Math.cos(angle);
    if (i + 1 < count) out[i + 1] = radius * Math.sin(angle);
  }
  return out;
}
