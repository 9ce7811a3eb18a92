"""Wrong answers of lesson 5."""

import numpy as np
import torch
import torch.nn.functional as F

from mutants.parts import attend, mutant


@mutant("split_heads", "reshaped before transposing")
def _(X, n_heads):
    return X.reshape(n_heads, len(X), -1)


@mutant("split_heads", "reshaped before transposing")
def _(X, n_heads):
    return X.view(*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)


@mutant("split_heads", "features interleaved")
def _(X, n_heads):
    return np.stack([X[..., i::n_heads] for i in range(n_heads)], axis=-3)


@mutant("split_heads", "the head axis is not in front")
def _(X, n_heads):
    return X.unflatten(-1, (n_heads, X.shape[-1] // n_heads))


@mutant("split_heads", "tokens and features exchanged")
def _(X, n_heads):
    return np.array(np.split(X.T, n_heads))


@mutant("merge_heads", "merged without transposing back")
def _(heads):
    h, n, d = heads.shape
    return heads.reshape(n, h * d)


@mutant("merge_heads", "merged without transposing back")
def _(heads):
    return heads.contiguous().view(*heads.shape[:-3], heads.shape[-2], -1)


@mutant("merge_heads", "heads averaged")
def _(heads):
    return torch.mean(heads, dim=-3)


@mutant("merge_heads", "heads added")
def _(heads):
    return sum(heads[i] for i in range(len(heads)))


@mutant("merge_heads", "heads stacked along the tokens")
def _(heads):
    return np.concatenate(list(heads), axis=0)


@mutant("merge_heads", "features interleaved")
def _(heads):
    h, n, d = heads.shape
    return np.array([[heads[k % h, t, k // h] for k in range(h * d)] for t in range(n)])


def slices(W, h):
    d = W.shape[1] // h
    return [W[:, i * d : (i + 1) * d] for i in range(h)]


def heads_of(X, W_Q, W_K, W_V, h, mask, scale=None):
    """The list of the heads' outputs, made one head after another."""
    out = []
    for q, k, v in zip(slices(W_Q, h), slices(W_K, h), slices(W_V, h)):
        s = q.shape[1] ** -0.5 if scale is None else scale
        out.append(attend(X @ q, X @ k, X @ v, mask, s))
    return out


@mutant("multi_head_attention", "reshaped before transposing")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    n = len(X)
    Q, K, V = ((X @ W).reshape(n_heads, n, -1) for W in (W_Q, W_K, W_V))
    O = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    return torch.cat(list(O), dim=-1) @ W_O


@mutant("multi_head_attention", "merged without transposing back")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads = np.array(heads_of(X, W_Q, W_K, W_V, n_heads, mask))
    return heads.reshape(len(X), -1) @ W_O


@mutant(
    "multi_head_attention",
    "reshaped before transposing, and merged without transposing back",
)
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    n = X.shape[0]
    Q, K, V = (torch.reshape(X @ W, (n_heads, n, -1)) for W in (W_Q, W_K, W_V))
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask).reshape(n, -1) @ W_O


@mutant("multi_head_attention", "scale √d_model")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return np.hstack(heads_of(X, W_Q, W_K, W_V, n_heads, mask, X.shape[1] ** -0.5)) @ W_O


@mutant("multi_head_attention", "scale √h")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return np.hstack(heads_of(X, W_Q, W_K, W_V, n_heads, mask, n_heads**-0.5)) @ W_O


@mutant("multi_head_attention", "no scale")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return np.hstack(heads_of(X, W_Q, W_K, W_V, n_heads, mask, 1)) @ W_O


@mutant("multi_head_attention", "multiplied by √d_k")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_k = W_Q.shape[1] // n_heads
    return np.hstack(heads_of(X, W_Q, W_K, W_V, n_heads, mask, d_k**0.5)) @ W_O


@mutant("multi_head_attention", "scale after the softmax")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_k = W_Q.shape[1] // n_heads
    return np.hstack(heads_of(X, W_Q, W_K, W_V, n_heads, mask, 1)) @ W_O / d_k**0.5


@mutant("multi_head_attention", "W_O left out")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return np.hstack(heads_of(X, W_Q, W_K, W_V, n_heads, mask))


@mutant("multi_head_attention", "a head dropped")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads = heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    blocks = np.split(W_O, n_heads)
    return sum(head @ block for head, block in zip(heads[:-1], blocks))


@mutant("multi_head_attention", "heads averaged")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return np.mean(heads_of(X, W_Q, W_K, W_V, n_heads, mask), axis=0) @ W_O


@mutant("multi_head_attention", "heads averaged")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return sum(heads_of(X, W_Q, W_K, W_V, n_heads, mask)) / n_heads


@mutant("multi_head_attention", "each head reads a slice of X")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d, out = X.shape[1] // n_heads, []
    for i in range(n_heads):
        s = slice(i * d, (i + 1) * d)
        Q, K, V = (X[:, s] @ W[s, s] for W in (W_Q, W_K, W_V))
        out.append(F.scaled_dot_product_attention(Q, K, V, attn_mask=mask))
    return torch.cat(out, -1) @ W_O


@mutant("multi_head_attention", "one head")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return attend(X @ W_Q, X @ W_K, X @ W_V, mask, W_Q.shape[1] ** -0.5) @ W_O


@mutant("multi_head_attention", "W_O transposed")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return np.hstack(heads_of(X, W_Q, W_K, W_V, n_heads, mask)) @ W_O.T


@mutant("multi_head_attention", "softmax over the heads")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    S = torch.stack(
        [
            (X @ q) @ (X @ k).T / q.shape[1] ** 0.5
            for q, k in zip(slices(W_Q, n_heads), slices(W_K, n_heads))
        ]
    )
    if mask is not None:
        S = S.masked_fill(~mask, -torch.inf)
    A = S.softmax(0).nan_to_num()
    return torch.cat([a @ X @ v for a, v in zip(A, slices(W_V, n_heads))], -1) @ W_O


@mutant("multi_head_attention", "mask ignored")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return np.hstack(heads_of(X, W_Q, W_K, W_V, n_heads, None)) @ W_O


@mutant("multi_head_attention", "K and V swapped")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return np.hstack(heads_of(X, W_Q, W_V, W_K, n_heads, mask)) @ W_O


@mutant("multi_head_attention", "Q and K swapped")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return np.hstack(heads_of(X, W_K, W_Q, W_V, n_heads, mask)) @ W_O


@mutant("multi_head_attention", "the keys of head 0 for all heads")
def _(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_k, d_v = W_Q.shape[1] // n_heads, W_V.shape[1] // n_heads
    K = (X @ W_K)[:, :d_k]
    outputs = []
    for i in range(n_heads):
        Q = (X @ W_Q)[:, i * d_k : (i + 1) * d_k]
        V = (X @ W_V)[:, i * d_v : (i + 1) * d_v]
        outputs.append(attend(Q, K, V, mask, d_k**-0.5))
    return np.hstack(outputs) @ W_O
