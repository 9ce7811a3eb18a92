"""The course's drawings: SVG made of the model's own shapes and numbers (needs NumPy alone).

Each function returns a `Drawing`, which a notebook shows as its cell's value.
"""

from mhalib.drawings.blocks import block, encoder_decoder
from mhalib.drawings.canvas import Drawing, Panel
from mhalib.drawings.circuits import induction, road
from mhalib.drawings.decoding import cache, cuts, shifted_labels
from mhalib.drawings.head import head_shapes
from mhalib.drawings.heads import output_blocks, reshape_trap, split_merge
from mhalib.drawings.ladder import ladder
from mhalib.drawings.places import here, machine
from mhalib.drawings.positions import clock_hands
from mhalib.drawings.sentences import arcs, beside, relations
from mhalib.drawings.spread import score_histograms
from mhalib.drawings.tokens import merge_tree, one_hot

__all__ = [
    "Drawing", "Panel", "arcs", "beside", "block", "cache", "clock_hands", "cuts",
    "encoder_decoder", "head_shapes", "here", "induction", "ladder", "machine", "merge_tree",
    "one_hot", "output_blocks", "relations", "reshape_trap", "road", "score_histograms",
    "shifted_labels", "split_merge",
]  # fmt: skip
