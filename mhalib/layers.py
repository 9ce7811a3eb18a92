"""Around the attention: residuals, layer norm, the feed-forward network, blocks (chapter 6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.attention import widened
from mhalib.multihead import A, MultiHeadTrace, multi_head_trace

if TYPE_CHECKING:
    from jaxtyping import Float

Array = NDArray[Any]


def layer_norm(
    X: Float[Array, "*batch d_model"],
    gamma: Float[Array, " d_model"] | float = 1.0,
    beta: Float[Array, " d_model"] | float = 0.0,
    eps: float = 1e-5,
) -> Float[Array, "*batch d_model"]:
    r"""Give each token's features mean 0 and variance 1, then stretch and shift them.

    Evaluates ``gamma · (x − mean x) / √(var x + eps) + beta`` over the last axis, with the
    biased variance (divided by d_model).

    Parameters
    ----------
    X : (*batch, d_model)
    gamma, beta : (d_model,) learned factors and shifts
    eps : keeps a constant row from dividing by 0

    Returns
    -------
    (*batch, d_model) in the dtype of `X`

    References
    ----------
    Ba, Kiros, Hinton (2016), *Layer Normalization*.

    Examples
    --------
    >>> layer_norm(np.array([1.0, 2.0, 3.0, 4.0]), eps=0.0).round(4)
    array([-1.3416, -0.4472,  0.4472,  1.3416])
    """
    X = validate.float_array("X", X, ndim=1)
    gamma, beta = (
        validate.float_array("gamma", gamma),
        validate.float_array("beta", beta),
    )
    validate.broadcasts_to("gamma", gamma, X.shape[-1:])
    validate.broadcasts_to("beta", beta, X.shape[-1:])
    wide = widened(X)
    centred = wide - wide.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return (gamma * centred / np.sqrt(variance + eps) + beta).astype(X.dtype, copy=False)


def relu(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Return ``max(x, 0)``."""
    return np.maximum(validate.float_array("x", x), 0)


def gelu(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    r"""Return ``x Φ(x)``, Φ the normal distribution: ``x/2 · (1 + erf(x/√2))``.

    References
    ----------
    Hendrycks, Gimpel (2016), *Gaussian Error Linear Units (GELUs)*.

    Examples
    --------
    >>> gelu([-1.0, 0.0, 1.0]).round(4)
    array([-0.1587,  0.    ,  0.8413])
    """
    x = validate.float_array("x", x)
    erf = np.vectorize(math.erf, otypes=[np.float64])  # NumPy has no erf of its own
    return (x / 2 * (1 + erf(x.astype(np.float64) / math.sqrt(2)))).astype(x.dtype, copy=False)


def gelu_tanh(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    r"""Return GPT-2's approximation of `gelu`, ``x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))``."""
    x = validate.float_array("x", x)
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return (x / 2 * (1 + np.tanh(inner))).astype(x.dtype, copy=False)


ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
}


def feed_forward(
    X: Float[Array, "*batch n d_model"],
    W_1: Float[Array, "d_model d_ff"],
    b_1: Float[Array, " d_ff"],
    W_2: Float[Array, "d_ff d_model"],
    b_2: Float[Array, " d_model"],
    activation: Callable[[Array], Array] = relu,
) -> Float[Array, "*batch n d_model"]:
    r"""Send each token, on its own, through two linear layers with a bend between them.

    Evaluates ``activation(X W_1 + b_1) W_2 + b_2``.

    Parameters
    ----------
    X : (*batch, n, d_model)
    W_1, b_1 : (d_model, d_ff), (d_ff,)
    W_2, b_2 : (d_ff, d_model), (d_model,)
    activation : `relu` in the paper, `gelu` in GPT-2

    Returns
    -------
    (*batch, n, d_model)

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
    return _feed_forward_hidden(X, W_1, b_1, activation) @ W_2 + b_2


def _feed_forward_hidden(
    X: Array, W_1: Array, b_1: Array, activation: Callable[[Array], Array]
) -> Array:
    X = validate.float_array("X", X, ndim=1)
    W_1 = validate.float_array("W_1", W_1, ndim=2)
    validate.same_length("W_1", W_1, 0, X.shape[-1], "the columns of X")
    return activation(X @ W_1 + b_1)  # (*batch, n, d_ff)


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
    X: Float[Array, "*batch n d_model"],
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
    X : (*batch, n, d_model) the residual stream
    p : the parameters ``W_Q W_K W_V W_O gamma_1 beta_1 W_1 b_1 W_2 b_2 gamma_2 beta_2``
    n_heads : h
    activation : of the feed-forward network
    norm, residual : can be replaced to take them away, ``norm=lambda X, gamma, beta: X``
    attention_options : ``mask``, ``causal``, … of `multi_head_trace`

    Returns
    -------
    BlockTrace, whose ``output`` (*batch, n, d_model) is the new stream

    References
    ----------
    Vaswani et al. (2017), *Attention Is All You Need*, §3.1 and §5.4.
    """
    attention = _attend(X, p, n_heads, attention_options)
    residual_1 = residual(X, attention.O)
    norm_1 = norm(residual_1, p["gamma_1"], p["beta_1"])
    ffn_hidden = _feed_forward_hidden(norm_1, p["W_1"], p["b_1"], activation)
    ffn = ffn_hidden @ p["W_2"] + p["b_2"]
    residual_2 = residual(norm_1, ffn)
    norm_2 = norm(residual_2, p["gamma_2"], p["beta_2"])
    return BlockTrace(attention, residual_1, norm_1, ffn_hidden, ffn, residual_2, norm_2, norm_2)


def pre_norm_block(
    X: Float[Array, "*batch n d_model"],
    p: Mapping[str, Array],
    n_heads: int,
    *,
    activation: Callable[[Array], Array] = relu,
    norm: Callable[..., Array] = layer_norm,
    residual: Callable[[Array, Array], Array] = _add,
    **attention_options: Any,
) -> BlockTrace[Array]:
    """Normalise what goes into each sublayer; the stream itself is only ever added to.

    Evaluates ``X' = X + MultiHead(norm(X))``, then ``X' + FFN(norm(X'))``. Parameters and
    result as in `post_norm_block`. GPT-2 is built this way.

    References
    ----------
    Xiong et al. (2020), *On Layer Normalization in the Transformer Architecture*.
    """
    norm_1 = norm(X, p["gamma_1"], p["beta_1"])
    attention = _attend(norm_1, p, n_heads, attention_options)
    residual_1 = residual(X, attention.O)
    norm_2 = norm(residual_1, p["gamma_2"], p["beta_2"])
    ffn_hidden = _feed_forward_hidden(norm_2, p["W_1"], p["b_1"], activation)
    ffn = ffn_hidden @ p["W_2"] + p["b_2"]
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
