"""Wrong answers, written as readers write them: in loops, einsum, torch, not as the grader does.

Each has the name by which the grader must call its mistake.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F

MUTANTS = []


def mutant(exercise, name):
    """Register a wrong answer to `exercise`, whose mistake has this `name`."""

    def register(function):
        MUTANTS.append((exercise, name, function))
        return function

    return register


def shares(rows):
    """Softmax of each row of a matrix, in plain Python; −∞ gets nothing."""
    out = []
    for row in rows:
        e = [math.exp(v) for v in row]
        out.append([v / sum(e) for v in e])
    return np.array(out)


# lesson 1


@mutant("merge_pair", "only the first pair replaced")
def _(ids, pair, new_id):
    for i in range(len(ids) - 1):
        if ids[i] == pair[0] and ids[i + 1] == pair[1]:
            return ids[:i] + [new_id] + ids[i + 2 :]
    return list(ids)


@mutant("merge_pair", "overlapping pairs")
def _(ids, pair, new_id):
    out = []
    for i, a in enumerate(ids):
        out.append(new_id if tuple(ids[i : i + 2]) == tuple(pair) else a)
    return out


@mutant("merge_pair", "order of the pair ignored")
def _(ids, pair, new_id):
    out = list(ids)
    i = 0
    while i < len(out) - 1:
        if {out[i], out[i + 1]} == set(pair) and sorted(out[i : i + 2]) == sorted(pair):
            out[i : i + 2] = [new_id]
        i += 1
    return out


@mutant("merge_pair", "replaced from the right")
def _(ids, pair, new_id):
    out, i = [], len(ids) - 1
    while i >= 0:
        if i > 0 and (ids[i - 1], ids[i]) == pair:
            out.insert(0, new_id)
            i -= 2
        else:
            out.insert(0, ids[i])
            i -= 1
    return out


def learn(words, n, choose, keep=lambda words: words):
    pieces = [list(word.encode()) for word in keep(words)]
    merges = []
    for r in range(n):
        pairs = [pair for piece in pieces for pair in zip(piece, piece[1:])]
        if not pairs:
            break
        best = choose(pairs)
        merges.append(best)
        for piece in pieces:
            i = 0
            while i < len(piece) - 1:
                if (piece[i], piece[i + 1]) == best:
                    piece[i : i + 2] = [256 + r]
                i += 1
    return merges


@mutant("train_bpe", "ties by first seen")
def _(words, n_merges):
    return learn(words, n_merges, lambda pairs: max(pairs, key=pairs.count))


@mutant("train_bpe", "ties by largest pair")
def _(words, n_merges):
    return learn(words, n_merges, lambda pairs: max(pairs, key=lambda p: (pairs.count(p), p)))


@mutant("train_bpe", "repeated words not counted")
def _(words, n_merges):
    return learn(words, n_merges, lambda pairs: min(pairs, key=lambda p: (-pairs.count(p), p)), set)


@mutant("train_bpe", "pairs across words")
def _(words, n_merges):
    return learn(
        words,
        n_merges,
        lambda pairs: min(pairs, key=lambda p: (-pairs.count(p), p)),
        lambda words: ["".join(words)],
    )


@mutant("train_bpe", "pairs counted once")
def _(words, n_merges):
    counts = {}
    for word in words:
        data = word.encode()
        for pair in zip(data, data[1:]):
            counts[pair] = counts.get(pair, 0) + 1
    return sorted(counts, key=lambda p: (-counts[p], p))[:n_merges]


@mutant("bpe_encode", "merged greedily from the left")
def _(word, merges):
    ids, i = list(word.encode()), 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) in merges:
            ids[i : i + 2] = [256 + merges.index((ids[i], ids[i + 1]))]
            i = 0
        else:
            i += 1
    return ids


@mutant("bpe_encode", "highest rank first")
def _(word, merges):
    ids = list(word.encode())
    while True:
        found = [merges.index(p) for p in zip(ids, ids[1:]) if p in merges]
        if not found:
            return ids
        r = max(found)
        i = list(zip(ids, ids[1:])).index(merges[r])
        ids[i : i + 2] = [256 + r]


@mutant("bpe_encode", "characters instead of bytes")
def _(word, merges):
    ids = [ord(c) for c in word]
    while True:
        found = [(merges.index(p), i) for i, p in enumerate(zip(ids, ids[1:])) if p in merges]
        if not found:
            return ids
        r, i = min(found)
        ids[i : i + 2] = [256 + r]


# lesson 2


@mutant("embed", "×√d_model forgotten")
def _(ids, E):
    return np.stack([E[i] for i in ids])


@mutant("embed", "multiplied by d_model")
def _(ids, E):
    return F.embedding(ids, E) * E.shape[1]


@mutant("embed", "√V instead of √d_model")
def _(ids, E):
    return torch.nn.functional.one_hot(ids, len(E)).to(E.dtype) @ E * math.sqrt(len(E))


@mutant("sinusoidal_positions", "an exponent of its own for each column")
def _(n, d_model):
    P = np.zeros((n, d_model))
    for pos in range(n):
        for i in range(d_model):
            angle = pos / 10000 ** (2 * i / d_model)
            P[pos, i] = math.cos(angle) if i % 2 else math.sin(angle)
    return P


@mutant("sinusoidal_positions", "exponent grows with the column")
def _(n, d_model):
    i = torch.arange(d_model)
    angles = torch.arange(n)[:, None] / 10000.0 ** (i / d_model)
    return torch.where(i % 2 == 0, angles.sin(), angles.cos())


@mutant("sinusoidal_positions", "all sines first")
def _(n, d_model):
    angles = np.outer(np.arange(n), 1 / 10000 ** (np.arange(0, d_model, 2) / d_model))
    return np.hstack([np.sin(angles), np.cos(angles)])[:, :d_model]


@mutant("sinusoidal_positions", "positions counted from 1")
def _(n, d_model):
    P = np.empty((n, d_model))
    for pos in range(1, n + 1):
        for i in range(d_model):
            angle = pos / 10000 ** ((i - i % 2) / d_model)
            P[pos - 1, i] = math.cos(angle) if i % 2 else math.sin(angle)
    return P


@mutant("sinusoidal_positions", "sine and cosine exchanged")
def _(n, d_model):
    i = np.arange(d_model)
    return np.cos(np.arange(n)[:, None] / 10000 ** ((i - i % 2) / d_model) - (i % 2) * np.pi / 2)


# lessons 3 and 4


@mutant("raw_scores", "Kᵀ missing")
def _(Q, K):
    return torch.matmul(Q, K)


@mutant("raw_scores", "Q and K swapped")
def _(Q, K):
    return np.array([[float(q @ k) for q in Q] for k in K])


@mutant("raw_scores", "queries against queries")
def _(Q, K):
    return np.einsum("id,jd->ij", Q, Q)


@mutant("scores", "no scale")
def _(Q, K):
    return np.array([[sum(q * k) for k in K] for q in Q])


@mutant("scores", "divided by d_k")
def _(Q, K):
    return np.einsum("id,jd->ij", Q / np.sqrt(Q.shape[1]), K / np.sqrt(K.shape[1]))


@mutant("scores", "multiplied by √d_k")
def _(Q, K):
    return torch.einsum("id,jd->ij", Q, K) * K.shape[1] ** 0.5


@mutant("scores", "scale √n")
def _(Q, K):
    return Q @ K.T / np.sqrt(len(K))


@mutant("scores", "Q and K swapped")
def _(Q, K):
    return torch.matmul(K, Q.T) / math.sqrt(Q.shape[1])


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


def attend(Q, K, V, mask, scale, values=None):
    """Attention of readers: −∞, loops over the queries, an empty row is 0."""
    out = []
    for i, q in enumerate(Q):
        s = np.array([q @ k for k in K]) * scale
        seen = np.ones(len(K), bool) if mask is None else mask[i]
        e = np.where(seen, np.exp(s - s.max()), 0.0)
        out.append(e / (e.sum() or 1) @ V)
    return np.array(out)


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


# lesson 5


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


# lesson 6


@mutant("layer_norm", "variance divided by n − 1")
def _(X, gamma, beta, eps):
    return gamma * (X - X.mean(-1, keepdim=True)) / torch.sqrt(X.var(-1, keepdim=True) + eps) + beta


@mutant("layer_norm", "eps outside the root")
def _(X, gamma, beta, eps):
    return gamma * (X - X.mean(-1, keepdims=True)) / (X.std(-1, keepdims=True) + eps) + beta


@mutant("layer_norm", "eps left out")
def _(X, gamma, beta, eps):
    return gamma * (X - X.mean(-1, keepdims=True)) / X.std(-1, keepdims=True) + beta


@mutant("layer_norm", "over the tokens, not the features")
def _(X, gamma, beta, eps):
    return gamma * (X - X.mean(0)) / np.sqrt(X.var(0) + eps) + beta


@mutant("layer_norm", "over everything")
def _(X, gamma, beta, eps):
    return (X - X.mean()) / (X.var(correction=0) + eps).sqrt() * gamma + beta


@mutant("layer_norm", "divided by the variance")
def _(X, gamma, beta, eps):
    return gamma * (X - X.mean(-1, keepdims=True)) / (X.var(-1, keepdims=True) + eps) + beta


@mutant("layer_norm", "mean not subtracted")
def _(X, gamma, beta, eps):
    return F.rms_norm(X, X.shape[-1:], gamma, eps) + beta


@mutant("layer_norm", "gamma and beta left out")
def _(X, gamma, beta, eps):
    return F.layer_norm(X, X.shape[-1:], eps=eps)


@mutant("feed_forward", "no activation")
def _(X, W_1, b_1, W_2, b_2):
    return X @ (W_1 @ W_2) + b_1 @ W_2 + b_2


@mutant("feed_forward", "activation after the second layer")
def _(X, W_1, b_1, W_2, b_2):
    return F.relu((X @ W_1 + b_1) @ W_2 + b_2)


@mutant("feed_forward", "b_1 left out")
def _(X, W_1, b_1, W_2, b_2):
    return np.maximum(X @ W_1, 0) @ W_2 + b_2


@mutant("feed_forward", "b_2 left out")
def _(X, W_1, b_1, W_2, b_2):
    return F.linear(F.relu(F.linear(X, W_1.T, b_1)), W_2.T)


@mutant("feed_forward", "GELU instead of ReLU")
def _(X, W_1, b_1, W_2, b_2):
    return F.gelu(X @ W_1 + b_1) @ W_2 + b_2


@mutant("post_norm_block", "pre-norm")
def _(X, attend, feed_forward, norm_1, norm_2):
    X = X + attend(norm_1(X))
    return X + feed_forward(norm_2(X))


@mutant("post_norm_block", "no residual")
def _(X, attend, feed_forward, norm_1, norm_2):
    for sublayer, norm in ((attend, norm_1), (feed_forward, norm_2)):
        X = norm(sublayer(X))
    return X


@mutant("post_norm_block", "second residual from the block's input")
def _(X, attend, feed_forward, norm_1, norm_2):
    return norm_2(X + feed_forward(norm_1(X + attend(X))))


@mutant("post_norm_block", "second norm missing")
def _(X, attend, feed_forward, norm_1, norm_2):
    X = norm_1(X + attend(X))
    return X + feed_forward(X)


@mutant("post_norm_block", "norms exchanged")
def _(X, attend, feed_forward, norm_1, norm_2):
    X = norm_2(X + attend(X))
    return norm_1(X + feed_forward(X))


@mutant("pre_norm_block", "residual from the normed input")
def _(X, attend, feed_forward, norm_1, norm_2):
    for sublayer, norm in ((attend, norm_1), (feed_forward, norm_2)):
        X = norm(X)
        X = X + sublayer(X)
    return X


@mutant("pre_norm_block", "post-norm")
def _(X, attend, feed_forward, norm_1, norm_2):
    for sublayer, norm in ((attend, norm_1), (feed_forward, norm_2)):
        X = norm(X + sublayer(X))
    return X


@mutant("pre_norm_block", "no residual around the feed-forward")
def _(X, attend, feed_forward, norm_1, norm_2):
    return feed_forward(norm_2(X + attend(norm_1(X))))


@mutant("pre_norm_block", "attention and feed-forward side by side")
def _(X, attend, feed_forward, norm_1, norm_2):
    return attend(norm_1(X)) + feed_forward(norm_2(X)) + X


# lesson 7


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
