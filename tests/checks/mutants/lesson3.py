"""Wrong answers of lesson 3."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from mutants.parts import attend, mutant, shares


@mutant("raw_scores", "Kᵀ missing")
def _(Q, K):
    return torch.matmul(Q, K)


@mutant("raw_scores", "Q and K swapped")
def _(Q, K):
    return np.array([[float(q @ k) for q in Q] for k in K])


@mutant("raw_scores", "queries against queries")
def _(Q, K):
    return np.einsum("id,jd->ij", Q, Q)


@mutant("softmax", "maximum not subtracted")
def _(x):
    return np.apply_along_axis(lambda row: np.exp(row) / sum(np.exp(row)), -1, x)


@mutant("softmax", "over the wrong axis")
def _(x):
    return torch.softmax(x, dim=0)


@mutant("softmax", "over everything")
def _(x):
    e = np.exp(x.ravel() - np.max(x))
    return (e / sum(e)).reshape(x.shape)


@mutant("softmax", "not divided by the sum")
def _(x):
    return torch.exp(x)


@mutant("softmax", "exp forgotten")
def _(x):
    return x / np.sum(x, axis=-1, keepdims=True)


@mutant("softmax", "logarithm returned")
def _(x):
    return F.log_softmax(x, dim=-1)


@mutant("causal_mask", "mask inverted")
def _(n_q, n_k):
    return np.array([[j > i + n_k - n_q for j in range(n_k)] for i in range(n_q)])


@mutant("causal_mask", "diagonal hidden")
def _(n_q, n_k):
    return torch.tril(torch.ones(n_q, n_k, dtype=torch.bool), diagonal=n_k - n_q - 1)


@mutant("causal_mask", "one token too far")
def _(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), bool), n_k - n_q + 1)


@mutant("causal_mask", "top-left instead of bottom-right")
def _(n_q, n_k):
    return np.arange(n_k) <= np.arange(n_q)[:, None]


@mutant("causal_mask", "transposed")
def _(n_q, n_k):
    return torch.triu(torch.ones(n_q, n_k, dtype=torch.bool), diagonal=n_k - n_q)


@mutant("causal_mask", "numbers instead of booleans")
def _(n_q, n_k):
    return np.tril(np.ones((n_q, n_k)), n_k - n_q)


@mutant("padding_mask", "mask inverted")
def _(lengths, n_k):
    return torch.arange(n_k) >= lengths[:, None, None]


@mutant("padding_mask", "one token too far")
def _(lengths, n_k):
    return np.array([[[j <= m for j in range(n_k)]] for m in lengths])


@mutant("padding_mask", "no axis for the queries")
def _(lengths, n_k):
    return np.array([[j < m for j in range(n_k)] for m in lengths])


@mutant("attention_weights", "masked score set to 0")
def _(S, mask):
    S = S.copy()
    S[~mask] = 0
    return shares(S)


@mutant("attention_weights", "mask added as a bias")
def _(S, mask):
    return torch.softmax(S + mask.to(S.dtype), dim=-1)


@mutant("attention_weights", "mask after the softmax")
def _(S, mask):
    return torch.softmax(S, dim=-1).masked_fill(~mask, 0.0)


@mutant("attention_weights", "mask inverted")
def _(S, mask):
    return F.softmax(S.masked_fill(mask, -torch.inf), dim=-1)


@mutant("attention_weights", "finite fill")
def _(S, mask):
    return torch.softmax(S.masked_fill(~mask, -1e4), -1)


@mutant("attention_weights", "finite fill")
def _(S, mask):
    S = np.where(mask, S, -1e9)
    return shares(S - S.max(axis=1, keepdims=True))


@mutant("attention_weights", "empty row is NaN")
def _(S, mask):
    return torch.softmax(S.masked_fill(~mask, -torch.inf), -1)


@mutant("attention_weights", "softmax over the queries")
def _(S, mask):
    return torch.softmax(S.masked_fill(~mask, -torch.inf), 0).nan_to_num()


@mutant("attention", "no scale")
def _(Q, K, V, mask=None):
    return attend(Q, K, V, mask, 1.0)


@mutant("attention", "no scale")
def _(Q, K, V, mask=None):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask, scale=1.0).nan_to_num()


@mutant("attention", "divided by d_k")
def _(Q, K, V, mask=None):
    return attend(Q, K, V, mask, 1 / Q.shape[1])


@mutant("attention", "multiplied by √d_k")
def _(Q, K, V, mask=None):
    return attend(Q, K, V, mask, math.sqrt(Q.shape[1]))


@mutant("attention", "scale after the softmax")
def _(Q, K, V, mask=None):
    return attend(Q, K, V, mask, 1.0) / math.sqrt(Q.shape[1])


@mutant("attention", "masked score set to 0")
def _(Q, K, V, mask=None):
    S = Q @ K.T / math.sqrt(Q.shape[1])
    if mask is not None:
        S = S * mask
    return torch.softmax(S, dim=-1) @ V


@mutant("attention", "mask added as a bias")
def _(Q, K, V, mask=None):
    S = Q @ K.T / Q.shape[1] ** 0.5
    return shares(S if mask is None else S + mask) @ V


@mutant("attention", "mask after the softmax")
def _(Q, K, V, mask=None):
    A = shares(Q @ K.T / Q.shape[1] ** 0.5)
    return (A if mask is None else np.where(mask, A, 0)) @ V


@mutant("attention", "mask inverted")
def _(Q, K, V, mask=None):
    S = Q @ K.T / Q.shape[1] ** 0.5
    return torch.softmax(S if mask is None else S.masked_fill(mask, -torch.inf), -1) @ V


@mutant("attention", "mask ignored")
def _(Q, K, V, mask=None):
    return F.scaled_dot_product_attention(Q, K, V)


@mutant("attention", "finite fill")
def _(Q, K, V, mask=None):
    S = Q @ K.mT / Q.shape[1] ** 0.5
    return F.softmax(S if mask is None else S.masked_fill(~mask, -1e4), -1) @ V


@mutant("attention", "empty row is NaN")
def _(Q, K, V, mask=None):
    S = Q @ K.T / Q.shape[1] ** 0.5
    if mask is not None:
        S = np.where(mask, S, -np.inf)
    A = np.exp(S)
    return A / A.sum(axis=1, keepdims=True) @ V


@mutant("attention", "softmax over the queries")
def _(Q, K, V, mask=None):
    S = Q @ K.T / Q.shape[1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask, -torch.inf)
    return S.softmax(0).nan_to_num() @ V


@mutant("attention", "K and V swapped")
def _(Q, K, V, mask=None):
    S = Q @ V.T / Q.shape[1] ** 0.5
    if mask is not None:
        S = np.where(mask, S, -1e30)
    return shares(S) @ K


@mutant("attention", "Q and K swapped")
def _(Q, K, V, mask=None):
    S = torch.einsum("jd,id->ji", K, Q) / Q.shape[1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask, -torch.inf)
    return S.softmax(-1) @ V


@mutant("attention", "Kᵀ missing")
def _(Q, K, V, mask=None):
    S = Q @ K / Q.shape[1] ** 0.5
    if mask is not None:
        S = np.where(mask, S, -1e30)
    return shares(S) @ V


@mutant("softmax", "−∞ replaced by a number")
def _(x):
    x = np.nan_to_num(x, neginf=0.0)
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def blind_is_zero(W, mask):
    return W if mask is None else np.where(np.any(mask, -1)[:, None], W, 0.0)


@mutant("attention", "finite fill")
def _(Q, K, V, mask=None):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    S = S if mask is None else np.where(mask, S, -1e4)
    return blind_is_zero(F.softmax(torch.from_numpy(S), -1).numpy(), mask) @ V


@mutant("attention_weights", "finite fill")
def _(S, mask):
    S = S + (1.0 - mask) * -1e9
    e = np.exp(S - S.max(1, keepdims=True))
    return blind_is_zero(e / e.sum(1, keepdims=True), mask)


@mutant("attention_weights", "one maximum for all rows")
def _(S, mask):
    e = np.exp(np.where(mask, S, -np.inf) - S[mask].max())
    return blind_is_zero(e / e.sum(1, keepdims=True), mask)


@mutant("attention", "one maximum for all rows")
def _(Q, K, V, mask=None):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    S = S if mask is None else np.where(mask, S, -np.inf)
    e = np.exp(S - S.max())
    total = e.sum(1, keepdims=True)
    return e / np.where(total > 0, total, 1.0) @ V


@mutant("attention", "an empty row empties all")
def _(Q, K, V, mask=None):
    if mask is not None and not mask.any(1).all():
        return np.zeros((len(Q), V.shape[1]))
    return attend(Q, K, V, mask, Q.shape[1] ** -0.5)
