"""The course's drawings: SVG made of the model's own shapes and numbers (needs NumPy alone).

Each function returns a `Drawing`, which a notebook shows as its cell's value.
"""

from mhalib.drawings.blocks import block, encoder_decoder
from mhalib.drawings.canvas import Drawing, Panel
from mhalib.drawings.circuits import induction, road
from mhalib.drawings.head import head_shapes
from mhalib.drawings.heads import output_blocks, reshape_trap, split_merge
from mhalib.drawings.places import here, machine
from mhalib.drawings.sentences import arcs, beside, relations

__all__ = [
    "Drawing", "Panel", "arcs", "beside", "block", "encoder_decoder", "head_shapes", "here",
    "induction", "machine", "output_blocks", "relations", "reshape_trap", "road", "split_merge",
]  # fmt: skip
