"""Ids → vectors: rows of the embedding table, and the sinusoidal positions (chapter 2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate

if TYPE_CHECKING:
    from jaxtyping import Float, Int

Array = NDArray[Any]


def embed(
    ids: Int[Array, "*batch n"],
    E: Float[Array, "V d_model"],
    scale: float | None = None,
) -> Float[Array, "*batch n d_model"]:
    r"""Return the rows of the embedding table that belong to `ids`.

    Evaluates ``scale · E[ids]``, by default with ``scale = √d_model``.

    Parameters
    ----------
    ids : (*batch, n) integers in 0 … V − 1
    E : (V, d_model) embedding table
    scale : factor of the rows, √d_model if not given

    Returns
    -------
    (*batch, n, d_model) in the dtype of `E`

    Raises
    ------
    TypeError, ValueError
        If `ids` are not integers or fall outside the table.

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
    E = validate.float_array("E", E, ndim=2)
    ids = validate.int_array("ids", ids, below=E.shape[0])
    factor = math.sqrt(E.shape[1]) if scale is None else validate.real_number("scale", scale)
    return E[ids] * E.dtype.type(factor)


def sinusoidal_positions(
    n: int, d_model: int, start: int = 0, base: float = 10000.0
) -> Float[Array, "n d_model"]:
    r"""Return the vectors that tell position from position, to be added to the embeddings.

    ``P[pos, 2i] = sin(pos / base^(2i/d_model))`` and ``P[pos, 2i+1] = cos(the same angle)``:
    each pair of columns is the hand of a clock, and each clock runs slower than the last.

    Parameters
    ----------
    n : number of positions
    d_model : length of each vector; if it is odd, the last sine has no cosine
    start : the first position, for decoding that goes on after `start` cached tokens
    base : the slowest clock takes about 2π · base tokens for one turn

    Returns
    -------
    (n, d_model) float64

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
    base = validate.real_number("base", base)
    if base <= 0:
        raise ValueError(f"base must be positive, got {base}")
    positions = np.arange(start, start + n)[:, None]
    even = np.arange(0, d_model, 2)  # 2i, shared by the sine and the cosine of a pair
    angles = positions / base ** (even / d_model)
    P = np.empty((n, d_model))
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles[:, : d_model // 2])
    return P
