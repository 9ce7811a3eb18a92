"""Right answers to every exercise, at least two each, written in ways that share no code.

Loops, matrices, einsum and torch; with legitimate variants such as an additive −∞ mask, scaling Q
first, another order of summation, float32.
"""

import math
from collections import Counter, defaultdict

import numpy as np
import torch
import torch.nn.functional as F

SOLUTIONS = defaultdict(list)


def solution(function):
    """Register a right answer; `split_heads__loops` answers `split_heads`."""
    SOLUTIONS[function.__name__.split("__")[0]].append(function)
    return function


# lesson 1


@solution
def merge_pair__loop(ids, pair, new_id):
    out = []
    for i in ids:
        if out and not out[-1][1] and (out[-1][0], i) == tuple(pair):
            out[-1] = (new_id, True)
        else:
            out.append((i, False))
    return [i for i, _ in out]


@solution
def merge_pair__recursive(ids, pair, new_id):
    if len(ids) < 2:
        return list(ids)
    if (ids[0], ids[1]) == pair:
        return [new_id] + merge_pair__recursive(ids[2:], pair, new_id)
    return [ids[0]] + merge_pair__recursive(ids[1:], pair, new_id)


@solution
def train_bpe__counting(words, n_merges):
    words = [list(word.encode("utf-8")) for word in words]
    merges = []
    for r in range(n_merges):
        counts = Counter()
        for word in words:
            counts.update(zip(word, word[1:]))
        if not counts:
            return merges
        top = max(counts.values())
        pair = min(p for p, c in counts.items() if c == top)
        merges.append(pair)
        words = [merge_pair__recursive(word, pair, 256 + r) for word in words]
    return merges


@solution
def train_bpe__sorting(words, n_merges):
    corpus = Counter(tuple(word.encode()) for word in words)
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for word, n in corpus.items():
            for i in range(len(word) - 1):
                counts[word[i : i + 2]] = counts.get(word[i : i + 2], 0) + n
        ranked = sorted((-n, *pair) for pair, n in counts.items())
        if not ranked:
            break
        merges.append(ranked[0][1:])
        new = Counter()
        for word, n in corpus.items():
            new[tuple(merge_pair__loop(word, merges[-1], 255 + len(merges)))] += n
        corpus = new
    return [list(pair) for pair in merges]


@solution
def bpe_encode__replay(word, merges):
    ids = list(word.encode())
    for r, pair in enumerate(merges):
        ids = merge_pair__loop(ids, pair, 256 + r)
    return ids


@solution
def bpe_encode__one_at_a_time(word, merges):
    ids = list(word.encode())
    merges = [tuple(pair) for pair in merges]
    while True:
        pairs = [(merges.index(p), i) for i, p in enumerate(zip(ids, ids[1:])) if p in merges]
        if not pairs:
            return ids
        r, i = min(pairs)
        ids = ids[:i] + [256 + r] + ids[i + 2 :]


# lesson 2


@solution
def embed__rows(ids, E):
    return np.array([[value * math.sqrt(len(E[i])) for value in E[i]] for i in ids])


@solution
def embed__one_hot(ids, E):
    return np.sqrt(E.shape[1]) * np.eye(len(E))[ids] @ E


@solution
def embed__torch(ids, E):
    return F.embedding(ids, E) * E.shape[-1] ** 0.5


@solution
def sinusoidal_positions__loops(n, d_model):
    P = np.zeros((n, d_model))
    for pos in range(n):
        for i in range(0, d_model, 2):
            P[pos, i] = math.sin(pos / 10000 ** (i / d_model))
            if i + 1 < d_model:
                P[pos, i + 1] = math.cos(pos / 10000 ** (i / d_model))
    return P


@solution
def sinusoidal_positions__log_space_torch(n, d_model):
    speed = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angles = torch.arange(n)[:, None] * speed
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model]


@solution
def sinusoidal_positions__phase(n, d_model):
    column = np.arange(d_model)
    angles = np.outer(np.arange(n), 10000.0 ** (-(column - column % 2) / d_model))
    return np.sin(angles + (column % 2) * np.pi / 2)


# lessons 3 and 4


@solution
def raw_scores__loops(Q, K):
    return np.array([[sum(a * b for a, b in zip(q, k)) for k in K] for q in Q])


@solution
def raw_scores__einsum(Q, K):
    return np.einsum("...id,...jd->...ij", Q, K)


@solution
def raw_scores__torch(Q, K):
    return torch.matmul(Q, K.transpose(-2, -1))


@solution
def scores__loops(Q, K):
    S = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            S[i, j] = np.dot(Q[i], K[j]) / math.sqrt(len(K[j]))
    return S


@solution
def scores__scaling_q_first(Q, K):
    return (Q / np.sqrt(Q.shape[-1])) @ K.T


