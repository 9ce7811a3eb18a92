"""Show a function of the library as it stands in its file."""

import ast
import inspect
from collections.abc import Callable
from textwrap import dedent
from typing import Any

from mhalib._stream import printable


def show_source(thing: Callable[..., Any]) -> None:
    """Print the file's name and the source of a function or class, without its docstrings.

    Parameters
    ----------
    thing : callable
        A function or class that is written in Python.

    Raises
    ------
    TypeError
        If its source cannot be read.

    Examples
    --------
    >>> from mhalib.activations import relu
    >>> show_source(relu)
    # mhalib/activations.py
    def relu(x: Real[Array, "*shape"]) -> Float[Array, "*shape"]:
        return np.maximum(validate.float_array("x", x), 0)
    """
    try:
        lines = dedent(inspect.getsource(thing)).splitlines()
    except TypeError as error:
        raise TypeError(
            f"thing must be a function or class written in Python, got {thing!r}"
        ) from error
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            text = node.body[0]
            for i in range(text.lineno - 1, text.end_lineno or text.lineno):
                lines[i] = "\0"  # a line that goes; an empty line stays
    title = f"# {thing.__module__.replace('.', '/')}.py"
    print(printable("\n".join([title, *(line for line in lines if line != "\0")])))
