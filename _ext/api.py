"""The ``{api}`` directive: what a module offers, from its docstrings.

    ```{api} mhalib.attention
    ```

Each public function and class gets a heading, its signature, its docstring's sections and its
example. The docstrings stay plain text: nothing in them is markup but `names` in backticks.
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SECTION = re.compile(r"^([A-Z][a-z]+)\n-{3,}\n", re.M)
MARKED = re.compile(r"``([^`]+)``|`([^`]+)`|\*([A-Z][^*]+)\*")  # code, code, a book's title


def text(words: str) -> list[nodes.Node]:
    """A paragraph's text; what stands in backticks is code."""
    words = " ".join(words.split())
    found: list[nodes.Node] = []
    end = 0
    for match in MARKED.finditer(words):
        found.append(nodes.Text(words[end : match.start()]))
        inside = match[match.lastindex or 0]
        kind = nodes.emphasis if match.lastindex == 3 else nodes.literal
        found.append(kind(inside, inside))
        end = match.end()
    return [*found, nodes.Text(words[end:])]


def code_block(code: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(code, code, language=language)


def paragraphs(body: str) -> Iterator[nodes.Node]:
    for block in re.split(r"\n\s*\n", body.strip("\n")):
        if block.lstrip().startswith(">>>"):
            yield code_block(textwrap.dedent(block), "pycon")
        elif block.startswith("==="):  # a table of names and what they mean
            rows = block.splitlines()[1:-1]
            yield entries("\n".join(re.sub(" {2,}", "\n    ", row, count=1) for row in rows))
        elif block.startswith("    "):
            yield code_block(textwrap.dedent(block), "text")
        elif block.strip():
            yield nodes.paragraph("", "", *text(block))


def entries(body: str) -> nodes.Node:
    """The lines of a section `name : type` or `type`, with the meaning, indented, below."""
    items = nodes.bullet_list()
    for entry in re.split(r"\n(?=\S)", textwrap.dedent(body).strip()):
        head, _, meaning = entry.partition("\n")
        name, colon, kind = head.partition(" : ")
        paragraph = nodes.paragraph("", "", nodes.literal(name, name))
        if colon:
            paragraph += [nodes.Text(", "), *text(kind)]
        if meaning:
            paragraph += [nodes.Text(": "), *text(meaning)]
        items += nodes.list_item("", paragraph)
    return items


def described(docstring: str) -> Iterator[nodes.Node]:
    opening, *rest = SECTION.split(docstring)
    yield from paragraphs(opening)
    for name, body in zip(rest[::2], rest[1::2], strict=True):
        yield nodes.rubric("", name)
        if name in ("Parameters", "Returns", "Raises", "Attributes"):
            yield entries(body)
        else:
            yield from paragraphs(body)


def signature(thing: Any, name: str) -> str:
    parameters = inspect.signature(thing)
    bare = parameters.replace(
        parameters=[p.replace(annotation=p.empty) for p in parameters.parameters.values()],
        return_annotation=parameters.empty,
    )
    line = re.sub(r"<(?:class '|function )([\w.]+)(?:'| at \w+)>", r"\1", f"{name}{bare}")
    if len(line) <= 76:
        return line
    inside = textwrap.fill(line.partition("(")[2][:-1], 72)
    return f"{name}(\n{textwrap.indent(inside, '    ')}\n)"


def public(module: ModuleType) -> list[Any]:
    """The functions and classes that the module itself defines, in the order of its source."""
    found = [
        thing
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__ == module.__name__
        and thing.__doc__
    ]
    return sorted(found, key=lambda thing: inspect.getsourcelines(thing)[1])


def section(thing: Any, name: str, identifier: str) -> nodes.section:
    """The heading, the signature and the docstring of a function, a class or a method."""
    part = nodes.section(ids=[identifier])
    part += nodes.title("", "", nodes.literal(name, name))
    if not isinstance(thing, property):
        part += code_block(signature(thing, name), "python")
    part += list(described(inspect.getdoc(thing) or ""))
    if inspect.isclass(thing):
        for method, definition in vars(thing).items():
            bound = definition if isinstance(definition, property) else getattr(thing, method)
            callable_or_property = inspect.isroutine(bound) or isinstance(bound, property)
            if not method.startswith("_") and callable_or_property and bound.__doc__:
                part += section(bound, f"{name}.{method}", f"{identifier}.{method}")
    return part


class Api(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = importlib.import_module(self.arguments[0])
        self.env.note_dependency(str(module.__file__))
        return [
            *described(inspect.getdoc(module) or ""),
            *(
                section(thing, thing.__name__, f"{module.__name__}.{thing.__name__}")
                for thing in public(module)
            ),
        ]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("api", Api)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
