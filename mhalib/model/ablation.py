"""What can be taken out of a forward pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from mhalib.model.config import Config


@dataclass(frozen=True)
class Ablation:
    """What to take out of a forward pass, to see what it was there for.

    Parameters
    ----------
    scale : bool
        Leave the scores unscaled (no 1/√d_k).
    mask : bool
        Let every token see the whole sequence, the future included.
    positions : bool
        Add no positions.
    embedding_scale : bool
        Do not multiply the embeddings by √d_model.
    residual : bool
        A sublayer's output replaces the stream, where it should be added to it.
    norm : bool
        No layer norm.
    W_O : list of int
        Layers in which concat(heads) skips W_O (needs h·d_v = d_model).
    heads : list of pairs of int, or dict
        (layer, head) pairs whose output becomes 0; or a mapping from such pairs to the value,
        number or (d_v,), that takes the output's place ("mean ablation").
    ffn : list of int
        Layers whose feed-forward network adds nothing: its output becomes 0.
    layers : list of int
        Layers that are skipped.
    """

    scale: bool = False
    mask: bool = False
    positions: bool = False
    embedding_scale: bool = False
    residual: bool = False
    norm: bool = False
    W_O: Collection[int] = ()
    heads: Collection[tuple[int, int]] | Mapping[tuple[int, int], Any] = ()
    ffn: Collection[int] = ()
    layers: Collection[int] = ()

    def check(self, config: Config) -> None:
        """Refuse layers and heads that a model does not have.

        Parameters
        ----------
        config : Config
            The model's shape.

        Raises
        ------
        ValueError
            If a layer or head is not there, or W_O cannot be skipped.
        """
        for name, layers in (
            ("W_O", self.W_O),
            ("ffn", self.ffn),
            ("layers", self.layers),
            ("heads", [layer for layer, _ in self.heads]),
        ):
            if outside := set(layers) - set(range(config.n_layers)):
                raise ValueError(
                    f"ablate.{name}: layer must lie in 0 … {config.n_layers - 1}, "
                    f"got {sorted(outside)}"
                )
        if outside := {head for _, head in self.heads} - set(range(config.n_heads)):
            raise ValueError(
                f"ablate.heads: head must lie in 0 … {config.n_heads - 1}, got {sorted(outside)}"
            )
        if self.W_O and config.n_heads * config.d_v != config.d_model:
            raise ValueError(
                f"ablate.W_O needs h·d_v = d_model, got {config.n_heads * config.d_v} "
                f"and {config.d_model}"
            )

    def heads_of(self, layer: int) -> dict[int, Any]:
        """Return what takes the place of each ablated head's output.

        Parameters
        ----------
        layer : int
            Whose heads.

        Returns
        -------
        dict of int to number or array
            The value by head.
        """
        values = self.heads if isinstance(self.heads, Mapping) else dict.fromkeys(self.heads, 0.0)
        return {head: value for (i, head), value in values.items() if i == layer}
