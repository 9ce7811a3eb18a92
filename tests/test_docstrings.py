"""Docstrings have numpydoc's form, and say which errors come.

What `import mhalib` gives has all its sections. Elsewhere a sentence will do if it names every
parameter; but a section, where there is one, is whole: types in the slot of types, meanings below.
The twins in `mhalib.torch` refer to those in NumPy, whose errors they share (`tests/parity`).
"""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path

from numpydoc.validate import validate

import mhalib

PAGE = (Path(mhalib.__file__).parents[1] / "chapters" / "api.md").read_text("utf-8")
MODULES = [
    *re.findall(r"^```\{api\} (\S+)", PAGE, re.M),
    "mhalib.checks.grader", "mhalib.grammar", "mhalib.plots.figures", "mhalib.plots.matrix",
    "mhalib.runs",
]  # fmt: skip
FORM = {
    "GL06": "unknown section", "GL07": "order of sections", "PR02": "no such parameter",
    "PR04": "no type", "PR06": "another name of the type", "PR07": "no meaning",
    "PR10": "no space before the colon", "RT03": "no meaning",
}  # fmt: skip
PARAMETERS, RETURNS = "PR01", "RT01"  # a parameter without a line, no section


def public():
    """Yield (name, function or class, whether it must have all sections)."""
    first = {getattr(mhalib, name) for name in mhalib.__all__}
    for module in map(importlib.import_module, MODULES):
        for name, thing in vars(module).items():
            here = getattr(thing, "__module__", "") == module.__name__ and callable(thing)
            if not here or name.startswith("_") or name == "main":
                continue
            yield f"{module.__name__}.{name}", thing, thing in first
            for key, method in vars(thing).items() if inspect.isclass(thing) else ():
                function = getattr(method, "__func__", method)
                if not key.startswith("_") and inspect.isfunction(function):
                    yield f"{module.__name__}.{name}.{key}", function, thing in first


PUBLIC = {name: (thing, whole) for name, thing, whole in public()}


def faults(name, thing, whole):
    """Return what is wrong with the form of a docstring."""
    doc = inspect.getdoc(thing) or ""
    if not doc:
        return ["no docstring"]
    sections = "\nParameters\n---" in doc
    asked = {*FORM, *([PARAMETERS] if whole or sections else ()), *([RETURNS] if whole else ())}
    if "\nAttributes\n---" in doc:
        asked -= {PARAMETERS}
    found = [said for code, said in validate(name)["errors"] if code in asked]
    if not sections and inspect.isfunction(thing):
        named = re.findall(r"\w+", " ".join(re.findall(r"``[^`]+``|`[^`]+`", doc)))
        unnamed = set(inspect.signature(thing).parameters) - {"self", "cls", *named}
        found += [f"`{name}` is not named" for name in unnamed]
    return found


def raises(thing):
    """Return whether a function raises itself, or has its arguments checked."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    if inspect.isclass(thing):  # what its making raises
        making = ("__init__", "__post_init__")
        tree.body = [node for node in tree.body[0].body if getattr(node, "name", "") in making]
    return any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("validate."))
        for node in ast.walk(tree)
    )


def test_form():
    wrong = {name: said for name in PUBLIC if (said := faults(name, *PUBLIC[name]))}
    assert not wrong


def test_what_raises_says_so():
    raising = {name: thing for name, (thing, _) in PUBLIC.items() if raises(thing)}
    assert len(raising) > 40
    silent = [name for name in raising if "\nRaises\n---" not in inspect.getdoc(raising[name])]
    assert not silent


def in_one_line(x):
    """Return something.

    Parameters
    ----------
    x : what it works on
    """
    raise ValueError(x)


def test_a_fault_is_seen(monkeypatch):
    """The form that the library had: the meaning in the slot of the type; an error unsaid."""
    monkeypatch.setattr(mhalib.masks, "in_one_line", in_one_line, raising=False)
    found = faults("mhalib.masks.in_one_line", in_one_line, whole=False)
    assert found == ['Parameter "x" has no description']
    assert raises(in_one_line)
