"""The course's drawings: SVG made of the model's own shapes and numbers (needs NumPy alone).

Each function returns a `Drawing`, which a notebook shows as its cell's value.
"""

from mhalib.drawings.canvas import Drawing, Panel
from mhalib.drawings.head import head_shapes
from mhalib.drawings.places import here, machine
from mhalib.drawings.sentences import arcs, beside, relations

__all__ = ["Drawing", "Panel", "arcs", "beside", "head_shapes", "here", "machine", "relations"]
