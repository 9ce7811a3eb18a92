"""Every static figure of the course, in one style. The only package that loads matplotlib.

Each function draws on `ax`, or on a new figure, and returns the axes. The figures have a white
ground of their own, so that they read the same on a dark page; nothing is told by colour alone:
lines differ in dash and marker, bars in hatching, both heat maps run from dark to light.
"""

try:
    from matplotlib import pyplot as plt
except ImportError as error:
    raise ImportError(
        "mhalib.plots draws with matplotlib, which is not installed: "
        "python -m pip install matplotlib"
    ) from error

from mhalib.plots.figures import bars, lines, panels, scatter_words
from mhalib.plots.matrix import heatmap
from mhalib.plots.style import COLOURS, INK, QUIET, SHARES, SIGNED

__all__ = [
    "COLOURS", "INK", "QUIET", "SHARES", "SIGNED", "bars", "heatmap", "lines", "panels", "plt",
    "scatter_words",
]  # fmt: skip
