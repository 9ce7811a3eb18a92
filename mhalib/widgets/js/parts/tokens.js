// A token as text.

/** A token as text, with visible spaces and broken characters. */
export function showExact(tokenizer, id) {
  const text = tokenizer.decode([id]);
  if (text.includes("\uFFFD")) {
    return [...tokenizer.vocab[id]].map((b) => `⟨${b.toString(16).padStart(2, "0")}⟩`).join("");
  }
  return text.replaceAll("\n", "⏎").replaceAll("\t", "⇥").replaceAll(" ", "␣");
}

/** The same as a short label: without the space that belongs to a word. */
export function show(tokenizer, id) {
  return showExact(tokenizer, id).replace(/^␣(?=.)/, "");
}
