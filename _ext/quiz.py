"""The ``{quiz}`` directive: a question, its options, and a reason for each of them.

    :::{quiz}

    How many scores does a head compute for a text of $n$ tokens?

    1. $n$
    2. $n^2$

    <details><summary>Answers</summary>

    1. Wrong. Each token asks each token, itself included.
    2. Right. $n$ queries meet $n$ keys.

    </details>

    :::

Where the directive is unknown, in JupyterLab and on code hosts, this reads as it stands, with the
answers folded. The page has the same without JavaScript; `quiz.js` adds "Check". (jupyterquiz does
not fit: without script it shows nothing, its formulas need MathJax, its answers are not announced
to a screen reader, and each of them writes to the console.)
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SCRIPT = Path(__file__).with_suffix(".js")
SIGNS = {"Right.": "✓", "Wrong.": "✗"}


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


class Quiz(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        number = self.env.new_serialno("quiz") + 1
        question, options, reasons = self.parts(number)
        right = [self.verdict(number, i, reason) for i, reason in enumerate(reasons, 1)]
        if "Right." not in right:
            raise self.refuse(number, 'none of its reasons begins with "Right."')
        several = right.count("Right.") > 1
        name = f"quiz-{self.env.docname.replace('/', '-')}-{number}"
        first, *more = question
        legend = tag("legend", tag("strong", nodes.Text(f"Question {number}.")), nodes.Text(" "))
        legend += [*first.children, nodes.Text(" Choose all that are right." if several else "")]
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
        return [tag("div", tag("fieldset", legend, *more, choices), fold, CLASS="quiz")]

    def parts(self, number: int) -> tuple[list[nodes.Node], list[nodes.Node], list[nodes.Node]]:
        """The question, and the paragraphs of its options and of their reasons."""
        found = [node for node in self.parse_content_to_nodes() if not isinstance(node, nodes.raw)]
        lists = [node for node in found if isinstance(node, nodes.enumerated_list)]
        if len(lists) != 2 or found[-2:] != lists:
            raise self.refuse(
                number, "needs a text, a numbered list of options and one of reasons, in this order"
            )
        question = found[:-2]
        if not question or not isinstance(question[0], nodes.paragraph):
            raise self.refuse(number, "needs a question before its options")
        options, reasons = ([item.children for item in part] for part in lists)
        if len(options) < 2:
            raise self.refuse(number, "needs at least two options")
        if len(options) != len(reasons):
            raise self.refuse(number, f"has {len(options)} options and {len(reasons)} reasons")
        for kind, items in (("option", options), ("reason", reasons)):
            for i, item in enumerate(items, 1):
                if len(item) != 1 or not isinstance(item[0], nodes.paragraph):
                    raise self.refuse(number, f"{kind} {i} must be one paragraph")
        return question, [item[0] for item in options], [item[0] for item in reasons]

    def verdict(self, number: int, i: int, reason: nodes.Element) -> str:
        """Take the verdict off a reason, and return it."""
        text = reason[0].astext()
        word, space, rest = text.partition(" ")
        if word not in SIGNS:
            raise self.refuse(number, f'reason {i} must begin with "Right." or "Wrong."')
        if not space or not (rest or reason.children[1:]):
            raise self.refuse(number, f"option {i} has a verdict and no reason")
        reason[0] = nodes.Text(space + rest)
        return word

    def refuse(self, number: int, why: str) -> Exception:
        return self.error(f"question {number} of {self.env.docname}: {why}")


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
    app.add_directive("quiz", Quiz)
    app.connect("html-page-context", add_script)
    app.connect("build-finished", copy_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
