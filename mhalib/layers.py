"""Around the attention: residuals, layer norm, the feed-forward network, blocks (chapter 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.activations import relu
from mhalib.multihead import A, MultiHeadTrace, multi_head_trace
from mhalib.softmax import widened

if TYPE_CHECKING:
    from jaxtyping import Float, Real

Array = NDArray[Any]


def layer_norm(
    X: Real[Array, "*batch d_model"],
    gamma: Real[Array, " #d_model"] | Real[Array, ""] | float = 1.0,
    beta: Real[Array, " #d_model"] | Real[Array, ""] | float = 0.0,
    eps: float = 1e-5,
) -> Float[Array, "*batch d_model"]:
    r"""Give each token's features mean 0 and variance 1, then stretch and shift them.

    Evaluates ``gamma · (x − mean x) / √(var x + eps) + beta`` over the last axis, with the
    biased variance (divided by d_model).

    Parameters
    ----------
    X : array (*batch, d_model)
        One token a row.
    gamma, beta : array (d_model,) or float
        Learned factors and shifts.
    eps : float
        Keeps a constant row from dividing by 0.

    Returns
    -------
    array (*batch, d_model)
        In the dtype of `X`.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold real numbers, `gamma` or `beta` is not as long as a row, or
        `eps` is negative.

    References
    ----------
    Ba, Kiros, Hinton (2016), *Layer Normalization*.

    Examples
    --------
    >>> layer_norm(np.array([1.0, 2.0, 3.0, 4.0]), eps=0.0).round(4)
    array([-1.3416, -0.4472,  0.4472,  1.3416])
    """
    X = validate.float_array("X", X, ndim=1)
    gamma, beta = validate.float_array("gamma", gamma), validate.float_array("beta", beta)
    validate.broadcasts_to("gamma", gamma.shape, X.shape[-1:])
    validate.broadcasts_to("beta", beta.shape, X.shape[-1:])
    eps = validate.real_number("eps", eps, at_least=0)
    wide, d_model = widened(X), max(X.shape[-1], 1)
    centred = wide - wide.sum(axis=-1, keepdims=True) / d_model
    variance = (centred**2).sum(axis=-1, keepdims=True) / d_model
    return (gamma * centred / np.sqrt(variance + eps) + beta).astype(X.dtype, copy=False)


def feed_forward(
    X: Real[Array, "*batch d_model"],
    W_1: Real[Array, "d_model d_ff"],
    b_1: Real[Array, " #d_ff"] | Real[Array, ""],
    W_2: Real[Array, "d_ff d_out"],
    b_2: Real[Array, " #d_out"] | Real[Array, ""],
    activation: Callable[[Array], Array] = relu,
) -> Float[Array, "*batch d_out"]:
    r"""Send each token, on its own, through two linear layers with a bend between them.

    Evaluates ``activation(X W_1 + b_1) W_2 + b_2``.

    Parameters
    ----------
    X : array (*batch, n, d_model)
        One token a row; a single one, (d_model,), will do.
    W_1, b_1 : arrays (d_model, d_ff), (d_ff,)
        The first layer.
    W_2, b_2 : arrays (d_ff, d_model), (d_model,)
        The second.
    activation : callable
        `relu` in the paper, `gelu` in GPT-2.

    Returns
    -------
    array (*batch, n, d_model)
        One token a row.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold real numbers, or the shapes do not fit each other.

    Notes
    -----
    Cost: 2 · n · d_model · d_ff multiplications. The paper has d_ff = 4 d_model.

    References
    ----------
    Vaswani et al. (2017), *Attention Is All You Need*, §3.3, equation 2.

    Examples
    --------
    >>> feed_forward([[1.0, -1.0]], np.eye(2), np.zeros(2), np.eye(2), np.ones(2))
    array([[2., 1.]])
    """
    return _linear("W_2", W_2, "b_2", b_2, activation(_linear("W_1", W_1, "b_1", b_1, X)))


def _linear(w_name: str, W: Array, b_name: str, b: Array, X: Array) -> Array:
    X, W = validate.float_array("X", X, ndim=1), validate.float_array(w_name, W, 2, exact=True)
    b = validate.float_array(b_name, b)
    validate.same_length(w_name, W.shape, 0, X.shape[-1], "the columns of its input")
    validate.broadcasts_to(b_name, b.shape, W.shape[1:])
    return X @ W + b


@dataclass(frozen=True)
class BlockTrace(Generic[A]):
    """Every intermediate of one block, in the order of computation; `output` is the stream."""

    attention: MultiHeadTrace[A]
    residual_1: Float[A, "*batch n d_model"]
    norm_1: Float[A, "*batch n d_model"]
    ffn_hidden: Float[A, "*batch n d_ff"]
    ffn: Float[A, "*batch n d_model"]
    residual_2: Float[A, "*batch n d_model"]
    norm_2: Float[A, "*batch n d_model"]
    output: Float[A, "*batch n d_model"]


def _add(X: Array, correction: Array) -> Array:
    return X + correction


def post_norm_block(
    X: Real[Array, "*batch n d_model"],
    p: Mapping[str, Array],
    n_heads: int,
    *,
    activation: Callable[[Array], Array] = relu,
    norm: Callable[..., Array] = layer_norm,
    residual: Callable[[Array, Array], Array] = _add,
    **attention_options: Any,
) -> BlockTrace[Array]:
    """Normalise after each residual sum, as the paper does.

    Evaluates ``X' = norm(X + MultiHead(X))``, then ``norm(X' + FFN(X'))``.

    Parameters
    ----------
    X : array (*batch, n, d_model)
        The residual stream.
    p : mapping of str to array
        The parameters ``W_Q W_K W_V W_O gamma_1 beta_1 W_1 b_1 W_2 b_2 gamma_2 beta_2``.
    n_heads : int
        h.
    activation : callable
        Of the feed-forward network.
    norm, residual : callable
        Can be replaced to take them away, ``norm=lambda X, gamma, beta: X``.
    **attention_options
        ``mask``, ``causal``, … of `multi_head_trace`.

    Returns
    -------
    BlockTrace
        Whose ``output`` (*batch, n, d_model) is the new stream.

    Raises
    ------
    TypeError, ValueError
        If an argument or a parameter has the wrong type or shape; the message names it.

    References
    ----------
    Vaswani et al. (2017), *Attention Is All You Need*, §3.1 and §5.4.
    """
    attention = _attend(X, p, n_heads, attention_options)
    residual_1 = residual(X, attention.O)
    norm_1 = norm(residual_1, p["gamma_1"], p["beta_1"])
    ffn_hidden = activation(_linear("W_1", p["W_1"], "b_1", p["b_1"], norm_1))
    ffn = _linear("W_2", p["W_2"], "b_2", p["b_2"], ffn_hidden)
    residual_2 = residual(norm_1, ffn)
    norm_2 = norm(residual_2, p["gamma_2"], p["beta_2"])
    return BlockTrace(attention, residual_1, norm_1, ffn_hidden, ffn, residual_2, norm_2, norm_2)


def pre_norm_block(
    X: Real[Array, "*batch n d_model"],
    p: Mapping[str, Array],
    n_heads: int,
    *,
    activation: Callable[[Array], Array] = relu,
    norm: Callable[..., Array] = layer_norm,
    residual: Callable[[Array, Array], Array] = _add,
    **attention_options: Any,
) -> BlockTrace[Array]:
    """Normalise what goes into each sublayer; the stream itself is only ever added to.

    Evaluates ``X' = X + MultiHead(norm(X))``, then ``X' + FFN(norm(X'))``. GPT-2 is built this
    way.

    Parameters
    ----------
    X : array (*batch, n, d_model)
        The residual stream.
    p : mapping of str to array
        The parameters ``W_Q W_K W_V W_O gamma_1 beta_1 W_1 b_1 W_2 b_2 gamma_2 beta_2``.
    n_heads : int
        h.
    activation : callable
        Of the feed-forward network.
    norm, residual : callable
        Can be replaced to take them away, ``norm=lambda X, gamma, beta: X``.
    **attention_options
        ``mask``, ``causal``, … of `multi_head_trace`.

    Returns
    -------
    BlockTrace
        Whose ``output`` (*batch, n, d_model) is the new stream.

    Raises
    ------
    TypeError, ValueError
        If an argument or a parameter has the wrong type or shape; the message names it.

    References
    ----------
    Xiong et al. (2020), *On Layer Normalization in the Transformer Architecture*.
    """
    norm_1 = norm(X, p["gamma_1"], p["beta_1"])
    attention = _attend(norm_1, p, n_heads, attention_options)
    residual_1 = residual(X, attention.O)
    norm_2 = norm(residual_1, p["gamma_2"], p["beta_2"])
    ffn_hidden = activation(_linear("W_1", p["W_1"], "b_1", p["b_1"], norm_2))
    ffn = _linear("W_2", p["W_2"], "b_2", p["b_2"], ffn_hidden)
    residual_2 = residual(residual_1, ffn)
    return BlockTrace(
        attention, residual_1, norm_1, ffn_hidden, ffn, residual_2, norm_2, residual_2
    )


BLOCKS: Mapping[str, Callable[..., BlockTrace[Array]]] = {
    "post": post_norm_block,
    "pre": pre_norm_block,
}


def _attend(
    X: Array, p: Mapping[str, Array], n_heads: int, options: Mapping[str, Any]
) -> MultiHeadTrace[Array]:
    return multi_head_trace(X, p["W_Q"], p["W_K"], p["W_V"], p["W_O"], n_heads, **options)
