"""Choosing the next token: greedy, by chance, cut by top-k and top-p; generation (chapter 7)."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mhalib import _validate as validate
from mhalib.softmax import softmax

if TYPE_CHECKING:
    from jaxtyping import Float, Real

Array = NDArray[Any]


def top_k_filter(logits: Real[Array, " V"], k: int) -> Float[Array, " V"]:
    """Keep the `k` largest logits, set the others to −∞; among equals the smaller id stays.

    Parameters
    ----------
    logits : array (V,)
        At least one finite, the others finite or −∞.
    k : int
        How many stay; all of them if there are no more.

    Returns
    -------
    array (V,)
        In the dtype of `logits`.

    Raises
    ------
    TypeError, ValueError
        If `logits` is not (V,) with a finite largest entry, or `k` is not a positive integer.

    References
    ----------
    Fan, Lewis, Dauphin (2018), *Hierarchical Neural Story Generation*, §5.4.
    """
    logits = _choosable(logits)
    k = validate.positive_int("k", k)
    return _keep(logits, np.argsort(-logits, kind="stable")[:k])


def top_p_filter(logits: Real[Array, " V"], p: float) -> Float[Array, " V"]:
    """Keep the fewest tokens, likeliest first, whose probabilities reach `p` together.

    Among equals the smaller id stays. Sums are those of float64; one that is below `p` by no
    more than rounding has reached it: 1e-9, or four units in the last place of float32 or float16.

    Parameters
    ----------
    logits : array (V,)
        At least one finite, the others finite or −∞.
    p : float
        Above 0; 1 keeps everything.

    Returns
    -------
    array (V,)
        In the dtype of `logits`.

    Raises
    ------
    TypeError, ValueError
        If `logits` is not (V,) with a finite largest entry, or `p` does not lie in (0, 1].

    References
    ----------
    Holtzman et al. (2020), *The Curious Case of Neural Text Degeneration*, §3.1.

    Examples
    --------
    >>> softmax(top_p_filter(np.log([0.5, 0.3, 0.2]), p=0.6)).round(3)
    array([0.625, 0.375, 0.   ])
    """
    logits = _choosable(logits)
    return _keep(logits, _reaching(p, logits.astype(np.float64), logits.dtype))


def _choosable(logits: Array) -> Array:
    logits = validate.float_array("logits", logits)
    if logits.ndim != 1 or logits.size == 0:
        raise ValueError(f"logits must have shape (V,), got {logits.shape}")
    if not np.isfinite(top := logits.max()):  # NaN, ∞, or nothing but −∞
        raise ValueError(f"logits must be finite or −∞, one at least finite; the largest is {top}")
    return logits


def _reaching(p: float, logits: Array, dtype: DTypeLike) -> Array:
    """Return the ids that `top_p_filter` keeps, of logits that were rounded to `dtype`."""
    p = validate.real_number("p", p)
    if not 0 < p <= 1:
        raise ValueError(f"p must lie in (0, 1], got {p}")
    order = np.argsort(-logits, kind="stable")
    if p == 1:
        return order
    shares = softmax(logits)[order]
    before = np.cumsum(shares) - shares  # what the likelier tokens have together
    rounding = max(1e-9, 4 * float(np.finfo(dtype).eps))
    return order[: max(1, np.count_nonzero(before < p - rounding))]


def _keep(logits: Array, kept: Array) -> Array:
    filtered = np.full_like(logits, -np.inf)
    filtered[kept] = logits[kept]
    return filtered


def greedy(logits: Real[Array, " V"]) -> int:
    """Return the id with the largest logit, the smallest id among equals.

    Parameters
    ----------
    logits : array (V,)
        At least one finite, the others finite or −∞.

    Returns
    -------
    int
        An id.

    Raises
    ------
    TypeError, ValueError
        If `logits` is not (V,) with a finite largest entry.
    """
    return int(np.argmax(_choosable(logits)))


def sample(
    logits: Real[Array, " V"],
    rng: np.random.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> int:
    """Draw an id from ``softmax(logits / temperature)``, cut by `top_k`, then by `top_p`.

    Parameters
    ----------
    logits : array (V,)
        At least one finite, the others finite or −∞.
    rng : numpy.random.Generator
        Source of randomness, ``np.random.default_rng(seed)``.
    temperature : float
        Below 1 the likely become likelier, above 1 the shares even out.
    top_k : int, optional
        See `top_k_filter`.
    top_p : float, optional
        See `top_p_filter`.

    Returns
    -------
    int
        An id whose probability is not 0.

    Raises
    ------
    TypeError, ValueError
        If `logits` is not (V,) with a finite largest entry, or another argument is out of range.
    """
    temperature = validate.real_number("temperature", temperature)
    if temperature <= 0:
        raise ValueError(f"temperature must be positive (use `greedy` for 0), got {temperature}")
    logits = _choosable(logits)
    wide = logits.astype(np.float64)
    with np.errstate(over="ignore"):  # so cold that all but the largest are out of reach: −∞
        tempered = (wide - wide.max()) / temperature
    if top_k is not None:
        tempered = top_k_filter(tempered, top_k)
    if top_p is not None:
        tempered = _keep(tempered, _reaching(top_p, tempered, logits.dtype))
    return draw(softmax(tempered), rng.random())


def draw(shares: Float[Array, " V"], u: float) -> int:
    """Return the id in whose part of [0, 1) `u` falls, the parts being as long as the `shares`.

    Parameters
    ----------
    shares : array (V,)
        Probabilities, such as `softmax` gives.
    u : float
        In [0, 1).

    Returns
    -------
    int
        An id whose share is not 0.

    Raises
    ------
    ValueError
        If all shares are 0.
    """
    possible = np.flatnonzero(shares)
    if possible.size == 0:
        raise ValueError("shares must not be all 0")
    ends = np.cumsum(shares, dtype=np.float64)
    # the last id that can come takes what is left, whatever the sums round to
    return int(np.searchsorted(ends[: possible[-1]], u * ends[-1], side="right"))


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
    step : callable
        ``step(new_ids, cache) -> (logits (V,) for the next token, cache)``; the first call
        gets all of `ids` and the cache None, each later one the token just chosen.
    ids : sequence of int
        The beginning, one token at least.
    n_new : int
        At most so many tokens are added.
    choose : callable
        Logits → id, such as `greedy` or ``lambda logits: sample(logits, rng)``.
    stop : container of int
        Ids after which the text ends.

    Returns
    -------
    list of int
        The beginning included.

    Raises
    ------
    TypeError, ValueError
        If `ids` is not a flat sequence of ids, `n_new` negative, or `stop` a single id.
    """
    beginning = validate.int_array("ids", ids)
    if beginning.ndim != 1 or beginning.size == 0:
        raise ValueError(f"ids must be one row of at least one id, got shape {beginning.shape}")
    if isinstance(stop, str | bytes) or not hasattr(stop, "__contains__"):
        raise TypeError(f"stop must be a collection of ids, such as {{3}}, got {stop!r}")
    n_new = validate.positive_int("n_new", n_new, minimum=0)
    text: list[int] = beginning.tolist()
    new, cache = text, None
    for _ in range(n_new):
        logits, cache = step(new, cache)
        new = [choose(logits)]
        text = text + new
        if new[0] in stop:
            break
    return text
