// Mirrors mhalib/language.py: the exact probability of the next word in the course's language.
// The grammar comes as data from mhalib/widgets/grammar.py.

export function splitText(text) {
  return text.match(/[^\s.,]+|[.,]/gu) ?? [];
}

function distribution({ words, unlike, sources, table }, said, singular) {
  if (table) return table[sources.map((name) => said[name]).join(" ")];
  const stem = (word) => singular[word] ?? word;
  const taken = unlike.filter((name) => name in said).map((name) => stem(said[name]));
  const left = words.filter((word) => !taken.includes(stem(word)));
  return Object.fromEntries(left.map((word) => [word, 1 / left.length]));
}

/** { word: probability } after a prefix ({}: the text is over), or null if no text starts so. */
export function nextWordDistribution(grammar, prefix) {
  const words = splitText(prefix);
  let fits = grammar.forms.map(({ probability, slots }) => ({ weight: probability, slots, said: {} }));
  for (let i = 0; ; i++) {
    const total = fits.reduce((sum, { weight }) => sum + weight, 0);
    const local = fits.map(({ slots, said }) =>
      i < slots.length ? distribution(grammar.slots[slots[i]], said, grammar.singular) : {},
    );
    if (i === words.length) {
      const next = {};
      fits.forEach(({ weight }, f) => {
        for (const [word, p] of Object.entries(local[f])) next[word] = (next[word] ?? 0) + (weight / total) * p;
      });
      return next;
    }
    fits = fits.flatMap(({ weight, slots, said }, f) =>
      Object.hasOwn(local[f], words[i])
        ? [{ weight: weight * local[f][words[i]], slots, said: { ...said, [grammar.slots[slots[i]].name]: words[i] } }]
        : [],
    );
    if (!fits.length) return null;
  }
}
