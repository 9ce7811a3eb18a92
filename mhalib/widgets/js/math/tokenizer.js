// Mirrors mhalib/tokenizer.py (chapter 1).

const SPACE = " \\t\\n\\r\\f\\v";
const WORD = new RegExp(
  " ?[\\p{L}\\p{Nl}\\p{No}]+" + // letters (and signs like ½), as Python's [^\W\d_]
    "| ?\\p{Nd}+" +
    `| ?(?:_|[^\\p{L}\\p{N}_${SPACE}])+` + // punctuation, emoji, …
    `|[${SPACE}]+(?![^${SPACE}])` + // white space, but for the last space before a word
    `|[${SPACE}]`,
  "gu",
);
const encoder = new TextEncoder();

/** Cut text into the words inside which merges happen; joined, they are the text again, half a surrogate pair as U+FFFD. */
export function splitWords(text) {
  return text.toWellFormed().match(WORD) ?? [];
}

/** Replace each occurrence of the pair, from left to right. */
export function mergePair(ids, [left, right], newId) {
  const merged = [];
  for (let i = 0; i < ids.length; i++) {
    if (ids[i] === left && ids[i + 1] === right) {
      merged.push(newId);
      i += 1;
    } else merged.push(ids[i]);
  }
  return merged;
}

export class Tokenizer {
  #rank = new Map();

  constructor(merges) {
    this.merges = merges;
    this.vocab = Array.from({ length: 256 }, (_, i) => Uint8Array.of(i));
    merges.forEach(([left, right], rank) => {
      this.vocab.push(Uint8Array.from([...this.vocab[left], ...this.vocab[right]]));
      this.#rank.set(left * 65536 + right, rank);
    });
  }

  /** Learned first, merged first: the rank of the next merge of some words, or undefined. */
  #nextMerge(words) {
    let best;
    for (const word of words) {
      for (let i = 0; i + 1 < word.length; i++) {
        const rank = this.#rank.get(word[i] * 65536 + word[i + 1]);
        if (rank < (best ?? Infinity)) best = rank;
      }
    }
    return best;
  }

  #merge(word, rank) {
    return mergePair(word, this.merges[rank], 256 + rank);
  }

  /** The ids of each word, as bytes, then after each merge: [{ words, rank }], rank of the merge done. */
  mergeSteps(text) {
    let words = splitWords(text).map((word) => [...encoder.encode(word)]);
    const steps = [{ words }];
    for (let rank; (rank = this.#nextMerge(words)) !== undefined;) {
      words = words.map((word) => this.#merge(word, rank));
      steps.push({ words, rank });
    }
    return steps;
  }

  encode(text) {
    return splitWords(text).flatMap((textWord) => {
      let word = [...encoder.encode(textWord)];
      for (let rank; (rank = this.#nextMerge([word])) !== undefined;) word = this.#merge(word, rank);
      return word;
    });
  }

  /** The text of some ids; bytes that are not valid UTF-8 become U+FFFD. */
  decode(ids) {
    const bytes = Uint8Array.from(ids.flatMap((id) => [...this.vocab[id]]));
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }
}
