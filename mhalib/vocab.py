"""The vocabulary head: vectors → logits, and how wrong they are (chapter 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.softmax import log_softmax, widened

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Integer, Real

Array = NDArray[Any]


def tied_logits(
    X: Real[Array, "*batch d_model"], E: Real[Array, "V d_model"]
) -> Float[Array, "*batch V"]:
    """Score each token of the vocabulary: the dot product of x with its embedding.

    Evaluates ``X Eᵀ``: the table that turned ids into vectors, used once more ("tied").

    Parameters
    ----------
    X : array (*batch, d_model)
        The last layer's output.
    E : array (V, d_model)
        Embedding table.

    Returns
    -------
    array (*batch, V)
        Logits: log-probabilities up to a constant.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold real numbers, or the two differ in d_model.

    References
    ----------
    Press, Wolf (2017), *Using the Output Embedding to Improve Language Models*; Vaswani et al.
    (2017), *Attention Is All You Need*, §3.4.

    Examples
    --------
    >>> tied_logits([1.0, 2.0], np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]))
    array([1., 4., 3.])
    """
    X, E = validate.float_array("X", X, ndim=1), validate.float_array("E", E, ndim=2, exact=True)
    validate.same_length("E", E.shape, -1, X.shape[-1], "d_model, as in X")
    return X @ E.T


def next_token_pairs(
    ids: Integer[Array, "*batch n"],
) -> tuple[Integer[Array, "*batch m"], Integer[Array, "*batch m"]]:
    """Return inputs and targets for next-token prediction: ``ids[..., :-1], ids[..., 1:]``.

    Parameters
    ----------
    ids : int array (*batch, n)
        Tokens.

    Returns
    -------
    inputs, targets : int arrays (*batch, n − 1)
        Each target is the token after its input.

    Raises
    ------
    TypeError, ValueError
        If `ids` are not integers of 0 or more, or have no axis.

    Examples
    --------
    >>> next_token_pairs(np.array([5, 6, 7]))
    (array([5, 6]), array([6, 7]))
    """
    ids = validate.int_array("ids", ids, ndim=1)
    return ids[..., :-1], ids[..., 1:]


def cross_entropy(
    logits: Real[Array, "*batch V"],
    targets: Integer[Array, "*batch"],
    mask: Bool[Array, "*#batch"] | None = None,
) -> float:
    r"""Return the mean surprise about the targets, in nats: ``mean(−log softmax(logits)[target])``.

    Parameters
    ----------
    logits : array (*batch, V)
        One row for each target.
    targets : int array (*batch)
        Ids of the tokens that did come next.
    mask : bool array (*batch), optional
        True = counts; all count if not given. As many axes as `targets`, of the same length or 1.

    Returns
    -------
    float
        In nats; log V for a model that knows nothing.

    Raises
    ------
    TypeError, ValueError
        If `targets` are not ids below V of the shape (*batch), `mask` is not boolean or has other
        axes, or nothing is left to average over.

    Examples
    --------
    >>> round(cross_entropy(np.log([[0.5, 0.25, 0.25]]), [0]), 6)  # −log 0.5
    0.693147
    """
    logits = validate.float_array("logits", logits, ndim=1)
    targets = validate.int_array("targets", targets, below=logits.shape[-1])
    if targets.shape != logits.shape[:-1]:
        raise ValueError(f"targets must have shape {logits.shape[:-1]}, got {targets.shape}")
    if mask is not None:
        counts = validate.boolean_mask("mask", mask)
        validate.same_axes("mask", counts.shape, targets.shape, "targets")
        counts = np.broadcast_to(counts, targets.shape)
        logits, targets = logits[counts], targets[counts]
    if targets.size == 0:
        raise ValueError("targets: there is no token to average over")
    log_p = log_softmax(widened(logits))
    return float(-np.take_along_axis(log_p, targets[..., None], axis=-1).mean())
