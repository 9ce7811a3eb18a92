"""The live widgets of the lessons: in Jupyter with their values in Python, on the site without.

Each widget computes in JavaScript what it shows; its properties of the same names give the
values of the NumPy library for the same setting (`ScalingWidget().weights`).
"""

try:
    import anywidget as _anywidget  # noqa: F401
except ImportError as error:
    raise ImportError(
        "mhalib.widgets needs the package anywidget; install it with: pip install anywidget"
    ) from error

from mhalib.widgets.by_hand import ByHandWidget
from mhalib.widgets.embedding import EmbeddingWidget
from mhalib.widgets.layers import LayersWidget
from mhalib.widgets.machine import MachineWidget
from mhalib.widgets.multi_head import MultiHeadWidget
from mhalib.widgets.own_head import OwnHeadWidget
from mhalib.widgets.practice import PracticeWidget
from mhalib.widgets.scaling import ScalingWidget
from mhalib.widgets.single_head import SingleHeadWidget
from mhalib.widgets.tokenizer import TokenizerWidget
from mhalib.widgets.vocab_head import VocabHeadWidget

__all__ = [
    "ByHandWidget",
    "EmbeddingWidget",
    "LayersWidget",
    "MachineWidget",
    "MultiHeadWidget",
    "OwnHeadWidget",
    "PracticeWidget",
    "ScalingWidget",
    "SingleHeadWidget",
    "TokenizerWidget",
    "VocabHeadWidget",
]
