"""Every static figure of the course, in one style. The only module that loads matplotlib.

Each function draws on `ax`, or on a new figure, and returns the axes. The figures have a white
ground of their own, so that they read the same on a dark page; nothing is told by colour alone:
lines differ in dash and marker, bars in hatching, both heat maps run from dark to light.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from itertools import pairwise
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mhalib import _validate as validate
from mhalib.colours import RELATIONS

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle
except ImportError as error:
    raise ImportError(
        "mhalib.plots draws with matplotlib, which is not installed: "
        "python -m pip install matplotlib"
    ) from error

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


def _styled(draw: Callable[P, R]) -> Callable[P, R]:
    @wraps(draw)
    def drawn_in_style(*args: P.args, **kwargs: P.kwargs) -> R:
        with plt.rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn_in_style


def _colour(name: str, i: int) -> str:
    """Return a relation's own colour, for all else the i-th of the usual ones."""
    return RELATIONS[name][0] if name in RELATIONS else COLOURS[i % len(COLOURS)]


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    if ax is not None:
        return ax
    return plt.subplots(figsize=size, layout="constrained")[1]


def _numbers(name: str, values: ArrayLike, ndim: int = 0) -> Array:
    """Return `values` as floats; a boolean array, such as a mask, as 0 and 1."""
    values = validate.array(name, values)
    return validate.float_array(name, values + 0 if values.dtype == bool else values, ndim)


def _names(name: str, names: Sequence[Any] | None, length: int) -> list[str] | None:
    """Return `names` as text: tokens, ids, whatever they are; ``$`` in them is no formula."""
    if names is None:
        return None
    if len(names) != length:
        raise ValueError(f"{name} must name {length} of A, got {len(names)}")
    return [str(one) for one in names]


@_styled
def panels(n_rows: int, n_columns: int, size: tuple[float, float] = (3.2, 3.0)) -> Array:
    """Return an array (n_rows, n_columns) of empty axes in one figure, `size` inches each."""
    return plt.subplots(
        n_rows,
        n_columns,
        figsize=(size[0] * n_columns, size[1] * n_rows),
        squeeze=False,
        layout="constrained",
    )[1]


