"""In each lesson, the first use of a term is a link to the glossary.

A term is linked from the lesson on that introduces it: in lesson 1 a value is just a value.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

GLOSSARY = "chapters/glossary"
LESSON = re.compile(r"chapters/0(\d)-")
HOMONYMS = {"reach"}  # in the glossary, but too often just a verb
# where no links are wanted: headings, code, formulas, and what is a link already
CLOSED = (
    nodes.title, nodes.rubric, nodes.literal, nodes.literal_block, nodes.math, nodes.math_block,
    nodes.reference, nodes.raw, nodes.comment, nodes.table, nodes.caption,
)  # fmt: skip


class Term(NamedTuple):
    pattern: re.Pattern[str]
    lesson: int
    meaning: str


def read_terms(glossary: str) -> dict[str, Term]:
    """Return the terms of the glossary's source by name, the longest first."""
    terms = {}
    for entry in glossary.split("\n\n"):
        if match := re.search(r"^([^\s`:].*)\n((?: +.*\n?)+)", entry, re.M):
            name, text = match[1], " ".join(match[2].split())
            if lesson := re.search(r" \(\[lesson (\d)\]", text):
                stem = re.escape(name.removesuffix("y")) + ("(?:y|ies)" if name[-1] == "y" else "")
                words = stem.replace(r"\ ", r"\s+")
                pattern = re.compile(rf"(?<![\w-]){words}(?:s|es|d)?(?![\w-])", re.I)
                meaning = text[: lesson.start()] if "$" not in text else ""
                terms[name] = Term(pattern, int(lesson[1]), meaning)
    return dict(sorted(terms.items(), key=lambda item: -len(item[0])))


class LinkFirstUses(SphinxPostTransform):
    default_priority = 400  # after links are resolved, before formulas change
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        lesson = LESSON.match(self.env.docname)
        if lesson is None or GLOSSARY not in self.env.all_docs:
            return
        with open(self.env.doc2path(GLOSSARY), encoding="utf-8") as file:
            terms = read_terms(file.read())
        anchors = {
            name: anchor
            for name, _, kind, doc, anchor, _ in self.env.domains["std"].get_objects()
            if kind == "term" and doc == GLOSSARY
        }
        linked = {
            reference.get("refuri", "").partition("#")[2]
            for reference in self.document.findall(nodes.reference)
        }
        for name, term in terms.items():
            if anchors[name] in linked:
                continue  # the lesson does it itself
            if term.lesson <= int(lesson[1]) and name not in HOMONYMS:
                self.link(term, anchors[name])

    def link(self, term: Term, anchor: str) -> None:
        for text in self.document.findall(nodes.Text):
            match = term.pattern.search(text)
            if match is None or closed(text):
                continue
            target = self.app.builder.get_relative_uri(self.env.docname, GLOSSARY)
            reference = nodes.reference(
                "", match[0], internal=True, refuri=f"{target}#{anchor}", classes=["glossary-term"]
            )
            if term.meaning:
                reference["reftitle"] = term.meaning
            before, after = text[: match.start()], text[match.end() :]
            parts = [nodes.Text(before), reference, nodes.Text(after)]
            text.parent.replace(text, [part for part in parts if part.astext()])
            return


def closed(node: nodes.Node | None) -> bool:
    """Return whether `node` stands inside something that takes no links."""
    while node is not None:
        if isinstance(node, CLOSED):
            return True
        node = node.parent
    return False


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_post_transform(LinkFirstUses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
