"""What the code of a cell names: modules that a browser has not, modules that come later, and which
cells an exercise needs. No part of it runs the code.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import warnings
from typing import Any

# What is loaded only when a cell needs it: name of the import → what the worker loads for it.
EXTRAS = {"matplotlib": "matplotlib", "traitlets": "widgets", "anywidget": "widgets"}
# The library's modules that load them, and what a page's readers write.
LAZY = {"mhalib.plots": "matplotlib", "mhalib.widgets": "widgets", "matplotlib": "matplotlib"}
# code that asks for another model than "main"
OTHER_MODEL = re.compile(r"load_model\((?!\s*(?:\)|[\"']main[\"']\s*[,)]))")
ABSENT = {"torch": "PyTorch", "onnx": "ONNX"}
NEEDS = (
    "This cell needs {}, which does not run in a browser. "
    "It runs in Jupyter: on your own computer (make lab), in Binder or in Colab."
)
USES = NEEDS.replace("needs {},", "uses {} from a cell that needs {},")


class Absent:
    """Stands where PyTorch would: whoever uses it learns why it is not here."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._error()

    def _error(self) -> ModuleNotFoundError:
        name = self.__dict__["_name"]
        return ModuleNotFoundError(NEEDS.format(ABSENT[name]), name=name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._error()


class Later:
    """A module that is imported at its first use: most cells import what only some of them need."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__dict__["_name"]), name)


class Imports(ast.NodeTransformer):
    """Replace imports of what a browser has not by `Absent`, of `lazy` modules by `Later`."""

    def __init__(self, lazy: set[str]) -> None:
        self.lazy = lazy

    def visit_Import(self, node: ast.Import) -> Any:
        return self.parts(node, [(alias.name, alias) for alias in node.names])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        return self.parts(node, [(f"{node.module}.{alias.name}", alias) for alias in node.names])

    def parts(self, node: ast.Import | ast.ImportFrom, names: list[tuple[str, ast.alias]]) -> Any:
        new: list[ast.stmt] = []
        for full, alias in names:
            plain = isinstance(node, ast.Import)
            bound = alias.asname or (full.partition(".")[0] if plain else alias.name)
            absent = _absent(full)
            if absent and bound == "mhalib":  # import mhalib.torch: its use says the rest
                alias, kind, argument = ast.alias("mhalib"), "", []
            elif absent:
                kind, argument = "_Absent", [ast.Constant(absent)]
            elif full in self.lazy and (not plain or alias.asname):
                kind, argument = "_Later", [ast.Constant(full)]
            else:
                kind = ""
            if not kind:
                one = ast.Import([alias]) if plain else ast.ImportFrom(node.module, [alias], 0)
                new.append(ast.copy_location(one, node))
                continue
            call = ast.Call(ast.Name(kind, ast.Load()), argument, [])
            new.append(ast.copy_location(ast.Assign([ast.Name(bound, ast.Store())], call), node))
        return [ast.fix_missing_locations(part) for part in new]


def _absent(name: str) -> str | None:
    """Return which of `ABSENT` a module needs, "torch" for `mhalib.torch.layers`."""
    first = name.removeprefix("mhalib.").partition(".")[0]
    return first if first in ABSENT else None


def parse(code: str, name: str) -> ast.Module:
    """Return the tree of a cell; a warning of the compiler (an odd escape) is no error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code, name)


def free_names(code: str) -> set[str]:
    """Return the names that a cell takes from elsewhere; none if it does not parse."""
    try:
        tree = parse(code, "<cell>")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    used, bound = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return used - bound - bound_names(tree) - set(dir(builtins))


def bound_names(tree: ast.Module) -> set[str]:
    """Return the names that a cell leaves behind."""
    names = set()
    for node in tree.body:
        for part in ast.walk(node):
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(part.name)
            elif isinstance(part, ast.Import | ast.ImportFrom):
                names |= {a.asname or a.name.partition(".")[0] for a in part.names}
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.add(part.id)
    return names


def wanted(code: str, there: dict[str, Any]) -> set[str]:
    """Return what `code` needs beyond the base, "matplotlib" for one; `there` are earlier names."""
    try:
        tree = parse(code, "<cell>")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}  # an import alone is no use
    found = {kind for name, kind in _lazy_names(tree, there).items() if name in used}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if not alias.asname]
        found |= {kind for name in names if (kind := _kind(name))}
        if isinstance(node, ast.Attribute):  # mhalib.plots.heatmap
            found |= {LAZY[full] for full in LAZY if ast.unparse(node) == full}
    if "widgets" in found or OTHER_MODEL.search(code):
        found.add("models")
    return found


def _kind(module: str) -> str | None:
    """Return what is loaded for a module, if anything is."""
    return LAZY.get(module, EXTRAS.get(module.partition(".")[0]))


def _lazy_names(tree: ast.Module, there: dict[str, Any]) -> dict[str, str]:
    """Return the names that stand for a module to be loaded, in this cell or since an earlier."""
    modules = {
        name: value.__dict__["_name"] for name, value in there.items() if isinstance(value, Later)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            modules |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            modules |= {a.asname: a.name for a in node.names if a.asname}
    return {name: kind for name, full in modules.items() if (kind := _kind(full))}


def needed_for(codes: list[str], i: int) -> list[int]:
    """Return which cells above cell `i` an exercise needs: those that give the names it uses."""
    chosen: set[int] = set()
    waiting = [(i, name) for name in free_names(codes[i])]
    while waiting:
        below, name = waiting.pop()
        for j in range(below - 1, -1, -1):
            try:
                gives = bound_names(parse(codes[j], "<cell>"))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            if name in gives:
                if j not in chosen:
                    chosen.add(j)
                    waiting += [(j, other) for other in free_names(codes[j])]
                break
    return sorted(chosen)
