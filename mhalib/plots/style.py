"""One style for all figures, and how numbers and names are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from mhalib import _validate as validate
from mhalib.colours import RELATIONS

Array = NDArray[Any]
P = ParamSpec("P")
R = TypeVar("R")

INK, QUIET, GRID = "#1f2328", "#57606a", "#d0d7de"
COLOURS = ("#0059a8", "#c44e00", "#00806a", "#a23b72", "#7a6a00", "#4c4c4c")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++")
SHARES, SIGNED = "Blues", "cividis"  # from 0 up; from −limit to +limit, 0 in the middle
STYLE: Any = {
    "figure.dpi": 120,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 2.0,
    "hatch.linewidth": 0.6,
}


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    @wraps(draw)
    def drawn_in_style(*args: P.args, **kwargs: P.kwargs) -> R:
        with plt.rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn_in_style


def colour_of(name: str, i: int) -> str:
    """Return a relation's own colour, for all else the i-th of the usual ones."""
    return RELATIONS[name][0] if name in RELATIONS else COLOURS[i % len(COLOURS)]


def axes_of(ax: Axes | None, size: tuple[float, float]) -> Axes:
    if ax is not None:
        return ax
    return plt.subplots(figsize=size, layout="constrained")[1]


def numbers(name: str, values: ArrayLike, ndim: int = 0) -> Array:
    """Return `values` as floats; a boolean array, such as a mask, as 0 and 1."""
    values = validate.array(name, values)
    return validate.float_array(name, values + 0 if values.dtype == bool else values, ndim)


def names_of(name: str, names: Sequence[Any] | None, length: int) -> list[str] | None:
    """Return `names` as text: tokens, ids, whatever they are; ``$`` in them is no formula."""
    if names is None:
        return None
    if len(names) != length:
        raise ValueError(
            f"{name} must hold {length} names, as many as A has {name}, got {len(names)}"
        )
    return [str(one) for one in names]
