"""Ids → vectors: rows of the embedding table, and the sinusoidal positions (chapter 2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate

if TYPE_CHECKING:
    from jaxtyping import Float, Integer, Real

Array = NDArray[Any]


def embed(
    ids: Integer[Array, "*batch"],
    E: Real[Array, "V d_model"],
    scale: float | None = None,
) -> Float[Array, "*batch d_model"]:
    r"""Return the rows of the embedding table that belong to `ids`.

    Evaluates ``scale · E[ids]``, by default with ``scale = √d_model``.

    Parameters
    ----------
    ids : int array (*batch, n)
        In 0 … V − 1; a single one, or any number of axes, will do.
    E : array (V, d_model)
        Embedding table.
    scale : float, optional
        Factor of the rows, √d_model if not given.

    Returns
    -------
    array (*batch, n, d_model)
        In the dtype of `E`.

    Raises
    ------
    TypeError, ValueError
        If `ids` are not integers or fall outside the table, or `E` is not a table of numbers.

    Notes
    -----
    A lookup equals the product of one-hot rows with `E`, at none of its cost. In torch:
    ``torch.nn.Embedding``, which does not multiply.

    References
    ----------
    Vaswani et al. (2017), *Attention Is All You Need*, §3.4: "we multiply those weights by
    √d_model".

    Examples
    --------
    >>> embed([2, 0], np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), scale=1.0)
    array([[5., 6.],
           [1., 2.]])
    """
    E = validate.float_array("E", E, ndim=2, exact=True)
    ids = validate.int_array("ids", ids, below=E.shape[0])
    factor = math.sqrt(E.shape[1]) if scale is None else validate.real_number("scale", scale)
    return E[ids] * E.dtype.type(factor)


def sinusoidal_positions(
    n: int, d_model: int, start: int = 0, base: float = 10000.0
) -> Float[Array, "{n} {d_model}"]:
    r"""Return the vectors that tell position from position, to be added to the embeddings.

    ``P[pos, 2i] = sin(pos / base^(2i/d_model))`` and ``P[pos, 2i+1] = cos(the same angle)``:
    each pair of columns is the hand of a clock, and each clock runs slower than the last.

    Parameters
    ----------
    n : int
        Number of positions.
    d_model : int
        Length of each vector; if it is odd, the last sine has no cosine.
    start : int
        The first position, for decoding that goes on after `start` cached tokens.
    base : float
        The slowest clock takes about 2π · base tokens for one turn.

    Returns
    -------
    array (n, d_model)
        In float64.

    Raises
    ------
    TypeError, ValueError
        If a number is not an integer, or negative, or `base` is not a positive number.

    Notes
    -----
    ``P[a] · P[b]`` depends on a − b alone when d_model is even: it is ``Σ_i cos((a − b) ω_i)``.

    References
    ----------
    Vaswani et al. (2017), *Attention Is All You Need*, §3.5.

    Examples
    --------
    >>> sinusoidal_positions(2, 4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    n = validate.positive_int("n", n, minimum=0)
    d_model = validate.positive_int("d_model", d_model)
    start = validate.positive_int("start", start, minimum=0)
    base = validate.real_number("base", base, above=0)
    positions = np.arange(start, start + n)[:, None]
    even = np.arange(0, d_model, 2)  # 2i, shared by the sine and the cosine of a pair
    angles = positions / base ** (even / d_model)
    P = np.empty((n, d_model))
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles[:, : d_model // 2])
    return P
