"""The model: ids → logits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.activations import ACTIVATIONS
from mhalib.embedding import embed
from mhalib.layers import BLOCKS, BlockTrace, layer_norm
from mhalib.masks import combine_masks
from mhalib.model import padding
from mhalib.model.ablation import Ablation
from mhalib.model.parameters import Parameters
from mhalib.model.trace import Cache, Trace
from mhalib.sampling import generate, greedy
from mhalib.softmax import softmax
from mhalib.vocab import tied_logits

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Integer

Array = NDArray[Any]


class Transformer(Parameters):
    """A decoder-only Transformer in NumPy: `Config` and parameters, nothing hidden.

    Parameters
    ----------
    config : Config
        The shape.
    parameters : dict of str to array
        By the names that `parameter_shapes` lists.

    Raises
    ------
    ValueError
        If a parameter is missing, unknown, of another shape, or not finite.

    Examples
    --------
    >>> from mhalib import Config, init_parameters
    >>> config = Config(vocab_size=7, d_model=4, n_heads=2, n_layers=1)
    >>> model = Transformer(config, init_parameters(config, np.random.default_rng(0)))
    >>> model.forward([3, 1, 4]).logits.shape
    (3, 7)
    """

    def forward(
        self,
        ids: Integer[Array, "*batch n"],
        *,
        real: Bool[Array, "*batch n"] | None = None,
        mask: Bool[Array, "*#scores"] | None = None,
        causal: bool = True,
        ablate: Ablation | None = None,
        past: Cache[Array] | None = None,
    ) -> Trace[Array]:
        r"""Run the model on `ids` and return every intermediate.

        Parameters
        ----------
        ids : int array (*batch, n)
            Tokens.
        real : bool array (*batch, n), optional
            False = padding, on either side: no token attends to it, and positions count the real
            tokens only, so a sentence starts at position 0 wherever it stands. All are real if
            not given.
        mask : bool array, optional
            True = may attend: as in `multi_head_attention`.
        causal : bool
            Each token sees only itself and what came before.
        ablate : Ablation, optional
            What to leave out.
        past : Cache, optional
            Keys and values of earlier tokens, from `Transformer.decode`.

        Returns
        -------
        Trace
            Row i of its ``probabilities`` is about the token after token i.

        Raises
        ------
        TypeError, ValueError
            If `ids` are not tokens of the model, `real` or `mask` are not boolean or do not fit,
            or `ablate` names a layer or head that is not there.

        Examples
        --------
        A sentence says the same alone as in a batch, where it is padded.

        >>> from mhalib import load_model
        >>> model = load_model()
        >>> alone = model.forward([7, 8]).logits
        >>> padded = model.forward([[0, 7, 8]], real=[[False, True, True]]).logits[0, 1:]
        >>> bool(np.allclose(alone, padded))
        True
        """
        config, p = self.config, self.parameters
        ablate = ablate or Ablation()
        ablate.check(config)
        ids = validate.array("ids", ids, ndim=1)
        real = padding.real_tokens(real, ids.shape, past)
        start = past.length if past else 0
        places = np.arange(start, start + ids.shape[-1])
        if real is not None:
            if mask is not None:
                shape = (*ids.shape[:-1], config.n_heads, ids.shape[-1], real.shape[-1])
                mask = combine_masks(mask, False, shape, ids.ndim - 1)
            keys = real[..., None, None, :]  # (*batch, 1, 1, n_k)
            mask = keys if mask is None else keys & mask
            places = padding.places(real)[..., start:]
        embedded = embed(ids, p["E"], scale=1.0 if ablate.embedding_scale else None)
        P = padding.position_rows(places, config.d_model).astype(embedded.dtype)
        if config.positions == "none" or ablate.positions:
            P = np.zeros_like(P)
        X = embedded + P
        options: dict[str, Any] = {
            "activation": ACTIVATIONS[config.activation],
            "mask": mask,
            "causal": validate.boolean("causal", causal) and not ablate.mask,
            "scale": 1.0 if ablate.scale or not config.scaled else None,
        }
        if ablate.norm:
            options["norm"] = lambda X, gamma, beta: X
        if ablate.residual:
            options["residual"] = lambda X, correction: correction
        stream, blocks = X, list[BlockTrace[Array] | None]()
        for i in range(config.n_layers):
            if i in ablate.layers:
                blocks.append(None)
                continue
            layer = self.layer(i)
            if i in ablate.W_O:
                layer["W_O"] = np.eye(config.d_model, dtype=embedded.dtype)
            if i in ablate.ffn:
                layer |= {name: np.zeros_like(layer[name]) for name in ("W_2", "b_2")}
            block = BLOCKS[config.norm](
                stream,
                layer,
                config.n_heads,
                past=past[i] if past else None,
                edit_heads=_head_edit(ablate.heads_of(i)),
                **options,
            )
            blocks.append(block)
            stream = block.output
        if config.norm == "pre" and not ablate.norm:
            stream = layer_norm(stream, p["gamma_f"], p["beta_f"])
        logits = tied_logits(stream, p["E"])
        return Trace(ids, embedded, P, X, blocks, stream, logits, softmax(logits))

    def decode(
        self,
        ids: Integer[Array, "*batch n"],
        cache: Cache[Array] | None = None,
        *,
        real: Bool[Array, "*batch n"] | None = None,
    ) -> tuple[Float[Array, "*batch V"], Cache[Array]]:
        """Return the logits of the token after `ids`, and what to go on from.

        Parameters
        ----------
        ids : int array (*batch, n)
            Tokens; with a `cache` the new ones only: what the earlier ones computed does not change
            when tokens are added, so it is kept.
        cache : Cache, optional
            What the last call returned.
        real : bool array (*batch, n), optional
            Which of `ids` are not padding.

        Returns
        -------
        logits : array (*batch, V)
            After each sentence's last real token.
        cache : Cache
            The keys and values to go on from.

        Raises
        ------
        TypeError, ValueError
            As `forward`; and if a sentence has no real token among `ids`.
        """
        ids = validate.array("ids", ids, ndim=1)
        if ids.shape[-1] == 0:
            raise ValueError("ids: decoding needs at least one token to go on from, got none")
        trace = self.forward(ids, real=real, past=cache)
        pairs = [(b.attention.K, b.attention.V) for b in trace.layers if b]
        kept = Cache(pairs, padding.real_tokens(real, ids.shape, cache))
        if real is None:
            return trace.logits[..., -1, :], kept
        last = padding.last_real(np.asarray(real))
        return np.take_along_axis(trace.logits, last[..., None, None], axis=-2)[..., 0, :], kept

    def generate(
        self,
        ids: Sequence[int],
        n_new: int,
        choose: Callable[[Array], int] = greedy,
        stop: Collection[int] = (),
    ) -> list[int]:
        """Keep writing with cached decoding, as `mhalib.generate`.

        Parameters
        ----------
        ids : list of int
            What is there.
        n_new : int
            How many tokens to write.
        choose : callable
            Takes logits (V,), returns an id; `greedy` if not given.
        stop : list of int
            Ids after which nothing is written.

        Returns
        -------
        list of int
            `ids` and the new tokens.
        """
        return generate(self.decode, ids, n_new, choose, stop)


def _head_edit(values: Mapping[int, Any]) -> Callable[[Array], Array] | None:
    def edit(heads: Array) -> Array:
        edited = heads.copy()
        for head, value in values.items():
            edited[..., head, :, :] = value
        return edited

    return edit if values else None
