"""Lines, bars, words in a plane, and several figures side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from mhalib import _validate as validate
from mhalib.plots.style import (
    COLOURS,
    DASHES,
    GRID,
    HATCHES,
    INK,
    MARKERS,
    QUIET,
    Array,
    axes_of,
    colour_of,
    numbers,
    styled,
)


@styled
def panels(n_rows: int, n_columns: int, size: tuple[float, float] = (3.2, 3.0)) -> Array:
    """Return an array (n_rows, n_columns) of empty axes in one figure.

    `n_rows` and `n_columns` say how many, `size` how large each is, in inches.
    """
    return plt.subplots(
        n_rows,
        n_columns,
        figsize=(size[0] * n_columns, size[1] * n_rows),
        squeeze=False,
        layout="constrained",
    )[1]


@styled
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
    """Draw each of several series against the same places.

    Parameters
    ----------
    x : array (m,)
        The places.
    series : dict of str to array (m,)
        Values by name; NaN leaves a gap.
    title, xlabel, ylabel : str
        Texts.
    spread : dict of str to array (m,), optional
        Half the height of a band around a series, by its name.
    references : dict of str to float, optional
        Levels to compare with, drawn across (an optimum, chance).
    log : str
        "x", "y" or "xy" for logarithmic axes.
    markers : bool
        Whether each point is marked.
    ax : matplotlib.axes.Axes, optional
        Where to draw, a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.
    """
    ax = axes_of(ax, (6.0, 3.6))
    for i, (name, values) in enumerate(series.items()):
        y = numbers(name, values)
        colour = colour_of(name, i)
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


@styled
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
    labels : list
        Names (m,), from the top down.
    series : array (m,) or dict of str to array
        Values, or several by name; they run along x.
    title, ylabel, xlabel : str
        Texts.
    spread : dict of str to array, optional
        Half the length of an error bar for each value, by the name of the series.
    references : dict of str to float, optional
        Levels to compare with, drawn across.
    decimals : int, optional
        If given, the value is written at the end of its bar.
    ax : matplotlib.axes.Axes, optional
        Where to draw, a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.
    """
    named = dict(series) if isinstance(series, Mapping) else {"": series}
    thick = 0.8 / len(named)
    own = ax is None
    ax = axes_of(ax, (6.0, 0.9 + max(0.3, 0.22 * len(named)) * len(labels)))
    place = np.arange(len(labels))
    for i, (name, values) in enumerate(named.items()):
        drawn = ax.barh(
            place + (i + 0.5) * thick - 0.4,
            numbers(name or "series", values),
            thick,
            xerr=None if not spread or name not in spread else np.asarray(spread[name]),
            label=name,
            color=[colour_of(label, i) for label in labels] if not name else colour_of(name, i),
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


@styled
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
    points : array (m, 2)
        Where they stand.
    words : list of str
        Written beside the points.
    groups : list of str, optional
        Name of each word's group, for marker, colour and legend.
    strong : list of str
        Words to set in bold.
    paths : dict of str to array (steps, 2), optional
        By name, drawn as a line with an arrow at each step.
    regions : dict of str to array (corners, 2), optional
        By name, a filled area.
    title, xlabel, ylabel : str
        Texts.
    ax : matplotlib.axes.Axes, optional
        Where to draw, a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    TypeError, ValueError
        If the points do not hold numbers, or not as many as the words.
    """
    points = validate.float_array("points", points, ndim=2)
    if points.shape != (len(words), 2):
        raise ValueError(f"points must have shape ({len(words)}, 2), got {points.shape}")
    ax = axes_of(ax, (6.0, 5.0))
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
            color=colour_of(group, i), marker=MARKERS[i % len(MARKERS)],
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
