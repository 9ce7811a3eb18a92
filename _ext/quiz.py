"""Questions of a quiz: a text, its options, and a reason for each of them.

    **Question 1.** How many scores does a head compute for a text of $n$ tokens?

    1. $n$
    2. $n^2$

    <details><summary>Answers</summary>

    1. Wrong. Each token asks each token, itself included.
    2. Right. $n$ queries meet $n$ keys.

    </details>

In a notebook this reads as it stands, with the answers folded. The page has the same without
JavaScript; `quiz.js` adds "Check". (jupyterquiz does not fit: without script it shows nothing, its
formulas need MathJax, its answers are not announced to a screen reader, and each of them writes to
the console.)
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

SCRIPT = Path(__file__).with_suffix(".js")
BEGIN = re.compile(r"Question (\d+)\.")
END = "</details>"
SIGNS = {"Right.": "✓", "Wrong.": "✗"}
log = logging.getLogger(__name__)

SPOKEN = {"cdot": "·", "times": "×", "sqrt": "√", "text": "", "mathrm": "", "le": "≤"}
BRACES = str.maketrans("", "", "{}")


class Tag(nodes.General, nodes.TextElement):
    """An HTML element: its name in `tag`, its attributes in `html`."""


def tag(name: str, /, *children: nodes.Node, **html: str) -> Tag:
    return Tag("", "", *children, tag=name, html=html)


def visit_tag(writer: Any, node: Tag) -> None:
    writer.body.append(writer.starttag(node, node["tag"], "", **node["html"]))


def depart_tag(writer: Any, node: Tag) -> None:
    if node["tag"] != "input":  # which has no end
        writer.body.append(f"</{node['tag']}>")


class Refused(Exception):
    """What is wrong with a question."""


class Quizzes(SphinxTransform):
    default_priority = 205  # before the folds get their class

    def apply(self, **kwargs: Any) -> None:
        begins = [node for node in self.document.findall(nodes.paragraph) if begin_of(node)]
        for number, begin in enumerate(begins, 1):
            parent = begin.parent
            found = [begin]
            for node in parent[parent.index(begin) + 1 :]:
                if node in begins or isinstance(node, nodes.section):
                    break
                found.append(node)
                if isinstance(node, nodes.raw) and node.astext().strip() == END:
                    break
            try:
                new = self.question(number, found)
            except Refused as why:
                message = "question %s of %s: %s"
                log.error(message, number, self.env.docname, why, location=begin)
                continue
            place = parent.index(begin)
            parent[place : place + len(found)] = [new]

    def question(self, number: int, found: list[nodes.Node]) -> nodes.Node:
        if begin_of(found[0]) != number:
            raise Refused(f"is called question {begin_of(found[0])}")
        question, options, reasons = parts(found)
        right = [verdict_of(i, reason) for i, reason in enumerate(reasons, 1)]
        if "Right." not in right:
            raise Refused('none of its reasons begins with "Right."')
        several = right.count("Right.") > 1
        name = f"quiz-{self.env.docname.replace('/', '-')}-{number}"
        first, *more = question
        legend = tag("legend", *first.children)
        legend += [nodes.Text(" Choose all that are right." if several else "")]
        choices = tag("ol")
        for option in options:
            field = tag("input", type="checkbox" if several else "radio", name=name)
            if all(isinstance(part, nodes.math) for part in option.children):
                # browsers take no name of a field from a formula
                field["html"]["aria-label"] = re.sub(
                    r"\\(\w+)", lambda m: SPOKEN.get(m[1], m[1]), option.astext()
                ).translate(BRACES)
            choices += tag("li", tag("label", field, tag("span", *option.children)))
        answers = tag("ol")
        for verdict, reason in zip(right, reasons, strict=True):
            kind = f"quiz-{verdict[:-1].lower()}"
            sign = tag("strong", nodes.Text(f"{SIGNS[verdict]} {verdict}"), CLASS=kind)
            answers += tag("li", sign, *reason.children)
        fold = tag("details", tag("summary", nodes.Text("Answers")), answers)
        return tag("div", tag("fieldset", legend, *more, choices), fold, CLASS="quiz")


def begin_of(node: nodes.Node) -> int | None:
    """The number of the question that begins with this paragraph."""
    first = next((child for child in node.children if child.astext()), None)
    match = BEGIN.fullmatch(first.astext()) if isinstance(first, nodes.strong) else None
    return int(match[1]) if match else None


def parts(found: list[nodes.Node]) -> tuple[list[nodes.Node], list[nodes.Node], list[nodes.Node]]:
    """The question, and the paragraphs of its options and of their reasons."""
    found = [node for node in found if not isinstance(node, nodes.raw)]
    lists = [node for node in found if isinstance(node, nodes.enumerated_list)]
    if len(lists) != 2 or found[-2:] != lists:
        raise Refused("needs a text, a numbered list of options and one of reasons, in this order")
    question = found[:-2]
    if not question[0].astext().partition(". ")[2].strip():
        raise Refused("needs a question before its options")
    options, reasons = ([item.children for item in part] for part in lists)
    if len(options) < 2:
        raise Refused("needs at least two options")
    if len(options) != len(reasons):
        raise Refused(f"has {len(options)} options and {len(reasons)} reasons")
    for kind, items in (("option", options), ("reason", reasons)):
        for i, item in enumerate(items, 1):
            if len(item) != 1 or not isinstance(item[0], nodes.paragraph):
                raise Refused(f"{kind} {i} must be one paragraph")
    return question, [item[0] for item in options], [item[0] for item in reasons]


def verdict_of(i: int, reason: nodes.Element) -> str:
    """Take the verdict off a reason, and return it."""
    text = reason[0].astext()
    word, space, rest = text.partition(" ")
    if word not in SIGNS:
        raise Refused(f'reason {i} must begin with "Right." or "Wrong."')
    if not space or not (rest or reason.children[1:]):
        raise Refused(f"option {i} has a verdict and no reason")
    reason[0] = nodes.Text(space + rest)
    return word


def add_script(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    if doctree is not None and any(doctree.findall(Tag)):
        app.add_js_file(SCRIPT.name, loading_method="defer")


def copy_script(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        shutil.copy(SCRIPT, Path(app.outdir) / "_static")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(Tag, html=(visit_tag, depart_tag))
    app.add_transform(Quizzes)
    app.connect("html-page-context", add_script)
    app.connect("build-finished", copy_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