@solution
def scores__both_by_the_fourth_root(Q, K):
    root = Q.shape[-1] ** 0.25
    return torch.einsum("...id,...jd->...ij", Q / root, K / root)


@solution
def scores__float32(Q, K):
    return (Q.astype(np.float32) @ K.astype(np.float32).T) / np.float32(Q.shape[-1]) ** 0.5


@solution
def softmax__rows(x):
    def one(row):
        top = max(row)
        parts = [math.exp(value - top) for value in row]
        return [part / sum(parts) for part in parts]

    return np.apply_along_axis(one, -1, x)


@solution
def softmax__log_sum_exp(x):
    return np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True))


@solution
def softmax__torch(x):
    return torch.softmax(x, dim=-1)


@solution
def causal_mask__loops(n_q, n_k):
    return np.array([[j - n_k <= i - n_q for j in range(n_k)] for i in range(n_q)])


@solution
def causal_mask__compare(n_q, n_k):
    return np.arange(n_k)[None, :] <= np.arange(n_k - n_q, n_k)[:, None]


@solution
def causal_mask__torch(n_q, n_k):
    return torch.ones(n_q, n_k, dtype=torch.bool).tril(diagonal=n_k - n_q)


@solution
def causal_mask__not_triu(n_q, n_k):
    return ~np.triu(np.ones((n_q, n_k), dtype=bool), k=1 + n_k - n_q)


@solution
def padding_mask__loops(lengths, n_k):
    return np.array([[[j < length for j in range(n_k)]] for length in lengths])


@solution
def padding_mask__compare(lengths, n_k):
    return (np.arange(n_k)[None, :] < lengths[:, None])[:, np.newaxis, :]


@solution
def padding_mask__torch(lengths, n_k):
    return (torch.arange(n_k) < lengths.unsqueeze(-1)).unsqueeze(1)


@solution
def attention_weights__loops(S, mask):
    A = np.zeros(S.shape)
    for i, row in enumerate(S):
        seen = [j for j in range(len(row)) if mask[i][j]]
        if not seen:
            continue
        top = max(row[j] for j in seen)
        total = sum(math.exp(row[j] - top) for j in seen)
        for j in seen:
            A[i, j] = math.exp(row[j] - top) / total
    return A


@solution
def attention_weights__additive_infinity(S, mask):
    S = S + np.where(mask, 0.0, -np.inf)
    top = S.max(axis=-1, keepdims=True)
    exp = np.exp(S - np.where(np.isinf(top), 0, top))
    total = exp.sum(axis=-1, keepdims=True)
    return np.divide(exp, total, out=np.zeros_like(exp), where=total > 0)


@solution
def attention_weights__torch(S, mask):
    return torch.softmax(S.masked_fill(~mask, float("-inf")), dim=-1).nan_to_num(0.0)


@solution
def attention__loops(Q, K, V, mask=None):
    n_q, n_k, d_v = len(Q), len(K), V.shape[1]
    O = np.zeros((n_q, d_v))
    for i in range(n_q):
        seen = [j for j in range(n_k) if mask is None or mask[i, j]]
        s = [float(Q[i] @ K[j]) / math.sqrt(len(Q[i])) for j in seen]
        e = [math.exp(value - max(s)) for value in s]
        for share, j in zip(e, seen):
            O[i] += share / sum(e) * V[j]
    return O


@solution
def attention__scaled_q_additive_mask(Q, K, V, mask=None):
    S = np.einsum("...id,...jd->...ij", Q / np.sqrt(Q.shape[-1]), K)
    if mask is not None:
        S = S + np.where(mask, 0.0, -np.inf)
    e = np.exp(S - np.maximum(S.max(-1, keepdims=True), -1e30))
    # values first, the sum afterwards: another order of summation
    O, total = e @ V, e.sum(-1, keepdims=True)
    return O / np.where(total == 0, 1, total)


@solution
def attention__torch_by_hand(Q, K, V, mask=None):
    S = Q @ K.mT / math.sqrt(K.size(-1))
    if mask is not None:
        S = S.masked_fill(mask.logical_not(), -torch.inf)
    return torch.nan_to_num(S.softmax(-1)) @ V


@solution
def attention__torch_library(Q, K, V, mask=None):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask).nan_to_num(0.0)


@solution
def attention__float32(Q, K, V, mask=None):
    return attention__loops(*(A.astype(np.float32) for A in (Q, K, V)), mask).astype(np.float32)


# lesson 5


@solution
def split_heads__slices(X, n_heads):
    width = X.shape[-1] // n_heads
    heads = [X[..., i * width : (i + 1) * width] for i in range(n_heads)]
    return np.stack(heads, axis=-3)


