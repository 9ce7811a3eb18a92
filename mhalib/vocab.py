"""The vocabulary head: vectors → probabilities of the next token, and choosing one (chapter 7)."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.attention import log_softmax, softmax

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

Array = NDArray[Any]


def tied_logits(
    X: Float[Array, "*batch d_model"], E: Float[Array, "V d_model"]
) -> Float[Array, "*batch V"]:
    """Score each token of the vocabulary: the dot product of x with its embedding.

    Evaluates ``X Eᵀ``: the table that turned ids into vectors, used once more ("tied").

    Parameters
    ----------
    X : (*batch, d_model) the last layer's output
    E : (V, d_model) embedding table

    Returns
    -------
    (*batch, V) logits: log-probabilities up to a constant

    References
    ----------
    Press, Wolf (2017), *Using the Output Embedding to Improve Language Models*; Vaswani et al.
    (2017), *Attention Is All You Need*, §3.4.

    Examples
    --------
    >>> tied_logits([1.0, 2.0], np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]))
    array([1., 4., 3.])
    """
    X, E = validate.float_array("X", X, ndim=1), validate.float_array("E", E, ndim=2)
    validate.same_length("E", E, -1, X.shape[-1], "d_model, as in X")
    return X @ E.T


def next_token_pairs(ids: Int[Array, "*batch n"]) -> tuple[Array, Array]:
    """Return inputs and targets for next-token prediction: ``ids[..., :-1], ids[..., 1:]``.

    Examples
    --------
    >>> next_token_pairs(np.array([5, 6, 7]))
    (array([5, 6]), array([6, 7]))
    """
    ids = validate.array("ids", ids, ndim=1)
    return ids[..., :-1], ids[..., 1:]


def cross_entropy(
    logits: Float[Array, "*batch V"],
    targets: Int[Array, "*batch"],
    mask: Bool[Array, "*batch"] | None = None,
) -> float:
    r"""Return the mean surprise about the targets, in nats: ``mean(−log softmax(logits)[target])``.

    Parameters
    ----------
    logits : (*batch, V)
    targets : (*batch) ids of the tokens that did come next
    mask : (*batch) boolean, True = counts; all count if not given

    Returns
    -------
    float; log V for a model that knows nothing

    Examples
    --------
    >>> round(cross_entropy(np.log([[0.5, 0.25, 0.25]]), [0]), 6)  # −log 0.5
    0.693147
    """
    logits = validate.float_array("logits", logits, ndim=1)
    targets = validate.int_array("targets", targets, below=logits.shape[-1])
    if targets.shape != logits.shape[:-1]:
        raise ValueError(f"targets must have shape {logits.shape[:-1]}, got {targets.shape}")
    chosen = np.take_along_axis(log_softmax(logits), targets[..., None], axis=-1)[..., 0]
    if mask is not None:
        counts = validate.boolean_mask("mask", mask, targets.shape)
        chosen = chosen[np.broadcast_to(counts, targets.shape)]
    if chosen.size == 0:
        raise ValueError("targets: there is no token to average over")
    return float(-chosen.mean())


def top_k_filter(logits: Float[Array, " V"], k: int) -> Float[Array, " V"]:
    """Keep the `k` largest logits, set the others to −∞; among equals the smaller id stays.

    References
    ----------
    Fan, Lewis, Dauphin (2018), *Hierarchical Neural Story Generation*, §5.4.
    """
    logits = _vector(logits)
    k = validate.positive_int("k", k)
    return _keep(logits, np.argsort(-logits, kind="stable")[:k])


def top_p_filter(logits: Float[Array, " V"], p: float) -> Float[Array, " V"]:
    """Keep the fewest tokens, likeliest first, whose probabilities reach `p` together.

    References
    ----------
    Holtzman et al. (2020), *The Curious Case of Neural Text Degeneration*, §3.1.

    Examples
    --------
    >>> softmax(top_p_filter(np.log([0.5, 0.3, 0.2]), p=0.6)).round(3)
    array([0.625, 0.375, 0.   ])
    """
    logits = _vector(logits)
    p = validate.real_number("p", p)
    if not 0 < p <= 1:
        raise ValueError(f"p must lie in (0, 1], got {p}")
    order = np.argsort(-logits, kind="stable")
    shares = softmax(logits)[order]
    before = np.cumsum(shares) - shares  # what the likelier tokens have together
    return _keep(logits, order[before < p])


def _vector(logits: Array) -> Array:
    logits = validate.float_array("logits", logits, ndim=1)
    if logits.ndim != 1 or logits.size == 0:
        raise ValueError(f"logits must have shape (V,), got {logits.shape}")
    return logits


def _keep(logits: Array, kept: Array) -> Array:
    filtered = np.full_like(logits, -np.inf)
    filtered[kept] = logits[kept]
    return filtered


def greedy(logits: Float[Array, " V"]) -> int:
    """Return the id with the largest logit, the smallest id among equals."""
    return int(np.argmax(_vector(logits)))


def sample(
    logits: Float[Array, " V"],
    rng: np.random.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> int:
    """Draw an id from ``softmax(logits / temperature)``, cut by `top_k`, then by `top_p`.

    Parameters
    ----------
    logits : (V,)
    rng : source of randomness, ``np.random.default_rng(seed)``
    temperature : below 1 the likely become likelier, above 1 the shares even out
    top_k, top_p : see `top_k_filter` and `top_p_filter`

    Returns
    -------
    int, an id
    """
    temperature = validate.real_number("temperature", temperature)
    if temperature <= 0:
        raise ValueError(f"temperature must be positive (use `greedy` for 0), got {temperature}")
    logits = _vector(logits) / temperature
    if top_k is not None:
        logits = top_k_filter(logits, top_k)
    if top_p is not None:
        logits = top_p_filter(logits, top_p)
    share = np.cumsum(softmax(logits))
    return int(np.searchsorted(share, rng.random() * share[-1], side="right"))


def generate(
    step: Callable[[Any, Any], tuple[Array, Any]],
    ids: Sequence[int],
    n_new: int,
    choose: Callable[[Array], int] = greedy,
    stop: Container[int] = (),
) -> list[int]:
    """Write on from `ids`, one token at a time.

    Parameters
    ----------
    step : ``step(new_ids, cache) -> (logits (V,) for the next token, cache)``; the first call
        gets all of `ids` and the cache None, each later one the token just chosen
    ids : the beginning
    n_new : at most so many tokens are added
    choose : logits → id, such as `greedy` or ``lambda logits: sample(logits, rng)``
    stop : ids after which the text ends

    Returns
    -------
    list of ids, the beginning included
    """
    text, new, cache = list(ids), list(ids), None
    for _ in range(validate.positive_int("n_new", n_new, minimum=0)):
        logits, cache = step(new, cache)
        new = [choose(logits)]
        text += new
        if new[0] in stop:
            break
    return text