@_styled
def heatmap(
    A: ArrayLike,
    rows: Sequence[Any] | None = None,
    columns: Sequence[Any] | None = None,
    *,
    title: str = "",
    ylabel: str = "",
    xlabel: str = "",
    mask: ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
    decimals: int = 2,
    values: bool | None = None,
    colourbar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a matrix: its rows top down, its columns from left to right.

    Parameters
    ----------
    A : (n_rows, n_columns) numbers; if one is negative, 0 gets the middle colour
    rows, columns : the tokens, ids or other names on the axes, as they are (``$`` is a dollar)
    title, ylabel, xlabel : texts, in which ``$d_k$`` is a formula; for attention "query" and "key"
    mask : boolean like `A`, False = masked: hatched and without a value
    limits : numbers at the two ends of the colours, to make several maps comparable
    decimals, values : how the numbers in the cells are written, and whether; by default
        if the cells are large enough
    """
    A = _numbers("A", A, ndim=2)
    if A.ndim != 2:
        raise ValueError(f"A must have shape (n_rows, n_columns), got {A.shape}")
    rows, columns = _names("rows", rows, len(A)), _names("columns", columns, A.shape[1])
    seen = np.ones(A.shape, bool)
    if mask is not None:
        seen = validate.boolean_mask("mask", mask)
        validate.broadcasts_to("mask", seen.shape, A.shape)
        seen = np.broadcast_to(seen, A.shape)
    shown = np.where(seen, A, np.nan)
    finite = shown[np.isfinite(shown)]
    largest = float(np.abs(finite).max(initial=0)) or 1.0
    signed = bool((finite < 0).any()) if limits is None else limits[0] < 0
    low, high = limits or ((-largest, largest) if signed else (0.0, largest))
    cell = min(0.5, 5.0 / max(A.shape))
    ax = _axes(ax, (max(2.6, cell * A.shape[1] + 1.6), max(1.8, cell * len(A) + 1.2)))
    colours = plt.get_cmap(SIGNED if signed else SHARES)
    scale = Normalize(low, high)
    few = max(A.shape) <= 14
    ax.imshow(shown, cmap=colours, norm=scale, aspect="equal" if few else "auto")
    for i, j in np.argwhere(~seen):
        ax.add_patch(
            Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", ec="#afb8c1", lw=0)
        )
    if few if values is None else values:
        for i, j in np.argwhere(np.isfinite(shown)):
            red, green, blue, _ = colours(scale(A[i, j]))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
            ax.text(
                j, i, f"{A[i, j]:z.{decimals}f}".replace("-", "−"),
                ha="center", va="center",
                fontsize=min(10, 72 * cell / (decimals + 3.2) * 1.5),
                color="white" if dark else INK,
            )  # fmt: skip
    if rows is not None:
        ax.set_yticks(range(len(A)), rows, parse_math=False)
    if columns is not None:
        upright = sum(map(len, columns)) > 1.2 * cell * A.shape[1] * 7
        ax.set_xticks(
            range(A.shape[1]),
            columns,
            rotation=90 if upright else 0,
            parse_math=False,
        )
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.set(title=title, ylabel=ylabel, xlabel=xlabel)
    if colourbar and not few:
        ax.figure.colorbar(ScalarMappable(scale, colours), ax=ax, shrink=0.8)
    return ax


@_styled
def lines(
    x: ArrayLike,
    series: Mapping[str, ArrayLike],
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    spread: Mapping[str, ArrayLike] | None = None,
    references: Mapping[str, float] | None = None,
    log: str = "",
    markers: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw each of `series` against `x`.

    Parameters
    ----------
    x : (m,)
    series : values (m,) by name; NaN leaves a gap
    spread : half the height of a band around a series, by its name
    references : levels to compare with, drawn across (an optimum, chance)
    log : "x", "y" or "xy" for logarithmic axes
    markers : whether each point is marked
    """
    ax = _axes(ax, (6.0, 3.6))
    for i, (name, values) in enumerate(series.items()):
        y = _numbers(name, values)
        colour = _colour(name, i)
        ax.plot(
            x, y, label=name, color=colour, linestyle=DASHES[i % len(DASHES)],
            marker=MARKERS[i % len(MARKERS)] if markers else None, markersize=5,
        )  # fmt: skip
        if spread and name in spread:
            half = np.asarray(spread[name], float)
            ax.fill_between(x, y - half, y + half, color=colour, alpha=0.2, lw=0)
    for name, level in (references or {}).items():
        ax.axhline(level, color=INK, lw=1, ls=(0, (6, 3)))
        ax.annotate(
            name, (1, level), xycoords=("axes fraction", "data"), xytext=(0, 3),
            textcoords="offset points", ha="right", color=INK, fontsize=10,
        )  # fmt: skip
    for axis in log:
        getattr(ax, f"set_{axis}scale")("log")
    if "x" in log:  # such as 1, 2, 4, 8: name the points that were measured
        ax.set_xticks(np.asarray(x), [f"{value:g}" for value in np.asarray(x)])
        ax.set_xticks([], minor=True)
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    if len(series) > 1:
        ax.legend()
    return ax


@_styled
def bars(
    labels: Sequence[Any],
    series: Mapping[str, ArrayLike] | ArrayLike,
    *,
    title: str = "",
    ylabel: str = "",
    xlabel: str = "",
    spread: Mapping[str, ArrayLike] | None = None,
    references: Mapping[str, float] | None = None,
    decimals: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a horizontal bar for each of `labels`, side by side for several series.

    Parameters
    ----------
    labels : (m,) names, from the top down
    series : (m,) values, or several by name
    title, ylabel, xlabel : texts; the values run along x
    spread : half the length of an error bar for each value, by the name of the series
    references : levels to compare with, drawn across
    decimals : if given, the value is written at the end of its bar
    """
    named = dict(series) if isinstance(series, Mapping) else {"": series}
    thick = 0.8 / len(named)
    own = ax is None
    ax = _axes(ax, (6.0, 0.9 + max(0.3, 0.22 * len(named)) * len(labels)))
    place = np.arange(len(labels))
    for i, (name, values) in enumerate(named.items()):
        drawn = ax.barh(
            place + (i + 0.5) * thick - 0.4,
            _numbers(name or "series", values),
            thick,
            xerr=None if not spread or name not in spread else np.asarray(spread[name]),
            label=name,
            color=[_colour(label, i) for label in labels] if not name else _colour(name, i),
            hatch=HATCHES[i % len(HATCHES)],
            edgecolor="white",
            ecolor=INK,
            capsize=2,
        )
        if decimals is not None:
            ax.bar_label(drawn, fmt=f"%.{decimals}f", padding=3, fontsize=9)
    for name, level in (references or {}).items():
        ax.axvline(level, color=INK, lw=1, ls=(0, (6, 3)))
        ax.annotate(
            name, (level, 1), xycoords=("data", "axes fraction"), xytext=(3, 1),
            textcoords="offset points", va="bottom", color=INK, fontsize=10,
        )  # fmt: skip
    ax.set_yticks(place, [str(label) for label in labels], parse_math=False)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    ax.margins(x=0.1)
    ax.set_title(title, pad=20 if references else None)  # above the names of the references
    ax.set(ylabel=ylabel, xlabel=xlabel)
    if len(named) > 1 and own:  # below the axes, where no bar is
        plt.figlegend(loc="outside lower center", ncols=len(named))
    elif len(named) > 1:
        ax.legend()
    return ax


@_styled
def scatter_words(
    points: ArrayLike,
    words: Sequence[str],
    *,
    groups: Sequence[str] | None = None,
    strong: Collection[str] = (),
    paths: Mapping[str, ArrayLike] | None = None,
    regions: Mapping[str, ArrayLike] | None = None,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Write words at points of the plane, a marker and colour for each group.

    Parameters
    ----------
    points : (m, 2)
    words : (m,) written beside the points
    groups : (m,) name of each word's group, for marker, colour and legend
    strong : words to set in bold
    paths : (steps, 2) by name, drawn as a line with an arrow at each step
    regions : (corners, 2) by name, a filled area
    """
    points = validate.float_array("points", points, ndim=2)
    if points.shape != (len(words), 2):
        raise ValueError(f"points must have shape ({len(words)}, 2), got {points.shape}")
    ax = _axes(ax, (6.0, 5.0))
    names = list(groups) if groups is not None else [""] * len(words)
    for name, corners in (regions or {}).items():
        ax.fill(
            *validate.float_array(name, corners, ndim=2).T,
            label=name, facecolor=GRID, edgecolor=QUIET, hatch="..", lw=1, zorder=1,
        )  # fmt: skip
    for i, group in enumerate(dict.fromkeys(names)):
        chosen = [j for j, name in enumerate(names) if name == group]
        ax.scatter(
            points[chosen, 0], points[chosen, 1], s=28, zorder=3, label=group,
            color=_colour(group, i), marker=MARKERS[i % len(MARKERS)],
        )  # fmt: skip
    for (x, y), word in zip(points, words, strict=True):
        ax.annotate(
            str(word), (x, y), xytext=(4, 3), textcoords="offset points", fontsize=9,
            parse_math=False,
            weight="bold" if word in strong else "normal", zorder=4,
        )  # fmt: skip
    for i, (name, steps) in enumerate((paths or {}).items()):
        steps = validate.float_array(name, steps, ndim=2)
        colour = COLOURS[i % len(COLOURS)]
        ax.plot(*steps.T, color=colour, ls=DASHES[i % len(DASHES)], lw=1.2, label=name)
        for start, end in pairwise(steps):
            ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": colour})
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    if any(names) or paths:
        for text in ax.legend(fontsize=9).get_texts():
            text.set_parse_math(False)
    return ax
