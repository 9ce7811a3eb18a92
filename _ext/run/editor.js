// CodeMirror as a cell's editor: the page's font and colours, Python, Shift+Enter, Escape.
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap } from "@codemirror/view";
import { tagHighlighter, tags as t } from "@lezer/highlight";

// The names that the page's style has for code, so that both look alike.
const colours = tagHighlighter([
  { tag: [t.keyword, t.controlKeyword, t.definitionKeyword, t.moduleKeyword], class: "k" },
  { tag: t.operatorKeyword, class: "ow" },
  { tag: [t.bool, t.null, t.self], class: "kc" },
  { tag: [t.string, t.special(t.string), t.docString], class: "s1" },
  { tag: t.number, class: "mi" },
  { tag: t.comment, class: "c1" },
  { tag: [t.function(t.definition(t.variableName)), t.definition(t.className)], class: "nf" },
  { tag: [t.operator, t.arithmeticOperator, t.compareOperator, t.definitionOperator], class: "o" },
  { tag: t.standard(t.variableName), class: "nb" },
]);

const setMark = StateEffect.define();
const marked = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) if (effect.is(setMark)) return effect.value;
    return transaction.docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/**
 * @param place element that takes the editor
 * @param told `change(text)`, `run()`, `leave()`
 */
export function makeEditor(place, text, label, told) {
  const does = (name) => () => (told[name](), true);
  const view = new EditorView({
    parent: place,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        indentOnInput(),
        bracketMatching(),
        python(),
        syntaxHighlighting(colours),
        marked,
        keymap.of([
          { key: "Shift-Enter", run: does("run") },
          { key: "Mod-Enter", run: does("run") },
          { key: "Escape", run: does("leave") },
          { key: "Tab", run: indentMore, shift: indentLess }, // Escape leaves, as the label says
          ...defaultKeymap,
          ...historyKeymap,
        ]),
        EditorView.contentAttributes.of({ "aria-label": label, autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) told.change(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    view,
    text: () => view.state.doc.toString(),
    focus: () => view.focus(),
    hasFocus: () => view.hasFocus,
    /** Replace the text; undo brings the old one back. */
    replace(next) {
      if (next !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    /** Mark the line where an error came, or none. */
    mark(line) {
      const marks =
        line && line <= view.state.doc.lines
          ? Decoration.set(Decoration.line({ class: "run-bad-line" }).range(view.state.doc.line(line).from))
          : Decoration.none;
      view.dispatch({ effects: setMark.of(marks) });
    },
    /** Put the cursor where the page was clicked. */
    cursorAt(point) {
      const at = view.posAtCoords(point, false);
      view.dispatch({ selection: { anchor: at } });
    },
    destroy: () => view.destroy(),
  };
}
