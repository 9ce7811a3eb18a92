"""Wrong answers of lesson 7."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from mutants.parts import attend, mutant


@mutant("tied_logits", "Eᵀ missing")
def _(X, E):
    return torch.matmul(X, E)


@mutant("tied_logits", "probabilities returned")
def _(X, E):
    return F.softmax(F.linear(X, E), dim=-1)


@mutant("tied_logits", "cosine instead of dot product")
def _(X, E):
    return np.array([[x @ e / math.sqrt(e @ e) for e in E] for x in X])


@mutant("tied_head", "tied head copied, not shared")
def _(E):
    head = torch.nn.Linear(E.shape[1], E.shape[0], bias=False)
    with torch.no_grad():
        head.weight.copy_(E)
    return head


@mutant("tied_head", "tied head copied, not shared")
def _(E):
    rows = [tuple(row) for row in E]
    return lambda X: np.array([[np.dot(x, row) for row in rows] for x in X])


@mutant("next_token_loss", "labels not shifted")
def _(logits, ids):
    return F.cross_entropy(logits, ids)


@mutant("next_token_loss", "labels shifted twice")
def _(logits, ids):
    targets = ids[1:]
    return F.cross_entropy(logits[:-1][:-1], targets[1:])


@mutant("next_token_loss", "labels shifted the wrong way")
def _(logits, ids):
    return F.cross_entropy(logits[1:], ids[:-1])


@mutant("next_token_loss", "labels rolled round")
def _(logits, ids):
    return F.cross_entropy(logits, torch.roll(ids, -1))


@mutant("next_token_loss", "summed, not averaged")
def _(logits, ids):
    return F.cross_entropy(logits[:-1], ids[1:], reduction="sum")


@mutant("next_token_loss", "logarithm to base 2")
def _(logits, ids):
    return F.cross_entropy(logits[:-1], ids[1:]) / math.log(2)


@mutant("next_token_loss", "no softmax")
def _(logits, ids):
    return -sum(logits[t, ids[t + 1]] for t in range(len(ids) - 1)) / (len(ids) - 1)


@mutant("next_token_loss", "logarithm of a rounded 0")
def _(logits, ids):
    p = torch.softmax(logits, -1)
    return -torch.log(p[torch.arange(len(ids) - 1), ids[1:]]).mean()


@mutant("next_token_loss", "maximum not subtracted")
def _(logits, ids):
    total = 0.0
    for row, target in zip(logits[:-1], ids[1:]):
        total += np.log(np.exp(row).sum()) - row[target]
    return total / (len(ids) - 1)


@mutant("top_k_filter", "others set to 0 instead of −∞")
def _(logits, k):
    order = sorted(range(len(logits)), key=lambda i: -logits[i])
    return np.array([value if i in order[:k] else 0.0 for i, value in enumerate(logits)])


@mutant("top_k_filter", "equal logits let too many in")
def _(logits, k):
    return logits.masked_fill(logits < torch.topk(logits, k).values[-1], -torch.inf)


@mutant("top_k_filter", "the smallest kept")
def _(logits, k):
    order = torch.argsort(logits, stable=True)
    return logits.index_fill(0, order[k:], -torch.inf)


@mutant("top_k_filter", "one too many")
def _(logits, k):
    order = torch.argsort(logits, descending=True, stable=True)
    return logits.index_fill(0, order[k + 1 :], -torch.inf)


@mutant("top_k_filter", "only the kept logits returned")
def _(logits, k):
    return torch.topk(logits, k).values


def kept(logits, ids):
    return np.array([value if i in ids else -np.inf for i, value in enumerate(logits)])


@mutant("top_p_filter", "stopped before p is reached")
def _(logits, p):
    total, ids = 0.0, []
    probabilities = np.exp(logits) / np.exp(logits).sum()
    for i in np.argsort(-logits):
        total += probabilities[i]
        if total >= p:
            break
        ids.append(i)
    return kept(logits, ids)


@mutant("top_p_filter", "each probability compared with p")
def _(logits, p):
    return logits.masked_fill(torch.softmax(logits, -1) < p, -torch.inf)


@mutant("top_p_filter", "least likely first")
def _(logits, p):
    values, order = torch.sort(logits, stable=True)
    before = values.softmax(-1).cumsum(-1) - values.softmax(-1)
    return logits.index_fill(0, order[before >= p], -torch.inf)


@mutant("top_p_filter", "not sorted")
def _(logits, p):
    total, ids = 0.0, []
    for i, share in enumerate(np.exp(logits) / np.exp(logits).sum()):
        ids.append(i)
        total += share
        if total >= p:
            break
    return kept(logits, ids)


@mutant("top_p_filter", "others set to 0 instead of −∞")
def _(logits, p):
    values, order = logits.sort(descending=True)
    before = values.softmax(-1).cumsum(-1) - values.softmax(-1)
    return logits.index_fill(0, order[before >= p], 0.0)


def with_cache(X_new, W_Q, W_K, W_V, cache, mask):
    K, V = X_new @ W_K, X_new @ W_V
    if cache is not None:
        K, V = torch.cat([cache[0], K]), torch.cat([cache[1], V])
    return F.scaled_dot_product_attention(X_new @ W_Q, K, V, **mask(len(X_new), len(K))), (K, V)


@mutant("cached_attention", "top-left causal mask")
def _(X_new, W_Q, W_K, W_V, cache):
    return with_cache(X_new, W_Q, W_K, W_V, cache, lambda n_q, n_k: {"is_causal": True})


@mutant("cached_attention", "no mask inside a piece")
def _(X_new, W_Q, W_K, W_V, cache):
    return with_cache(X_new, W_Q, W_K, W_V, cache, lambda n_q, n_k: {})


@mutant("cached_attention", "cache ignored")
def _(X_new, W_Q, W_K, W_V, cache):
    n = len(X_new)
    return attend(
        X_new @ W_Q, X_new @ W_K, X_new @ W_V, np.tri(n, dtype=bool), W_Q.shape[1] ** -0.5
    ), "nothing kept"


@mutant("cached_attention", "cache not extended")
def _(X_new, W_Q, W_K, W_V, cache):
    K, V = X_new @ W_K, X_new @ W_V
    if cache is None:
        cache = K, V
    else:
        K, V = np.vstack([cache[0], K]), np.vstack([cache[1], V])
    mask = np.tri(len(X_new), len(K), len(K) - len(X_new), dtype=bool)
    return attend(X_new @ W_Q, K, V, mask, W_Q.shape[1] ** -0.5), cache


@mutant("cached_attention", "new token not among the keys")
def _(X_new, W_Q, W_K, W_V, cache):
    K, V = X_new @ W_K, X_new @ W_V
    if cache is None:
        mask = np.tri(len(X_new), dtype=bool)
        return attend(X_new @ W_Q, K, V, mask, W_Q.shape[1] ** -0.5), (K, V)
    O = attend(X_new @ W_Q, *cache, None, W_Q.shape[1] ** -0.5)
    return O, (np.vstack([cache[0], K]), np.vstack([cache[1], V]))


TABLES = {}


@mutant("tied_head", "one table for all heads")
def _(E):
    TABLES["E"] = E
    return lambda X: X @ TABLES["E"].T


@mutant("tied_head", "remembered from the first use")
def _(E):
    seen = {}

    def head(X):
        key = X.tobytes()
        if key not in seen:
            seen[key] = X @ E.T
        return seen[key]

    return head


@mutant("next_token_loss", "one maximum for all rows")
def _(logits, ids):
    x = logits[:-1] - logits.max()
    log_shares = x - np.log(np.exp(x).sum(-1, keepdims=True))
    return -np.mean([row[i] for row, i in zip(log_shares, ids[1:])])


@mutant("next_token_loss", "the last prediction is left out")
def _(logits, ids):
    return F.cross_entropy(logits[:-2], ids[1:-1])


@mutant("top_p_filter", "the sorted ones chosen, the unsorted ones kept")
def _(logits, p):
    shares = np.sort(np.exp(logits - logits.max()))[::-1]
    shares /= shares.sum()
    return np.where(np.cumsum(shares) - shares < p, logits, -np.inf)


@mutant("cached_attention", "scale √n")
def _(X_new, W_Q, W_K, W_V, cache):
    K, V = X_new @ W_K, X_new @ W_V
    if cache is not None:
        K, V = np.vstack([cache[0], K]), np.vstack([cache[1], V])
    mask = np.tri(len(X_new), len(K), len(K) - len(X_new), dtype=bool)
    return attend(X_new @ W_Q, K, V, mask, len(K) ** -0.5), (K, V)


STORE = []


@mutant("cached_attention", "kept outside the cache")
def _(X_new, W_Q, W_K, W_V, cache):
    if cache is None:
        STORE.clear()
    STORE.append(X_new)
    X = np.vstack(STORE)
    mask = np.tri(len(X_new), len(X), len(X) - len(X_new), dtype=bool)
    return attend(X_new @ W_Q, X @ W_K, X @ W_V, mask, W_Q.shape[1] ** -0.5), "in STORE"
