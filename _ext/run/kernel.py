"""Python's side of Run: cells of a page, run in one namespace, in the browser's worker.

`worker.js` loads this file into Pyodide and calls `Kernel`. All that a cell gives goes through
`send` as JSON-ready values, in the order in which it came: text, figures, the library's own HTML,
errors. Nothing else becomes HTML. The file needs no browser: `tests/run` runs it as it is.
"""

from __future__ import annotations

import ast
import base64
import builtins
import io
import linecache
import sys
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

from course_run.errors import absent_module, told
from course_run.names import (
    ABSENT,
    EXTRAS,
    LAZY,
    NEEDS,
    USES,
    Absent,
    Imports,
    Later,
    bound_names,
    free_names,
    parse,
    wanted,
)

LIMIT = 100_000  # characters of text that one run may print
PAUSE = 0.05  # seconds between two parts of a long output
IMAGES = 20  # figures that one run may show


class TooMuch(BaseException):
    """Raised where a cell prints without end."""


class Stream(io.TextIOBase):
    """Where a cell prints: parts go to the page as they come, up to `LIMIT` characters."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self.kernel, self.name = kernel, name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() takes a text, got {type(text).__name__}")
        self.kernel.print(self.name, text)
        return len(text)

    def flush(self) -> None:
        self.kernel.flush()


class Kernel:
    """The cells of one page share `names`.

    Parameters
    ----------
    send : called with each thing that a cell gives, a dict with "kind"
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self.send = send
        self.names: dict[str, Any] = {}
        self.loaded: set[str] = set()
        self.tainted: dict[str, str] = {}  # names of cells that failed, and for want of what
        self.quiet = False
        self.waiting: list[tuple[str, str]] = []
        self.printed = self.images = 0
        self.sent = 0.0
        self.restart()

    def restart(self) -> None:
        """Forget what the cells have defined."""
        shown = types.ModuleType("IPython.display")
        shown.__dict__.update(display=self.display, clear_output=lambda wait=False: None)
        package = types.ModuleType("IPython")
        package.__dict__.update(display=shown, get_ipython=lambda: None)
        if sys.platform == "emscripten":
            sys.modules.update({"IPython": package, "IPython.display": shown})
        module = types.ModuleType("__main__")
        self.names = module.__dict__
        self.names.update(__builtins__=builtins, _Absent=Absent, _Later=Later, display=self.display)
        sys.modules["__main__"] = module
        self.tainted.clear()

    # ------------------------------------------------------------------------------- what is loaded
    def missing(self, code: str) -> list[str]:
        """Return what must be loaded before `code` can run: "matplotlib", "widgets"."""
        return sorted(wanted(code, self.names) - self.loaded)

    def load(self, kind: str) -> None:
        """Say that the worker has loaded `kind`."""
        self.loaded.add(kind)
        if kind == "matplotlib":
            import matplotlib

            matplotlib.use("agg")
            from matplotlib import pyplot

            pyplot.show = lambda *args, **kwargs: self.show_figures()
        elif kind == "widgets" and "anywidget" not in sys.modules:
            sys.modules["anywidget"] = _anywidget()

    # ------------------------------------------------------------------------------------- a cell
    def run(self, code: str, name: str, quiet: bool = False) -> dict[str, Any]:
        """Run a cell.

        Parameters
        ----------
        code : what stands in the cell
        name : how its lines are named in errors, such as "cell 5"
        quiet : run it for what it defines: its text and figures are dropped, an error is not

        Returns
        -------
        `{"state": "done"}`, or "failed" (the error was sent), "torch" (it needs PyTorch), or
        "missing" with what to load before it is run again
        """
        self.quiet, self.waiting, self.printed, self.images = quiet, [], 0, 0
        self.sent = time.monotonic()
        code = code.replace("\r\n", "\n").replace("\r", "\n")
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        out, err = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = Stream(self, "stdout"), Stream(self, "stderr")  # type: ignore[assignment]
        old_input, builtins.input = builtins.input, _input
        old_warning, warnings.showwarning = warnings.showwarning, self._warning
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                self._execute(code, name)
            for bound in bound_names(parse(code, name)) & self.tainted.keys():
                del self.tainted[bound]
            if self.images or "matplotlib" in self.loaded:
                self.show_figures()
            return {"state": "done"}
        except BaseException as error:  # whatever a reader's code raises, SystemExit too
            return self._failed(error, code, name)
        finally:
            self.flush()
            sys.stdout, sys.stderr, builtins.input = out, err, old_input
            warnings.showwarning = old_warning

    def _execute(self, code: str, name: str) -> None:
        tree = parse(code, name)
        lazy = {full for full, kind in LAZY.items() if kind not in self.loaded}
        lazy |= {"matplotlib.pyplot"} if "matplotlib" not in self.loaded else set()
        tree = Imports(lazy).visit(tree)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said once, when the cell is parsed
            body = compile(tree, name, "exec")
            end = compile(ast.Expression(last.value), name, "eval") if last else None
        exec(body, self.names)
        if end is not None:
            value = eval(end, self.names)
            if value is not None:
                self.names["_"] = value
                self.display(value)

    def _failed(self, error: BaseException, code: str, name: str) -> dict[str, Any]:
        if isinstance(error, TooMuch):
            self.flush()
            self.send({"kind": "note", "text": str(error)})
            return {"state": "failed"}
        absent = absent_module(error)
        lacking = sorted(free_names(code) & self.tainted.keys())
        if absent in ABSENT or lacking:
            why = ABSENT[absent] if absent in ABSENT else self.tainted[lacking[0]]
            self.tainted |= dict.fromkeys(bound_names(parse(code, name)), why)
            text = NEEDS.format(why) if absent in ABSENT else USES.format(", ".join(lacking), why)
            self.send({"kind": "torch", "text": text})
            return {"state": "torch"}
        kind = EXTRAS.get(absent or "")
        if kind and kind not in self.loaded:
            return {"state": "missing", "load": [kind]}
        self.flush()
        self.send({"kind": "error", **told(error, name)})
        return {"state": "failed"}

    # ------------------------------------------------------------------------------ what it gives
    def print(self, stream: str, text: str) -> None:
        if self.quiet:
            return
        room = LIMIT - self.printed
        self.printed += len(text)
        if self.waiting and self.waiting[-1][0] == stream and len(self.waiting) < 500:
            self.waiting.append((stream, text[:room]))
        else:
            if self.waiting and self.waiting[-1][0] != stream:
                self.flush()
            self.waiting.append((stream, text[:room]))
        if self.printed > LIMIT:
            raise TooMuch(
                f"Stopped: it had printed {LIMIT:,} characters. Is there a loop that never ends?"
            )
        if time.monotonic() - self.sent > PAUSE or len(self.waiting) >= 500:
            self.flush()

    def flush(self) -> None:
        if self.waiting:
            stream, text = self.waiting[0][0], "".join(part for _, part in self.waiting)
            self.waiting = []
            self.send({"kind": "text", "stream": stream, "text": text})
        self.sent = time.monotonic()

    def display(self, *values: Any) -> None:
        """Show values as a cell shows its last one: the library's own as HTML, others as text."""
        for value in values:
            self.flush()
            if self.quiet:
                continue
            text = repr(value)
            html = _own_html(value)
            if html is not None:
                self.send({"kind": "html", "html": html, "text": text, "ok": _ok(value)})
            else:
                self.print("stdout", text + "\n")

    def show_figures(self) -> None:
        """Send the open figures as pictures, and close them."""
        from matplotlib import pyplot

        self.flush()
        for number in pyplot.get_fignums():
            if not self.quiet and self.images < IMAGES:
                self.images += 1
                data = io.BytesIO()
                pyplot.figure(number).savefig(data, format="png", bbox_inches="tight")
                self.send({"kind": "png", "data": base64.b64encode(data.getvalue()).decode()})
        pyplot.close("all")

    def _warning(self, message: Any, category: type[Warning], *place: Any) -> None:
        self.print("stderr", f"{category.__name__}: {message}\n")


def _own_html(value: Any) -> str | None:
    """Return the HTML of one of the library's classes; nothing else may give some."""
    if type(value).__module__.partition(".")[0] != "mhalib":
        return None
    for name in ("html", "_repr_html_"):
        if callable(method := getattr(type(value), name, None)):
            return str(method(value))
    return None


def _ok(value: Any) -> bool | None:
    """Return the verdict of the grader, or None of another value."""
    ok = getattr(value, "ok", None)
    return ok if isinstance(ok, bool) else None


def _input(prompt: object = "") -> str:
    raise RuntimeError("input() cannot ask on this page. Write the value into the code instead.")


def _anywidget() -> types.ModuleType:
    """The part of anywidget that a widget's Python class needs where no kernel talks to a page."""
    import traitlets

    class AnyWidget(traitlets.HasTraits):
        def on_msg(self, callback: Callable[..., None]) -> None:
            pass

        def send(self, content: Any, buffers: Any = None) -> None:
            pass

        def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
            return {"text/plain": repr(self)}, {}

    module = types.ModuleType("anywidget")
    module.AnyWidget = AnyWidget  # type: ignore[attr-defined]
    return module
