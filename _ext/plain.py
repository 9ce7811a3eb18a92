"""Lessons are plain Markdown, so that they read well in every notebook; the book makes more of it.

| in a lesson | in the book |
|---|---|
| ``> **Predict**``, a line ``>``, and a text | a box with this title |
| ``<details><summary>Hint 1</summary>`` … ``</details>`` | the same, styled |
| ``[Vaswani et al. (2017)](references.md#key)`` | a citation that names its authors |
| ``([Vaswani et al., 2017](references.md#key))`` | a citation in brackets |
| ``<a id="name"></a>`` on a line of its own | a target for ``[text](#name)`` |
| ``[text](page.md#name)`` | the same from another page |
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

KINDS = {"Predict": "tip", "You may have read…": "warning"}  # of a box; any other is a note

AGAIN = "run this cell again."  # the grader's words

LINK = r"\[[^\[\]]+?, \d{4}\]\(references\.md#(\w+)\)"
IN_BRACKETS = re.compile(rf"\({LINK}(?:; {LINK})*\)")
IN_TEXT = re.compile(r"\[[^\[\]]+? \(\d{4}\)\]\(references\.md#(\w+)\)")
TARGET = re.compile(r'^<a id="([\w-]+)"></a>$', re.M)
ELSEWHERE = re.compile(r"\]\([\w-]+\.(?:md|ipynb)#([\w-]+)\)")


def cite(text: str) -> str:
    """Links to the references become citations."""
    text = IN_TEXT.sub(r"{cite:t}`\1`", text)
    return IN_BRACKETS.sub(
        lambda m: "{cite}`" + ",".join(re.findall(r"references\.md#(\w+)", m[0])) + "`", text
    )


def link(text: str) -> str:
    """Citations, targets, and links to targets: the book knows a target by its name alone."""
    return TARGET.sub(r"(\1)=", ELSEWHERE.sub(r"](#\1)", cite(text)))


def read_source(app: Sphinx, docname: str, content: list[str]) -> None:
    if Path(app.env.doc2path(docname)).suffix != ".ipynb":
        content[0] = link(content[0])
        return
    notebook = json.loads(content[0])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = link("".join(cell["source"]))
    content[0] = json.dumps(notebook)


class Boxes(SphinxTransform):
    """Quotations that begin with a title alone become boxes; folds get their class."""

    default_priority = 210

    def apply(self, **kwargs: Any) -> None:
        for quote in list(self.document.findall(nodes.block_quote)):
            inline = [child for child in quote[0].children if child.astext()]
            if isinstance(quote[0], nodes.paragraph) and [*map(type, inline)] == [nodes.strong]:
                title = nodes.title("", "", *inline[0].children)
                kind = KINDS.get(title.astext(), "note")
                quote.replace_self(
                    nodes.admonition("", title, *quote[1:], classes=["admonition", kind])
                )
        for raw in self.document.findall(nodes.raw):
            opened = raw.astext().replace("<details><summary>", '<details class="fold"><summary>')
            if opened != raw.astext():
                raw.children = [nodes.Text(opened)]
                raw.rawsource = opened


def say_where_it_runs(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """A page has no cell to run again: an unsolved exercise says where there is one."""
    if AGAIN in (context.get("body") or ""):
        home = context["pathto"]("index") + "#run-it"
        there = f'run it: <a href="{home}">open the lesson in Jupyter</a>.'
        if getattr(app, "course_run", None):
            there = "press Check."
        context["body"] = context["body"].replace(AGAIN, there)


def name_folds(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """The name of a folded cell is its line, for who hears the page, too."""
    unnamed = '<summary aria-label="Toggle hidden content">'
    context["body"] = (context.get("body") or "").replace(unnamed, "<summary>")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", read_source)
    app.add_transform(Boxes)
    app.connect("html-page-context", say_where_it_runs)
    app.connect("html-page-context", name_folds)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