@solution
def split_heads__loops(X, n_heads):
    *batch, n, width = X.shape
    d = width // n_heads
    out = np.empty((*batch, n_heads, n, d), X.dtype)
    for i in range(n_heads):
        for t in range(n):
            for j in range(d):
                out[..., i, t, j] = X[..., t, i * d + j]
    return out


@solution
def split_heads__torch(X, n_heads):
    return X.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


@solution
def split_heads__np_split(X, n_heads):
    return np.moveaxis(np.array(np.split(X, n_heads, axis=-1)), 0, -3)


@solution
def merge_heads__concatenate(heads):
    return np.concatenate([heads[..., i, :, :] for i in range(heads.shape[-3])], axis=-1)


@solution
def merge_heads__torch(heads):
    return heads.movedim(-3, -2).flatten(-2)


@solution
def merge_heads__swap_and_reshape(heads):
    *batch, h, n, d = heads.shape
    return np.swapaxes(heads, -3, -2).reshape([*batch, n, h * d])


@solution
def multi_head_attention__loop_over_heads(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    parts = (np.array_split(W, n_heads, axis=1) for W in (W_Q, W_K, W_V))
    heads = [attention__loops(X @ q, X @ k, X @ v, mask) for q, k, v in zip(*parts)]
    return np.hstack(heads) @ W_O


@solution
def multi_head_attention__sum_of_heads(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    total = 0
    for q, k, v, o in zip(
        *(np.split(W, n_heads, axis=1) for W in (W_Q, W_K, W_V)), np.split(W_O, n_heads)
    ):
        total = total + attention__scaled_q_additive_mask(X @ q, X @ k, X @ (v @ o), mask)
    return total


@solution
def multi_head_attention__einsum(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d = X.shape[-1]
    q, k, v = (
        np.einsum("...nd,dhk->...hnk", X, W.reshape(d, n_heads, -1)) for W in (W_Q, W_K, W_V)
    )
    S = np.einsum("...hik,...hjk->...hij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        S = np.where(mask, S, -np.inf)
    A = np.exp(S - np.maximum(S.max(-1, keepdims=True), -1e300))
    A = A / np.maximum(A.sum(-1, keepdims=True), 1e-300)
    return np.einsum("...hij,...hjv,hvd->...id", A, v, W_O.reshape(n_heads, -1, d))


@solution
def multi_head_attention__torch(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads__torch(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads__torch(attention__torch_by_hand(q, k, v, mask)) @ W_O


# lesson 6


@solution
def layer_norm__rows(X, gamma, beta, eps):
    def one(x):
        m = sum(x) / len(x)
        s = math.sqrt(sum((v - m) ** 2 for v in x) / len(x) + eps)
        return [g * (v - m) / s + b for v, g, b in zip(x, gamma, beta)]

    return np.apply_along_axis(one, -1, X)


@solution
def layer_norm__std_free(X, gamma, beta, eps):
    mean = X.mean(axis=-1, keepdims=True)
    var = (X**2).mean(axis=-1, keepdims=True) - mean**2
    return (X - mean) * (var + eps) ** -0.5 * gamma + beta


@solution
def layer_norm__torch(X, gamma, beta, eps):
    return F.layer_norm(X, X.shape[-1:], gamma, beta, eps)


@solution
def feed_forward__token_by_token(X, W_1, b_1, W_2, b_2):
    out = np.empty_like(X)
    for place in np.ndindex(X.shape[:-1]):
        hidden = [max(0.0, float(X[place] @ column) + b) for column, b in zip(W_1.T, b_1)]
        out[place] = sum(value * row for value, row in zip(hidden, W_2)) + b_2
    return out


@solution
def feed_forward__clip(X, W_1, b_1, W_2, b_2):
    return np.einsum("...f,fd->...d", np.clip(X @ W_1 + b_1, 0, None), W_2) + b_2


@solution
def feed_forward__torch(X, W_1, b_1, W_2, b_2):
    return F.linear(torch.relu(F.linear(X, W_1.T, b_1)), W_2.T, b_2)


@solution
def post_norm_block__steps(X, attend, feed_forward, norm_1, norm_2):
    after_attention = norm_1(X + attend(X))
    return norm_2(after_attention + feed_forward(after_attention))


@solution
def post_norm_block__torch(X, attend, feed_forward, norm_1, norm_2):
    for sublayer, norm in ((attend, norm_1), (feed_forward, norm_2)):
        X = norm(torch.add(sublayer(X), X))
    return X


@solution
def pre_norm_block__steps(X, attend, feed_forward, norm_1, norm_2):
    stream = X + attend(norm_1(X))
    return stream + feed_forward(norm_2(stream))


@solution
def pre_norm_block__torch(X, attend, feed_forward, norm_1, norm_2):
    for sublayer, norm in ((attend, norm_1), (feed_forward, norm_2)):
        X = torch.add(X, sublayer(norm(X)))
    return X


# lesson 7


@solution
def tied_logits__loops(X, E):
    return np.apply_along_axis(lambda x: [sum(a * b for a, b in zip(x, e)) for e in E], -1, X)


@solution
def tied_logits__torch(X, E):
    return F.linear(X, E)


@solution
def tied_logits__einsum(X, E):
    return np.einsum("...d,vd->...v", X, E)


@solution
def tied_head__closure(E):
    def head(X):
        return np.inner(X, E)

    return head


@solution
def tied_head__view(E):
    E_T = E.T  # a view: the same numbers
    return lambda X: X @ E_T


@solution
def tied_head__torch_module(E):
    head = torch.nn.Linear(E.shape[1], E.shape[0], bias=False)
    head.weight = torch.nn.Parameter(E)  # shares the table
    return head


@solution
def next_token_loss__loop(logits, ids):
    losses = []
    for t in range(len(ids) - 1):
        row = logits[t] - max(logits[t])
        losses.append(math.log(sum(math.exp(v) for v in row)) - row[ids[t + 1]])
    return sum(losses) / len(losses)


@solution
def next_token_loss__numpy(logits, ids):
    log_total = np.logaddexp.reduce(logits, axis=-1)
    return (log_total[:-1] - np.take_along_axis(logits[:-1], ids[1:, None], -1)[:, 0]).mean()


@solution
def next_token_loss__torch(logits, ids):
    return F.cross_entropy(logits[:-1], ids[1:])


@solution
def top_k_filter__repeated_maximum(logits, k):
    out = np.full(len(logits), -np.inf)
    left = logits.copy()
    for _ in range(k):
        i = int(np.argmax(left))
        out[i], left[i] = logits[i], -np.inf
    return out


@solution
def top_k_filter__sorted(logits, k):
    kept = sorted(range(len(logits)), key=lambda i: (-logits[i], i))[:k]
    return np.array([value if i in kept else -np.inf for i, value in enumerate(logits)])


@solution
def top_k_filter__torch(logits, k):
    order = torch.argsort(logits, descending=True, stable=True)
    return logits.index_fill(0, order[k:], -torch.inf)


@solution
def top_p_filter__loop(logits, p):
    shares = [math.exp(v - max(logits)) for v in logits]
    shares = [s / sum(shares) for s in shares]
    out, total = np.full(len(logits), -np.inf), 0.0
    for i in sorted(range(len(logits)), key=lambda i: -logits[i]):
        out[i] = logits[i]
        total += shares[i]
        if total >= p:
            break
    return out


@solution
def top_p_filter__torch(logits, p):
    values, order = logits.sort(descending=True, stable=True)
    shares = values.softmax(-1)
    cut = shares.cumsum(-1) - shares >= p
    return logits.index_fill(0, order[cut], -torch.inf)


@solution
def top_p_filter__searchsorted(logits, p):
    order = np.lexsort((np.arange(len(logits)), -logits))
    shares = np.exp(logits - logits.max())
    total = np.cumsum(shares[order]) / shares.sum()
    kept = order[: np.searchsorted(total, p) + 1]
    return np.where(np.isin(np.arange(len(logits)), kept), logits, -np.inf)


@solution
def cached_attention__two_arrays(X_new, W_Q, W_K, W_V, cache):
    K, V = X_new @ W_K, X_new @ W_V
    if cache is not None:
        K, V = np.vstack([cache["K"], K]), np.vstack([cache["V"], V])
    mask = causal_mask__compare(len(X_new), len(K))
    return attention__loops(X_new @ W_Q, K, V, mask), {"K": K, "V": V}


@solution
def cached_attention__token_by_token(X_new, W_Q, W_K, W_V, cache):
    pairs, out = list(cache or []), []
    for x in X_new:
        pairs.append((x @ W_K, x @ W_V))
        q = x @ W_Q
        e = np.exp(np.array([q @ k for k, _ in pairs]) / math.sqrt(len(q)))
        out.append(sum(w * v for w, (_, v) in zip(e / e.sum(), pairs)))
    return np.array(out), pairs


@solution
def cached_attention__torch(X_new, W_Q, W_K, W_V, cache):
    K, V = X_new @ W_K, X_new @ W_V
    if cache is not None:
        K, V = torch.cat([cache[0], K]), torch.cat([cache[1], V])
    mask = causal_mask__torch(len(X_new), len(K))
    return F.scaled_dot_product_attention(X_new @ W_Q, K, V, attn_mask=mask), (K, V)


@solution
def cached_attention__keeps_the_tokens(X_new, W_Q, W_K, W_V, cache):
    X = X_new if cache is None else np.concatenate([cache, X_new])
    O = multi_head_attention__loop_over_heads(
        X, W_Q, W_K, W_V, np.eye(W_V.shape[1]), 1, np.tri(len(X), dtype=bool)
    )
    return O[-len(X_new) :], X
