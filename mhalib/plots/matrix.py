"""A matrix as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from mhalib import _validate as validate
from mhalib.plots.style import INK, SHARES, SIGNED, axes_of, names_of, numbers, styled


@styled
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
    A : array (n_rows, n_columns)
        Numbers; if one is negative, 0 gets the middle colour.
    rows, columns : list, optional
        The tokens, ids or other names on the axes, as they are (``$`` is a dollar).
    title, ylabel, xlabel : str
        Texts, in which ``$d_k$`` is a formula; for attention "query" and "key".
    mask : bool array (n_rows, n_columns), optional
        False = masked: hatched and without a value.
    limits : pair of float, optional
        Numbers at the two ends of the colours, to make several maps comparable.
    decimals : int
        How the numbers in the cells are written.
    values : bool, optional
        Whether they are; by default if the cells are large enough.
    colourbar : bool
        Show what the colours mean where no numbers are written.
    ax : matplotlib.axes.Axes, optional
        Where to draw, a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    TypeError, ValueError
        If the numbers, names or mask do not fit each other.
    """
    A = numbers("A", A, ndim=2)
    if A.ndim != 2:
        raise ValueError(f"A must have shape (n_rows, n_columns), got {A.shape}")
    rows, columns = names_of("rows", rows, len(A)), names_of("columns", columns, A.shape[1])
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
    ax = axes_of(ax, (max(2.6, cell * A.shape[1] + 1.6), max(1.8, cell * len(A) + 1.2)))
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
