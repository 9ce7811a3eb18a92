"""Every named intermediate of a forward pass: the contract between NumPy, torch, JavaScript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic

from mhalib.layers import BlockTrace
from mhalib.multihead import A

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Integer


@dataclass(frozen=True)
class Trace(Generic[A]):
    """Every named intermediate of one forward pass, in the order of computation.

    A layer stands at its own index, whatever was taken out: ``layers[1]`` is layer 1, and the
    place of a layer that was left out holds None.

    Attributes
    ----------
    ids : int array (*batch, n)
        The tokens.
    embedded : array (*batch, n, d_model)
        Rows of E, times √d_model.
    positions : array (*batch, n, d_model)
        What is added for each token's place.
    X : array (*batch, n, d_model)
        Their sum, which enters the first layer.
    layers : list of BlockTrace or None
        What each layer computed.
    output : array (*batch, n, d_model)
        What the vocabulary head reads.
    logits, probabilities : array (*batch, n, V)
        Row i is about the token after token i.
    """

    ids: Integer[A, "*batch n"]
    embedded: Float[A, "*batch n d_model"]  # rows of E, times √d_model
    positions: Float[A, "*#batch n d_model"]
    X: Float[A, "*batch n d_model"]  # embedded + positions
    layers: Sequence[BlockTrace[A] | None]
    output: Float[A, "*batch n d_model"]  # what the vocabulary head reads
    logits: Float[A, "*batch n V"]
    probabilities: Float[A, "*batch n V"]

    def layer(self, i: int) -> BlockTrace[A]:
        """Return what one layer computed.

        Parameters
        ----------
        i : int
            Its index.

        Returns
        -------
        BlockTrace
            The layer's intermediates.

        Raises
        ------
        ValueError
            If the layer was left out.
        """
        block = self.layers[i]
        if block is None:
            raise ValueError(f"layer {i} was left out of this pass: it has no trace")
        return block

    def flat(self) -> dict[str, A]:
        """Return all arrays by name: ``X``, ``layers.0.Q``, ``layers.0.norm_1``, …

        Returns
        -------
        dict of str to array
            What was not computed has no name here: the stages of a layer that was left out, and
            those that torch's fused kernel keeps to itself.
        """
        arrays: dict[str, A] = {}
        for name, value in _fields(self):
            if name != "layers":
                arrays[name] = value
                continue
            for i, block in enumerate(self.layers):
                for part, array in _fields(block) if block else ():
                    inner = _fields(array) if part == "attention" else [(part, array)]
                    arrays |= {f"layers.{i}.{stage}": value for stage, value in inner}
        return {name: array for name, array in arrays.items() if array is not None}


def _fields(record: Any) -> list[tuple[str, Any]]:
    return [(item.name, getattr(record, item.name)) for item in fields(record)]


class Cache(list[tuple[A, A]]):
    """The keys and values of each layer, (*batch, h, n, ·), for `Transformer.decode` to go on from.

    Parameters
    ----------
    pairs : list of pairs of arrays
        K and V of each layer.
    real : bool array (*batch, n), optional
        Which of the tokens are not padding; None if all are real.
    """

    def __init__(
        self, pairs: Iterable[tuple[A, A]], real: Bool[A, "*batch n"] | None = None
    ) -> None:
        super().__init__(pairs)
        self.real = real

    @property
    def length(self) -> int:
        """How many tokens are kept."""
        keys: Any = self[0][0]
        return int(keys.shape[-2])
