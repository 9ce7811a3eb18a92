"""Answers as readers write them: unusual right ones, and wrong ones of every kind.

None of the wrong ones was written for a name that the grader knows.
"""

import math
from collections import Counter
from functools import lru_cache, partial

import numpy as np
import torch
import torch.nn.functional as F

import mhalib
import mhalib.torch
from mhalib.checks import EXERCISES

RIGHT, WRONG = [], []


def right(name, *functions):
    RIGHT.extend((name, function) for function in functions)


def wrong(name, *functions):
    WRONG.extend((name, function) for function in functions)


def soft(S):
    e = np.exp(S - S.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def masked(S, mask):
    return S if mask is None else np.where(mask, S, -np.inf)


def guarded(S, mask):
    W = np.zeros(S.shape)
    seeing = np.ones(len(S), bool) if mask is None else mask.any(-1)
    W[seeing] = soft(masked(S, mask)[seeing])
    return W


# lesson 1


def merge(ids, pair, new_id):
    out, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == tuple(pair):
            out.append(new_id)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def merge_while(ids, pair, new_id):
    ids = list(ids)
    i = 0
    while i < len(ids) - 1:
        if ids[i] == pair[0] and ids[i + 1] == pair[1]:
            ids[i : i + 2] = [new_id]
        i += 1
    return ids


def merge_text(ids, pair, new_id):
    text = "," + ",,".join(map(str, ids)) + ","
    text = text.replace(f",{pair[0]},,{pair[1]},", f",{new_id},")
    return [int(i) for i in text.replace(",,", ",").strip(",").split(",")] if ids else []


def merge_printing(ids, pair, new_id):
    print("merging", pair)
    return tuple(merge(ids, pair, new_id))


right(
    "merge_pair",
    mhalib.tokenizer.merge_pair,
    merge_while,
    merge_text,
    merge_printing,
    lambda ids, pair, new_id: np.array(merge(ids, pair, new_id), int),
    lambda *, ids, pair, new_id: merge(ids, pair, new_id),
)


def by_bytes(ids, pair, new_id):
    return list(bytes(ids).replace(bytes(pair), bytes([new_id])))


def pop_in_loop(ids, pair, new_id):
    out = list(ids)
    for i in range(len(out) - 1):
        if (out[i], out[i + 1]) == tuple(pair):
            out[i] = new_id
            out.pop(i + 1)
    return out


def drops_last(ids, pair, new_id):
    out, i = [], 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) == pair:
            out.append(new_id)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def list_is_tuple(ids, pair, new_id):
    out, i = [], 0
    while i < len(ids):
        if ids[i : i + 2] == pair:
            out.append(new_id)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def first_only_compared(ids, pair, new_id):
    out, i = [], 0
    while i < len(ids):
        if ids[i] == pair[0]:
            out.append(new_id)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def writes_into_input(ids, pair, new_id):
    i = 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) == pair:
            ids[i : i + 2] = [new_id]
        i += 1
    return ids


def default_list(ids, pair, new_id, out=[]):  # noqa: B006
    out.extend(merge(ids, pair, new_id))
    return list(out)


wrong(
    "merge_pair",
    by_bytes,
    pop_in_loop,
    drops_last,
    list_is_tuple,
    first_only_compared,
    writes_into_input,
    default_list,
    lambda ids, pair, new_id: len(merge(ids, pair, new_id)),
    lambda ids, pair, new_id: merge(merge(ids, pair, new_id), pair[::-1], new_id),
    lambda ids, pair, new_id: merge(ids, pair, 256),
    lambda ids, pair, new_id: "".join(map(str, merge(ids, pair, new_id))),
    lambda ids, pair, new_id: [float(i) + 0.0 for i in merge(ids, pair, new_id)] + [math.inf],
    lambda ids, pair, new_id: sorted(merge(ids, pair, new_id)),
    lambda ids, pair, new_id: merge(ids, pair, new_id)[::-1],
    lambda ids, pair, new_id: [new_id, *merge(ids, pair, new_id)],
    lambda ids, pair, new_id: list(dict.fromkeys(merge(ids, pair, new_id))),
    lambda ids, pair, new_id: [new_id if i == pair[0] else i for i in ids if i != pair[1]],
)


def learn(words, n, key=lambda c, p: (-c[p], p), start=256, pairs=lambda w: zip(w, w[1:])):
    words = [list(w.encode()) for w in words]
    merges = []
    while len(merges) < n:
        counts = Counter(p for w in words for p in pairs(w))
        if not counts:
            break
        best = min(counts, key=lambda p: key(counts, p))
        words = [merge(w, best, start + len(merges)) for w in words]
        merges.append(best)
    return merges


def do_while(words, n_merges):
    merges = learn(words, 1)
    while len(merges) < n_merges and len(learn(words, len(merges) + 1)) > len(merges):
        merges = learn(words, len(merges) + 1)
    return merges


right(
    "train_bpe",
    learn,
    lambda words, n_merges: tuple(learn(words, n_merges)),
    lambda words, n_merges: [list(p) for p in learn(words, n_merges)],
    lambda words, n_merges: np.array(learn(words, n_merges), int).reshape(-1, 2),
)
wrong(
    "train_bpe",
    do_while,
    lambda words, n_merges: learn(words, n_merges, pairs=lambda w: set(zip(w, w[1:]))),
    lambda words, n_merges: learn(list(set(words)), n_merges),
    lambda words, n_merges: learn(sorted(words), n_merges, key=lambda c, p: -c[p]),
    lambda words, n_merges: learn(words, n_merges, start=257),
    lambda words, n_merges: learn(words, n_merges, key=lambda c, p: (-c[p], p[::-1])),
    lambda words, n_merges: learn([w.lower() + " " for w in words], n_merges),
    lambda words, n_merges: learn([w.encode().decode("latin-1") for w in words], n_merges),
    lambda words, n_merges: learn([" ".join(words)], n_merges),
    lambda words, n_merges: [p[0] * 256 + p[1] for p in learn(words, n_merges)],
    lambda words, n_merges: {p: 256 + r for r, p in enumerate(learn(words, n_merges))},
    lambda words, n_merges: [(p, 256 + r) for r, p in enumerate(learn(words, n_merges))],
    lambda words, n_merges: learn(words, n_merges)[::-1],
    lambda words, n_merges: learn(words, n_merges, pairs=lambda w: zip(w[::2], w[1::2])),
    lambda words, n_merges: learn(
        words, n_merges, pairs=lambda w: [tuple(sorted(p)) for p in zip(w, w[1:])]
    ),
    lambda words, n_merges: [tuple(map(chr, p)) for p in learn(words, n_merges)],
    lambda words, n_merges: learn([w for w in words if len(w) > 2], n_merges),
)


def ranks(word, merges, start=256):
    ids = list(word.encode())
    for r, p in enumerate(merges):
        ids = merge(ids, p, start + r)
    return ids


def restart(word, merges):
    ids = list(word.encode())
    again = True
    while again:
        again = False
        for r, p in enumerate(merges):
            new = merge(ids, p, 256 + r)
            if new != ids:
                ids, again = new, True
                break
    return ids


def left_to_right(word, merges):
    ids, table, i = list(word.encode()), {tuple(p): 256 + r for r, p in enumerate(merges)}, 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) in table:
            ids[i : i + 2] = [table[ids[i], ids[i + 1]]]
            i = 0
        else:
            i += 1
    return ids


def one_pass(word, merges):
    ids, table = list(word.encode()), {tuple(p): 256 + r for r, p in enumerate(merges)}
    out, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) in table:
            out.append(table[tuple(ids[i : i + 2])])
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


right(
    "bpe_encode",
    ranks,
    restart,
    lambda word, merges: (
        mhalib.tokenizer.Tokenizer(merges).encode(word)
        if word and word.isalpha() and word.isascii()
        else ranks(word, merges)
    ),
)
wrong(
    "bpe_encode",
    left_to_right,
    one_pass,
    lambda word, merges: ranks(word, merges, 255),
    lambda word, merges: ranks(word, merges, 1),
    lambda word, merges: ranks(word, sorted(merges)),
    lambda word, merges: ranks(word, merges[:-1]),
    lambda word, merges: ranks(word, merges[1:]),
    lambda word, merges: ranks(word.lower() + " ", merges),
    lambda word, merges: bytes(i % 256 for i in ranks(word, merges)),
    lambda word, merges: [ranks(word, merges)],
    lambda word, merges: ranks(word[::-1], merges),
    lambda word, merges: [ord(c) for c in word],
    lambda word, merges: list(word),
    lambda word, merges: ranks(word, [list(p) for p in merges])[:-1],
    lambda word, merges: ranks(word.encode("ascii", "ignore").decode(), merges),
)

# lesson 2

right(
    "embed",
    mhalib.embed,
    mhalib.torch.embed if hasattr(mhalib.torch, "embed") else mhalib.embed,
    lambda ids, E: torch.nn.functional.embedding(ids, E) * math.sqrt(E.shape[1]),
    lambda ids, E: E.take(ids, axis=0) * np.float32(E.shape[1]) ** 0.5,
    lambda ids, E: (E[ids] * np.sqrt(E.shape[-1])).astype(np.float16),
    lambda ids, E: np.stack([E[int(i)] for i in ids]) * len(E[0]) ** 0.5,
)
wrong(
    "embed",
    lambda ids, E: E[ids] * E.shape[1] ** 1 / 2,
    lambda ids, E: E[ids] * np.sqrt(E.size),
    lambda ids, E: E[ids] + np.sqrt(E.shape[1]),
    lambda ids, E: E[ids] * 8,
    lambda ids, E: E[sorted(ids)] * np.sqrt(E.shape[1]),
    lambda ids, E: E[np.unique(ids)] * np.sqrt(E.shape[1]),
    lambda ids, E: E[:, ids % E.shape[1]].T * np.sqrt(E.shape[1]),
    lambda ids, E: (E[ids] * np.sqrt(E.shape[1])).round(1),
    lambda ids, E: E[ids] * np.log(E.shape[1]),
    lambda ids, E: E[ids[::-1]] * np.sqrt(E.shape[1]),
    lambda ids, E: (
        E[ids] * np.sqrt(E.shape[1]) * (np.random.default_rng().random(E[ids].shape) > 0.1)
    ),
    lambda ids, E: E.__imul__(np.sqrt(E.shape[1]))[ids],
    lambda ids, E: np.sqrt(E[ids]) * E.shape[1],
    lambda ids, E: (E / E.std())[ids] * np.sqrt(E.shape[1]),
    lambda ids, E: E[ids].T * np.sqrt(E.shape[1]),
    lambda ids, E: F.dropout(F.embedding(ids, E) * E.shape[1] ** 0.5, 0.1),
)


def positions(n, d, exponent=lambda c, d: 2 * (c // 2) / d, base=10000.0, first=0):
    c = np.arange(d)
    a = (np.arange(n)[:, None] + first) / base ** exponent(c, d)
    return np.where(c % 2 == 0, np.sin(a), np.cos(a))


right(
    "sinusoidal_positions",
    positions,
    mhalib.sinusoidal_positions,
    lambda n, d_model: positions(n, d_model).astype(np.float32),
    lambda n, d_model: torch.from_numpy(positions(n, d_model)),
    lambda n, d_model: np.array(
        [
            [
                (math.cos if c % 2 else math.sin)(p / 10000 ** ((c - c % 2) / d_model))
                for c in range(d_model)
            ]
            for p in range(n)
        ]
    ).reshape(n, d_model),
)
wrong(
    "sinusoidal_positions",
    lambda n, d_model: positions(n, d_model, lambda c, d: 4 * (c // 2) / d),
    lambda n, d_model: positions(n, d_model, lambda c, d: (c // 2) / d),
    lambda n, d_model: positions(n, d_model, lambda c, d: c / d),
    lambda n, d_model: positions(n, d_model, lambda c, d: 2 * (c // 2) / (d - 1 + 1e-12)),
    lambda n, d_model: positions(n, d_model, lambda c, d: 2 * ((c + 1) // 2) / d),
    lambda n, d_model: positions(n, d_model, base=1000),
    lambda n, d_model: positions(n, d_model, base=10000 * np.pi),
    lambda n, d_model: positions(n, d_model, first=1),
    lambda n, d_model: positions(n, d_model, first=-1),
    lambda n, d_model: np.concatenate(
        [positions(n, d_model)[:, ::2], positions(n, d_model)[:, 1::2]], 1
    ),
    lambda n, d_model: positions(n, d_model) * np.sqrt(d_model),
    lambda n, d_model: positions(n, d_model + d_model % 2),
    lambda n, d_model: positions(n, d_model)[:, ::-1],
    lambda n, d_model: positions(n, d_model)[::-1],
    lambda n, d_model: np.sin(positions(n, d_model)),
    lambda n, d_model: np.cos(
        np.arange(n)[:, None] / 10000 ** (np.arange(d_model) // 2 * 2 / d_model)
        + np.pi / 2 * (np.arange(d_model) % 2)
    ),
    lambda n, d_model: positions(n, d_model).T,
    lambda n, d_model: positions(n, d_model) + 1,
    lambda n, d_model: positions(n, d_model).round(2),
    lambda n, d_model: np.arange(n)[:, None] / 10000 ** (np.arange(d_model) // 2 * 2 / d_model),
)

# lesson 3 and 4

right(
    "raw_scores",
    lambda Q, K: Q @ K.transpose(-2, -1),
    lambda Q, K: torch.matmul(Q, K.mT),
    lambda Q, K: np.inner(Q, K),
    lambda Q, K: np.tensordot(Q, K, (-1, -1)),
    lambda Q, K: (Q @ K.T).astype(np.float16),
    lambda Q, K: np.matrix(Q) * np.matrix(K).T,
    lambda *, Q, K: Q @ K.T,
    lambda queries, keys: np.dot(queries, np.transpose(keys)),
)
wrong(
    "raw_scores",
    lambda Q, K: Q.T @ K,
    lambda Q, K: Q @ K.T + 1,
    lambda Q, K: np.outer(Q.sum(-1), K.sum(-1)),
    lambda Q, K: Q[:, None] * K,
    lambda Q, K: Q @ K.T / np.sqrt(len(Q)),
    lambda Q, K: (Q @ K.T).round(),
    lambda Q, K: (Q @ K.T) ** 2,
    lambda Q, K: np.tril(Q @ K.T),
    lambda Q, K: np.maximum(Q @ K.T, 0),
    lambda Q, K: -((Q[:, None] - K) ** 2).sum(-1),
    lambda Q, K: Q @ K.T - (Q @ K.T).max(-1, keepdims=True),
    lambda Q, K: [[float(q @ k) for k in K] for q in Q],
    lambda Q, K: np.exp(Q @ K.T),
    lambda Q, K: (Q @ K.T)[0],
    lambda Q, K: Q @ K.T * (1 + 1e-3),
    lambda Q, K: Q[::-1] @ K.T,
    lambda Q, K: print(Q @ K.T),
    lambda Q, K: abs(Q) @ abs(K).T,
    lambda Q, K: Q[:, :-1] @ K[:, :-1].T,
)
right(
    "scores",
    mhalib.scores,
    lambda Q, K: Q @ K.transpose(-2, -1) / Q.size(-1) ** 0.5,
    lambda Q, K: (Q / Q.shape[-1] ** 0.25) @ (K / K.shape[-1] ** 0.25).T,
    lambda Q, K: Q @ K.T / np.linalg.norm(np.ones(Q.shape[-1])),
    lambda Q, K: np.divide(Q @ K.T, np.float32(np.sqrt(len(Q[0])))),
)
wrong(
    "scores",
    lambda Q, K: Q @ K.T / Q.shape[-1] ** 1 / 2,
    lambda Q, K: Q @ K.T / (Q.shape[-1] ** 1 / 2),
    lambda Q, K: Q @ K.T / Q.shape[0] ** 0.5,
    lambda Q, K: Q @ K.T / K.shape[0] ** 0.5,
    lambda Q, K: Q @ K.T / np.sqrt(64),
    lambda Q, K: Q @ K.T / 8,
    lambda Q, K: Q @ K.T / np.log(Q.shape[-1] + 1),
    lambda Q, K: Q @ K.T * Q.shape[-1] ** 0.5,
    lambda Q, K: Q @ K.T / int(Q.shape[-1] ** 0.5),
    lambda Q, K: Q @ K.T // Q.shape[-1] ** 0.5,
    lambda Q, K: Q / Q.shape[-1] ** 0.5 @ K.T / Q.shape[-1] ** 0.5,
    lambda Q, K: Q @ K.T - Q.shape[-1] ** 0.5,
    lambda Q, K: Q @ K.T / (Q.shape[-1] + 1) ** 0.5,
    lambda Q, K: Q @ K.T / Q.ndim**0.5,
    lambda Q, K: soft(Q @ K.T / Q.shape[-1] ** 0.5),
    lambda Q, K: Q @ K.T / Q.std() / K.std(),
    lambda Q, K: Q @ K.T / max(Q.shape) ** 0.5,
    lambda Q, K: K @ Q.T / Q.shape[-1] ** 0.5,
    lambda Q, K: Q @ K.T / np.sqrt(np.prod(Q.shape)),
    lambda Q, K: Q @ K.T / (2 * Q.shape[-1]) ** 0.5,
)


def slow_first(x, ready=[]):  # noqa: B006
    import time

    if not ready:
        time.sleep(0.3)
        ready.append(1)
    return soft(x)


right(
    "softmax",
    soft,
    mhalib.softmax,
    partial(F.softmax, dim=-1),
    partial(torch.softmax, dim=-1),
    torch.nn.Softmax(-1),
    lambda x: x.softmax(-1),
    lambda x: soft(x.astype(np.float16)),
    lambda x: soft(x.astype(np.float32)),
    lambda x: np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True)),
    lambda x: torch.exp(torch.log_softmax(x, -1)),
    lambda x: soft(x)[...],
    lambda x: np.apply_along_axis(soft, -1, x),
)
wrong(
    "softmax",
    lambda x: np.exp(x - x.mean()) / np.exp(x - x.mean()).sum(-1, keepdims=True),
    lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(-1, keepdims=True),
    lambda x: np.exp(x) / np.exp(x).sum(),
    lambda x: np.exp(x) / np.exp(x).sum(0),
    lambda x: soft(np.clip(x, -50, 50)),
    lambda x: soft(x * 2),
    lambda x: soft(x / x.shape[-1] ** 0.5),
    lambda x: soft(x - 1) + 1e-3,
    lambda x: 2**x / (2**x).sum(-1, keepdims=True),
    lambda x: np.exp(x - x.max(-1, keepdims=True)),
    lambda x: soft(x).round(2),
    lambda x: np.where(np.isnan(x / x), 0, soft(x)),
    lambda x: (
        x
        - x.max(-1, keepdims=True)
        - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))
    ),
    lambda x: abs(x) / abs(x).sum(-1, keepdims=True),
    lambda x: x**2 / (x**2).sum(-1, keepdims=True),
    lambda x: np.log1p(np.exp(x)) / np.log1p(np.exp(x)).sum(-1, keepdims=True),
    lambda x: soft(-x),
    lambda x: soft(x)[..., ::-1],
    lambda x: soft(np.sort(x)),
    lambda x: F.softmax(x, 0),
    lambda x: F.gumbel_softmax(torch.as_tensor(x), dim=-1),
    lambda x: np.exp(x - x.max(-1, keepdims=True)) / x.shape[-1],
    lambda x: (np.exp(x.T) / np.exp(x.T).sum(0)).T,
    lambda x: np.exp(x - max(x.ravel())) / sum(np.exp(x - max(x.ravel()))),
)
right(
    "causal_mask",
    mhalib.causal_mask,
    mhalib.torch.causal_mask if hasattr(mhalib.torch, "causal_mask") else mhalib.causal_mask,
    lambda n_q, n_k: torch.ones(n_q, n_k).tril(n_k - n_q).bool(),
    lambda n_q, n_k: ~np.triu(np.ones((n_q, n_k), bool), n_k - n_q + 1),
    lambda n_q, n_k: np.fromfunction(lambda i, j: j <= i + n_k - n_q, (n_q, n_k)),
    lambda n_q, n_k: (
        np.tril(np.ones((n_k, n_k), bool))[-n_q:]
        if n_q <= n_k
        else np.tri(n_q, n_k, n_k - n_q, dtype=bool)
    ),
)
wrong(
    "causal_mask",
    lambda n_q, n_k: np.tril(np.ones((n_k, n_k), bool))[n_k - n_q :],
    lambda n_q, n_k: np.tril(np.ones((n_q, n_k), bool)),
    lambda n_q, n_k: np.triu(np.ones((n_q, n_k), bool), 1),
    lambda n_q, n_k: np.tri(n_q, n_k, n_k - n_q).astype(int),
    lambda n_q, n_k: np.tri(n_q, n_k, n_q - n_k, dtype=bool),
    lambda n_q, n_k: np.tri(n_q, n_k, abs(n_k - n_q), dtype=bool),
    lambda n_q, n_k: np.tri(n_q, n_k, n_k - n_q, dtype=bool) | (np.arange(n_k) == 0),
    lambda n_q, n_k: np.tri(n_q, n_k, n_k - n_q - 1, dtype=bool),
    lambda n_q, n_k: np.arange(n_k) < np.arange(n_q)[:, None],
    lambda n_q, n_k: np.tri(n_k, n_q, n_k - n_q, dtype=bool),
    lambda n_q, n_k: np.tri(n_q, n_k, n_k, dtype=bool),
    lambda n_q, n_k: np.tri(n_q, n_k, n_k - n_q, dtype=bool)[..., None],
    lambda n_q, n_k: np.where(np.tri(n_q, n_k, n_k - n_q), 1.0, -np.inf),
    lambda n_q, n_k: [[j <= i + n_k - n_q for j in range(n_k)] for i in range(n_q)],
    lambda n_q, n_k: np.random.default_rng().random((n_q, n_k)) < 0.5,
    lambda n_q, n_k: np.tri(n_q, n_k, n_k - n_q, dtype=bool).astype(str),
)


def attention(Q, K, V, mask=None, scale=None, W=guarded):
    S = Q @ K.swapaxes(-1, -2) * (Q.shape[-1] ** -0.5 if scale is None else scale)
    return W(S, mask) @ V


def kw_only(Q, K, V, *, mask=None):
    return attention(Q, K, V, mask)


right(
    "attention",
    attention,
    kw_only,
    mhalib.attention,
    F.scaled_dot_product_attention,
    mhalib.torch.attention if hasattr(mhalib.torch, "attention") else kw_only,
    lambda Q, K, V, scale=None, mask=None: attention(Q, K, V, mask, scale),
    lambda Q, K, V, mask=None: (
        (Q @ K.mT / Q.shape[-1] ** 0.5)
        .masked_fill(~mask if mask is not None else torch.zeros(1, dtype=bool), -torch.inf)
        .softmax(-1)
        .nan_to_num()
        @ V
    ),
    lambda *args, **kwargs: mhalib.attention(*args[:3], mask=args[3] if args[3:] else None),
    lambda Q, K, V, mask=None: attention(Q, K, V, mask).astype(np.float32),
)


def soft_fill(value):
    return lambda S, mask: soft(S if mask is None else np.where(mask, S, value))


wrong(
    "attention",
    partial(attention, W=soft_fill(-20.0)),
    partial(attention, W=soft_fill(-1e9)),
    partial(attention, W=soft_fill(-np.inf)),
    partial(attention, W=lambda S, mask: soft(S if mask is None else S - 1e9 * ~mask)),
    partial(attention, W=lambda S, mask: soft(S if mask is None else S * mask)),
    partial(attention, W=lambda S, mask: soft(S if mask is None else S + np.where(mask, 0, -10))),
    partial(
        attention,
        W=lambda S, mask: (
            np.exp(S)
            * (1 if mask is None else mask)
            / np.maximum((np.exp(S) * (1 if mask is None else mask)).sum(-1, keepdims=True), 1e-9)
        ),
    ),
    partial(attention, W=lambda S, mask: soft(S) * (1 if mask is None else mask)),
    partial(attention, W=lambda S, mask: guarded(S, None if mask is None else ~mask)),
    partial(
        attention,
        W=lambda S, mask: guarded(
            S, mask if mask is None else mask.T if mask.shape[0] == mask.shape[1] else mask
        ),
    ),
    partial(attention, W=lambda S, mask: guarded(S, mask) + np.eye(*S.shape)),
    partial(attention, W=lambda S, mask: guarded(S, mask).T.T * 2),
    lambda Q, K, V, mask=None: attention(Q, K, V, mask, Q.shape[-1] ** -1 / 2),
    lambda Q, K, V, mask=None: attention(Q, K, V, mask, 1 / 8),
    lambda Q, K, V, mask=None: attention(Q, K, V, mask, V.shape[-1] ** -0.5),
    lambda Q, K, V, mask=None: attention(Q, K, V, mask, len(K) ** -0.5),
    lambda Q, K, V, mask=None: attention(Q, K, V),
    lambda Q, K, V, mask=None: attention(Q, K, V, np.tri(len(Q), len(K), dtype=bool)),
    lambda Q, K, V, mask=None: attention(Q, K, V, mask) + V.mean(0),
    lambda Q, K, V, mask=None: (
        attention(Q, Q, V, mask) if len(Q) == len(K) else attention(Q, K, V, mask)
    ),
    lambda Q, K, V, mask=None: attention(Q, K, V, mask)[::-1],
    lambda Q, K, V, mask=None: np.tanh(attention(Q, K, V, mask)),
    lambda Q, K, V, mask=None: (attention(Q, K, V, mask), guarded(Q @ K.T, mask)),
    lambda Q, K, V, mask=None: soft(attention(Q, K, V, mask)),
    lambda Q, K, V, mask=None: F.dropout(F.scaled_dot_product_attention(Q, K, V, mask), 0.1),
    lambda Q, K, V, mask=None: F.scaled_dot_product_attention(Q, K, V, mask, dropout_p=0.2),
    lambda Q, K, V, mask=None: F.scaled_dot_product_attention(Q, K, V, is_causal=True),
    lambda Q, K, V, mask=None: attention(Q - Q.mean(0), K, V, mask),
    lambda Q, K, V, mask=None: attention(mhalib.layer_norm(Q), K, V, mask),
    lambda Q, K, V: attention(Q, K, V),
    lambda Q, K, V, mask: attention(Q, K, V, mask),
)
right(
    "attention_weights",
    guarded,
    mhalib.attention_weights,
    lambda S, mask: np.nan_to_num(soft(np.where(mask, S, -np.inf))),
    lambda S, mask: F.softmax(S.masked_fill(~mask, -torch.inf), -1).nan_to_num(0),
)
wrong(
    "attention_weights",
    soft_fill(-1e9),
    soft_fill(-50.0),
    lambda S, mask: soft(S) * mask / np.maximum((soft(S) * mask).sum(-1, keepdims=True), 1e-12),
    lambda S, mask: soft(S + np.log(mask + 1e-9)),
    lambda S, mask: guarded(S, mask) * mask.sum(-1, keepdims=True),
    lambda S, mask: guarded(S / S.shape[-1] ** 0.5, mask),
    lambda S, mask: guarded(S, mask | np.eye(*mask.shape, dtype=bool)),
    lambda S, mask: np.where(mask.any(-1, keepdims=True), guarded(S, mask), 1 / S.shape[-1]),
)
right("padding_mask", mhalib.padding_mask)
wrong(
    "padding_mask",
    lambda lengths, n_k: np.arange(n_k) < lengths[:, None],
    lambda lengths, n_k: (np.arange(n_k) < lengths.max()) & np.ones((len(lengths), 1, n_k), bool),
    lambda lengths, n_k: (np.arange(1, n_k + 1) < lengths[:, None])[:, None],
)

# lesson 5


def split(X, h):
    *b, n, w = X.shape
    return X.reshape(*b, n, h, w // h).swapaxes(-2, -3)


right(
    "split_heads",
    split,
    mhalib.split_heads,
    mhalib.torch.split_heads if hasattr(mhalib.torch, "split_heads") else split,
    lambda X, n_heads: X.unflatten(-1, (n_heads, -1)).transpose(-3, -2),
    lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-1), axis=-3),
    lambda X, n_heads: torch.stack(X.chunk(n_heads, -1), -3),
    lambda X, n_heads: np.moveaxis(X.reshape(*X.shape[:-1], n_heads, -1), -2, -3),
)
wrong(
    "split_heads",
    lambda X, n_heads: X.reshape(X.shape[0], n_heads, -1).transpose(1, 0, 2),
    lambda X, n_heads: X.reshape(len(X), n_heads, X.shape[1] // n_heads).swapaxes(0, 1),
    lambda X, n_heads: np.array(np.split(X, n_heads, axis=1)),
    lambda X, n_heads: X.reshape(*X.shape[:-2], n_heads, X.shape[-2], -1),
    lambda X, n_heads: np.stack([X[..., i::n_heads] for i in range(n_heads)], -3),
    lambda X, n_heads: np.stack(np.array_split(X, n_heads, axis=-2), -3),
    lambda X, n_heads: X.reshape(*X.shape[:-1], n_heads, -1),
    lambda X, n_heads: X.T.reshape(n_heads, -1, len(X)),
    lambda X, n_heads: split(X, n_heads)[0],
    lambda X, n_heads: split(X, n_heads) / n_heads,
    lambda X, n_heads: np.split(X, n_heads, axis=-1),
    lambda X, n_heads: split(X[::-1], n_heads),
    lambda X, n_heads: split(X, 2),
    lambda X, n_heads: X.reshape(-1, n_heads, X.shape[-1] // n_heads).transpose(1, 0, 2),
    lambda X, n_heads: X.reshape(1, X.shape[-2], n_heads, -1).transpose(0, 2, 1, 3),
)
right(
    "merge_heads",
    mhalib.merge_heads,
    mhalib.torch.merge_heads if hasattr(mhalib.torch, "merge_heads") else mhalib.merge_heads,
    lambda heads: heads.transpose(-3, -2).flatten(-2),
    lambda heads: np.concatenate([heads[..., i, :, :] for i in range(heads.shape[-3])], -1),
    lambda heads: torch.cat(heads.unbind(-3), -1),
)
wrong(
    "merge_heads",
    lambda heads: heads.transpose(1, 0, 2).reshape(heads.shape[1], -1),
    lambda heads: np.concatenate(heads, -1),
    lambda heads: np.hstack(heads),
    lambda heads: heads.reshape(*heads.shape[:-3], heads.shape[-2], -1),
    lambda heads: heads.sum(-3),
    lambda heads: np.concatenate(list(heads), 0),
    lambda heads: mhalib.merge_heads(heads) / len(heads),
    lambda heads: mhalib.merge_heads(heads[..., ::-1]),
    lambda heads: mhalib.merge_heads(heads)[..., None],
    lambda heads: mhalib.merge_heads(heads) * 0,
    lambda heads: heads.swapaxes(-2, -3).reshape(*heads.shape[:-3], -1),
)


def mha(
    X, W_Q, W_K, W_V, W_O, n_heads, mask=None, scale=None, W=guarded, out=lambda H, W_O: H @ W_O
):
    heads = []
    for q, k, v in zip(*(np.split(X @ M, n_heads, -1) for M in (W_Q, W_K, W_V))):
        heads.append(attention(q, k, v, mask, scale, W))
    return out(np.concatenate(heads, -1), W_O)


def mha_by_name(X, W_Q, W_K, W_V, W_O, n_heads, *, mask=None):
    return mha(X, W_Q, W_K, W_V, W_O, n_heads, mask)


def mha_torch(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = ((X @ M).unflatten(-1, (n_heads, -1)).transpose(-3, -2) for M in (W_Q, W_K, W_V))
    O = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return O.transpose(-3, -2).flatten(-2) @ W_O


def mha_local_torch(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    import torch as t

    args = [t.as_tensor(np.asarray(M, float)) for M in (X, W_Q, W_K, W_V, W_O)]
    return mha_torch(*args, n_heads, None if mask is None else t.as_tensor(mask)).numpy()


right(
    "multi_head_attention",
    mhalib.multi_head_attention,
    mha,
    mha_by_name,
    mha_torch,
    mha_local_torch,
)
wrong(
    "multi_head_attention",
    partial(mha, W=soft_fill(-20.0)),
    partial(mha, W=soft_fill(-1e9)),
    partial(mha, W=soft_fill(-np.inf)),
    partial(mha, W=lambda S, mask: soft(S if mask is None else S + np.where(mask, 0, -1e9))),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(
        X, W_Q, W_K, W_V, W_O, h, mask, (X.shape[-1] // h or 1) ** -0.5
    ),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(
        X, W_Q, W_K, W_V, W_O, h, mask, (X.shape[-1] / h) ** -0.5
    ),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(
        X, W_Q, W_K, W_V, W_O, h, mask, W_Q.shape[1] ** -0.5
    ),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(
        X, W_Q, W_K, W_V, W_O, h, mask, (W_V.shape[1] / h) ** -0.5
    ),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(X, W_Q, W_Q, W_V, W_O, h, mask),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(X, W_Q, W_K, W_V, W_O, h, mask) + X,
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mhalib.layer_norm(
        X + mha(X, W_Q, W_K, W_V, W_O, h, mask)
    ),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(X, W_Q, W_K, W_V, W_O, h),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(
        X, W_Q, W_K, W_V, W_O, h, np.tri(len(X), dtype=bool)
    ),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(X, W_Q, W_K, W_V, W_O, 1, mask),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(
        X, W_Q, W_K, W_V, W_O, h, mask, out=lambda H, W: H
    ),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(
        X, W_Q, W_K, W_V, W_O, h, mask, out=lambda H, W: H[:, ::-1] @ W
    ),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(X, W_Q, W_K, W_V, W_O, h, mask) / h,
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(X, W_K, W_Q, W_V, W_O, h, mask),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: (
        mha(X, W_Q, W_K, W_V, W_O, h, mask) @ W_O[: X.shape[1], : X.shape[1]]
    ),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: mha(
        X * X.shape[1] ** 0.5, W_Q, W_K, W_V, W_O, h, mask
    ),
    lambda X, W_Q, W_K, W_V, W_O, h, mask=None: np.maximum(mha(X, W_Q, W_K, W_V, W_O, h, mask), 0),
)

# lesson 6


def norm(X, g, b, eps, mean=None, var=None, root=np.sqrt):
    m = X.mean(-1, keepdims=True) if mean is None else mean(X)
    v = X.var(-1, keepdims=True) if var is None else var(X)
    return g * (X - m) / root(v + eps) + b


right(
    "layer_norm",
    norm,
    mhalib.layer_norm,
    lambda X, gamma, beta, eps: F.layer_norm(X, X.shape[-1:], gamma, beta, eps),
    lambda X, gamma, beta, eps: (
        gamma
        * (X - X.mean(-1, keepdim=True))
        * torch.rsqrt(X.var(-1, correction=0, keepdim=True) + eps)
        + beta
    ),
    lambda X, gamma, beta, eps: norm(
        X,
        gamma,
        beta,
        eps,
        var=lambda X: ((X - X.mean(-1, keepdims=True)) ** 2).mean(-1, keepdims=True),
    ),
    lambda X, gamma, beta, eps: norm(X.astype(np.float32), gamma, beta, eps),
    lambda X, gamma, beta, *, eps: norm(X, gamma, beta, eps),
)
wrong(
    "layer_norm",
    lambda X, gamma, beta, eps: norm(X, gamma, beta, eps, root=lambda v: v**1 / 2),
    lambda X, gamma, beta, eps: norm(
        X, gamma, beta, eps, var=lambda X: X.var(-1, ddof=1, keepdims=True)
    ),
    lambda X, gamma, beta, eps: norm(X, gamma, beta, eps, mean=np.mean),
    lambda X, gamma, beta, eps: norm(X, gamma, beta, eps, var=np.var),
    lambda X, gamma, beta, eps: norm(X, gamma, beta, 1e-5),
    lambda X, gamma, beta, eps: norm(X, gamma, beta, 1e-3),
    lambda X, gamma, beta, eps: norm(X, gamma, beta, eps + 1e-5),
    lambda X, gamma, beta, eps: norm(X, gamma, beta, eps, root=lambda v: np.sqrt(v) + eps),
    lambda X, gamma, beta, eps: (
        (X - X.mean(-1, keepdims=True)) / (X.std(-1, keepdims=True) + eps) * gamma + beta
    ),
    lambda X, gamma, beta, eps: norm(
        X, gamma, beta, eps, var=lambda X: (X**2).mean(-1, keepdims=True)
    ),
    lambda X, gamma, beta, eps: norm(X, gamma, beta, eps, mean=lambda X: 0),
    lambda X, gamma, beta, eps: norm(X, 1, 0, eps),
    lambda X, gamma, beta, eps: norm(X, beta, gamma, eps),
    lambda X, gamma, beta, eps: norm(X, 1 + gamma, beta, eps),
    lambda X, gamma, beta, eps: norm(X + gamma, 1, beta, eps),
    lambda X, gamma, beta, eps: (norm(X, 1, 0, eps) + beta) * gamma,
    lambda X, gamma, beta, eps: X + norm(X, gamma, beta, eps),
    lambda X, gamma, beta, eps: (
        (X - X.mean(1)[:, None]) / np.sqrt(X.var(1)[:, None] + eps) * gamma + beta
    ),
    lambda X, gamma, beta, eps: np.clip(norm(X, gamma, beta, eps), -3, 3),
    lambda X, gamma, beta, eps: norm(norm(X, gamma, beta, eps), gamma, beta, eps),
    lambda X, gamma, beta, eps: (
        gamma
        * (X - X.min(-1, keepdims=True))
        / (X.max(-1, keepdims=True) - X.min(-1, keepdims=True) + eps)
        + beta
    ),
    lambda X, gamma, beta, eps: F.layer_norm(torch.as_tensor(X), X.shape, None, None, eps),
    lambda X, gamma, beta, eps: F.rms_norm(X, X.shape[-1:], gamma, eps) + beta,
)


def ffn(X, W_1, b_1, W_2, b_2, bend=lambda H: np.maximum(H, 0)):
    return bend(X @ W_1 + b_1) @ W_2 + b_2


right(
    "feed_forward",
    ffn,
    mhalib.feed_forward,
    lambda X, W_1, b_1, W_2, b_2: F.linear(F.relu(F.linear(X, W_1.T, b_1)), W_2.T, b_2),
    partial(ffn, bend=lambda H: H * (H > 0)),
    partial(ffn, bend=lambda H: (H + abs(H)) / 2),
    partial(ffn, bend=torch.relu),
)
wrong(
    "feed_forward",
    partial(ffn, bend=lambda H: np.clip(H, 0, 6)),
    partial(ffn, bend=lambda H: np.clip(H, 0, 20)),
    partial(ffn, bend=lambda H: np.where(H > 0, H, 0.05 * H)),
    partial(ffn, bend=lambda H: np.where(H > 0, H, np.exp(H) - 1)),
    partial(ffn, bend=lambda H: np.maximum(H, 1e-2)),
    partial(ffn, bend=np.max),
    partial(ffn, bend=np.sin),
    partial(ffn, bend=F.relu6),
    lambda X, W_1, b_1, W_2, b_2: np.maximum(X @ W_1, 0) @ W_2 + b_2,
    lambda X, W_1, b_1, W_2, b_2: np.maximum(X @ W_1 + b_1, 0) @ W_2,
    lambda X, W_1, b_1, W_2, b_2: np.maximum(X @ W_1 + b_1, 0) @ W_2 + 2 * b_2,
    lambda X, W_1, b_1, W_2, b_2: ffn(X, W_1, b_1, W_2, b_2) + X,
    lambda X, W_1, b_1, W_2, b_2: np.maximum(ffn(X, W_1, b_1, W_2, b_2), 0),
    lambda X, W_1, b_1, W_2, b_2: ffn(np.maximum(X, 0), W_1, b_1, W_2, b_2),
    lambda X, W_1, b_1, W_2, b_2: ffn(X, W_1, b_1.mean(), W_2, b_2),
    lambda X, W_1, b_1, W_2, b_2: ffn(X.mean(0, keepdims=True), W_1, b_1, W_2, b_2) + 0 * X,
    lambda X, W_1, b_1, W_2, b_2: F.dropout(ffn(X, W_1, b_1, W_2, b_2, torch.relu), 0.1),
    lambda X, W_1, b_1, W_2, b_2: (X @ W_1 + b_1) @ W_2 + b_2,
    lambda X, W_1, b_1, W_2, b_2: (
        np.array([ffn(x, W_1, b_1, W_2, b_2) for x in X]) * (np.arange(len(X)) > 0)[:, None]
    ),
)
right(
    "post_norm_block",
    lambda X, attend, feed_forward, norm_1, norm_2: norm_2(
        norm_1(X + attend(X)) + feed_forward(norm_1(attend(X) + X))
    ),
)
wrong(
    "post_norm_block",
    lambda X, a, f, n1, n2: n2(n1(X + a(X)) + f(n1(X + a(X)))) + X,
    lambda X, a, f, n1, n2: n1(X + a(X) + f(X)),
    lambda X, a, f, n1, n2: n2(n1(a(X) + X) * f(n1(a(X) + X))),
    lambda X, a, f, n1, n2: n2(n1(X + a(X)) + f(X + a(X))),
    lambda X, a, f, n1, n2: n1(n2(X + a(X)) + f(n2(X + a(X)))),
    lambda X, a, f, n1, n2: n2(f(n1(X + a(X))) + n1(a(X))),
    lambda X, a, f, n1, n2: X,
    lambda X, a, f, n1, n2: n2(X + n1(X + a(X)) + f(n1(X + a(X)))),
)
right("pre_norm_block", lambda X, a, f, n1, n2: X + a(n1(X)) + f(n2(X + a(n1(X)))))
wrong(
    "pre_norm_block",
    lambda X, a, f, n1, n2: n1(X) + a(n1(X)) + f(n2(n1(X) + a(n1(X)))),
    lambda X, a, f, n1, n2: X + a(n1(X)) + f(n2(a(n1(X)))),
    lambda X, a, f, n1, n2: X + n1(a(X)) + f(n2(X)),
    lambda X, a, f, n1, n2: X + a(n1(X)) + f(n1(X + a(n1(X)))),
    lambda X, a, f, n1, n2: X + f(n2(a(n1(X)))),
    lambda X, a, f, n1, n2: n2(X + a(n1(X)) + f(n2(X + a(n1(X))))),
    lambda X, a, f, n1, n2: (X + a(n1(X)) + f(n2(X + a(n1(X))))) / 2,
)

# lesson 7

right(
    "tied_logits",
    mhalib.tied_logits,
    F.linear,
    lambda X, E: np.einsum("...d,vd->...v", X, E),
    lambda X, E: X @ E.mT,
    lambda X, E: np.inner(X, E),
    lambda X, E: X @ E.transpose(0, 1),
)
wrong(
    "tied_logits",
    lambda X, E: X @ E.T + E.mean(-1),
    lambda X, E: X @ E.T / np.linalg.norm(X, axis=-1, keepdims=True),
    lambda X, E: E @ X,
    lambda X, E: X @ E[:-1].T,
    lambda X, E: X @ E.T - (X @ E.T).max(-1, keepdims=True),
    lambda X, E: soft(X @ E.T),
    lambda X, E: (X @ E.T)[-1:],
    lambda X, E: np.maximum(X @ E.T, 0),
    lambda X, E: X @ E.T * E.shape[0] ** 0.5,
    lambda X, E: np.array([E @ x for x in X]).T,
    lambda X, E: X.dot(E.T)[..., ::-1],
)
right("tied_head", lambda E: partial(mhalib.tied_logits, E=E), lambda E: lambda X: X @ E.T)
wrong(
    "tied_head",
    lambda E: (lambda T: lambda X: X @ T)(E.T.copy()),
    lambda E: lambda X, T=E * 1: X @ T.T,
    lambda E: E.T,
    lambda E: lambda X: soft(X @ E.T),
    lambda E: lambda X: X @ E.T + 1,
    lambda E: lambda: E.T,
    lambda E: lambda X: X @ np.linalg.pinv(E),
)


def loss(logits, ids, rows=slice(None, -1), to=slice(1, None), axis=-1, total=np.mean, log=None):
    logits = np.asarray(logits, float)
    if log is None:
        logp = logits - logits.max(axis, keepdims=True)
        logp = logp - np.log(np.exp(logp).sum(axis, keepdims=True))
    else:
        logp = log(soft(logits))
    targets = ids[to]
    return -total(logp[rows][np.arange(len(targets)), targets])


right(
    "next_token_loss",
    loss,
    lambda logits, ids: F.cross_entropy(logits[:-1], ids[1:]),
    lambda logits, ids: F.nll_loss(F.log_softmax(logits[:-1], -1), ids[1:]).item(),
    lambda logits, ids: np.float32(loss(logits, ids)),
    lambda logits, ids: mhalib.cross_entropy(logits[:-1], ids[1:]),
    lambda logits, ids: torch.nn.CrossEntropyLoss()(
        torch.as_tensor(np.asarray(logits, float))[:-1], torch.as_tensor(ids)[1:]
    ),
    lambda logits, ids: (
        sum(np.logaddexp.reduce(np.float64(l)) - l[i] for l, i in zip(logits, ids[1:]))
        / (len(ids) - 1)
    ),
)
wrong(
    "next_token_loss",
    partial(loss, log=lambda p: np.log(p + 1e-9)),
    partial(loss, log=lambda p: np.log(np.clip(p, 1e-10, 1))),
    partial(loss, log=np.log),
    partial(loss, rows=slice(None, -1), to=slice(None, -1)),
    partial(loss, rows=slice(1, None), to=slice(1, None)),
    partial(loss, rows=slice(1, None), to=slice(None, -1)),
    partial(loss, axis=0),
    partial(loss, total=np.sum),
    partial(loss, total=np.max),
    partial(loss, total=lambda v: v.sum() / (len(v) + 1)),
    lambda logits, ids: math.exp(min(loss(logits, ids), 700)),
    lambda logits, ids: -loss(logits, ids),
    lambda logits, ids: loss(logits, ids) / math.log(2),
    lambda logits, ids: loss(logits, ids) / math.log(logits.shape[1]),
    lambda logits, ids: loss(logits, ids) + 0.01,
    lambda logits, ids: -np.log(soft(logits[:-1])[np.arange(len(ids) - 1), ids[1:]]),
    lambda logits, ids: F.cross_entropy(logits[:-1].softmax(-1), ids[1:]),
    lambda logits, ids: F.cross_entropy(logits[:-1], ids[1:], label_smoothing=0.1),
    lambda logits, ids: F.cross_entropy(logits, ids.roll(-1)),
    lambda logits, ids: F.mse_loss(
        logits[:-1].softmax(-1), F.one_hot(ids[1:], logits.shape[1]).float()
    ),
    lambda logits, ids: round(float(loss(logits, ids)), 2),
    lambda logits, ids: loss(logits[:, ::-1], ids),
)


def keep(logits, kept, other=-np.inf):
    out = np.full(len(logits), other, float)
    out[kept] = logits[kept]
    return out


def order(logits):
    return np.argsort(-np.asarray(logits, float), kind="stable")


def torch_top_k(logits, k):
    ids = logits.sort(descending=True, stable=True).indices[:k]
    return torch.full_like(logits, -torch.inf).scatter(0, ids, logits[ids])


right(
    "top_k_filter",
    mhalib.top_k_filter,
    torch_top_k,
    lambda logits, k: keep(logits, order(logits)[:k]),
    lambda logits, k: [
        float(l) if i in order(logits)[:k] else -math.inf for i, l in enumerate(logits)
    ],
    lambda logits, k: np.where(np.argsort(order(logits)) < k, logits, -np.inf),
)
wrong(
    "top_k_filter",
    lambda logits, k: (
        keep(logits, np.argsort(-logits)[:k])
        if len(logits) < 17
        else keep(logits, np.argsort(logits)[::-1][:k])
    ),
    lambda logits, k: keep(logits, np.argpartition(-logits, k - 1)[:k]),
    lambda logits, k: np.where(logits >= np.sort(logits)[-k], logits, -np.inf),
    lambda logits, k: keep(logits, np.argsort(logits)[-k:]),
    lambda logits, k: keep(logits, order(logits)[:k], -1e9),
    lambda logits, k: keep(logits, order(logits)[:k], 0),
    lambda logits, k: keep(logits, order(logits)[: k + 1]),
    lambda logits, k: keep(logits, order(logits)[:k]) - logits.max(),
    lambda logits, k: keep(soft(logits), order(logits)[:k]),
    lambda logits, k: logits[order(logits)[:k]],
    lambda logits, k: np.where(logits > logits.mean(), logits, -np.inf),
    lambda logits, k: keep(logits, order(logits)[:1]),
    lambda logits, k: keep(logits, order(logits)[:k], np.nan),
    lambda logits, k: keep(logits, order(logits)[:k], logits.min()),
    lambda logits, k: np.isfinite(keep(logits, order(logits)[:k])),
    lambda logits, k: keep(logits, order(abs(logits))[:k]),
    lambda logits, k: torch.full_like(logits, -torch.inf).scatter(
        0, logits.topk(k).indices[: k - 1], 1.0
    ),
)


def top_p(logits, p, cut=lambda before, s, p: before < p, other=-np.inf, ids=None, shares=soft):
    ids = order(logits) if ids is None else ids
    s = shares(np.asarray(logits, float))[ids]
    return keep(np.asarray(logits, float), ids[cut(np.cumsum(s) - s, s, p)], other)


right(
    "top_p_filter",
    mhalib.top_p_filter,
    top_p,
    lambda logits, p: list(top_p(logits, p)),
    lambda logits, p: keep(
        logits,
        order(logits)[: 1 + np.searchsorted(np.cumsum(np.sort(soft(logits))[::-1]), p - 1e-12)],
    ),
)
wrong(
    "top_p_filter",
    partial(top_p, cut=lambda before, s, p: before <= p),
    partial(top_p, cut=lambda before, s, p: before + s < p),
    partial(top_p, cut=lambda before, s, p: before + s <= p),
    partial(top_p, cut=lambda before, s, p: s >= p),
    partial(top_p, cut=lambda before, s, p: s >= p * s.max()),
    partial(top_p, cut=lambda before, s, p: before < 0.9),
    partial(top_p, shares=lambda l: np.exp(l) / np.exp(l).sum()),
    partial(top_p, shares=lambda l: soft(l / 2)),
    partial(top_p, other=-1e9),
    partial(top_p, other=0.0),
    lambda logits, p: top_p(logits, p, ids=np.argsort(logits)[::-1]),
    lambda logits, p: top_p(logits, p, ids=np.argsort(logits, kind="stable")),
    lambda logits, p: top_p(logits, 1 - p),
    lambda logits, p: soft(top_p(logits, p)),
    lambda logits, p: keep(logits, order(logits)[: math.ceil(p * len(logits))]),
    lambda logits, p: np.where(np.cumsum(soft(logits)) <= p, logits, -np.inf),
    lambda logits, p: top_p(logits, p)[order(logits)],
    lambda logits, p: np.where(logits >= np.quantile(logits, 1 - p), logits, -np.inf),
    lambda logits, p: np.where(soft(logits) > p, logits, -np.inf),
)


def step(X, W_Q, W_K, W_V, cache, scale=None, mask=None, W=guarded):
    K, V = X @ W_K, X @ W_V
    if cache is not None:
        K, V = np.concatenate([cache[0], K]), np.concatenate([cache[1], V])
    mask = (
        np.tri(len(X), len(K), len(K) - len(X), dtype=bool)
        if mask is None
        else mask(len(X), len(K))
    )
    return attention(X @ W_Q, K, V, mask, scale, W), (K, V)


def step_torch(X_new, W_Q, W_K, W_V, cache):
    k, v = X_new @ W_K, X_new @ W_V
    if cache:
        k, v = torch.cat([cache["k"], k]), torch.cat([cache["v"], v])
    mask = torch.ones(len(X_new), len(k)).tril(len(k) - len(X_new)).bool()
    return F.scaled_dot_product_attention(X_new @ W_Q, k, v, mask), {"k": k, "v": v}


right(
    "cached_attention",
    step,
    step_torch,
    lambda X_new, W_Q, W_K, W_V, cache=None: list(step(X_new, W_Q, W_K, W_V, cache)),
    lambda X_new, W_Q, W_K, W_V, cache: (
        lambda X: (step(X, W_Q, W_K, W_V, None)[0][-len(X_new) :], X)
    )(X_new if cache is None else np.vstack([cache, X_new])),
)
wrong(
    "cached_attention",
    lambda X_new, W_Q, W_K, W_V, cache: step(X_new, W_Q, W_K, W_V, cache, W_Q.shape[1] ** -1 / 2),
    lambda X_new, W_Q, W_K, W_V, cache: step(X_new, W_Q, W_K, W_V, cache, 1.0),
    lambda X_new, W_Q, W_K, W_V, cache: step(X_new, W_Q, W_K, W_V, cache, W_V.shape[1] ** -0.5),
    lambda X_new, W_Q, W_K, W_V, cache: step(
        X_new, W_Q, W_K, W_V, cache, mask=lambda n, m: np.tri(n, m, dtype=bool)
    ),
    lambda X_new, W_Q, W_K, W_V, cache: step(
        X_new, W_Q, W_K, W_V, cache, mask=lambda n, m: np.ones((n, m), bool)
    ),
    lambda X_new, W_Q, W_K, W_V, cache: step(X_new, W_Q, W_Q, W_V, cache),
    lambda X_new, W_Q, W_K, W_V, cache: step(X_new, W_Q, W_K, W_V, None),
    lambda X_new, W_Q, W_K, W_V, cache: (step(X_new, W_Q, W_K, W_V, cache)[0], cache),
    lambda X_new, W_Q, W_K, W_V, cache: step(X_new, W_Q, W_K, W_V, cache)[0],
    lambda X_new, W_Q, W_K, W_V, cache: step(X_new, W_Q, W_K, W_V, cache)[::-1],
    lambda X_new, W_Q, W_K, W_V, cache: (
        step(X_new, W_Q, W_K, W_V, cache)[0],
        *step(X_new, W_Q, W_K, W_V, cache)[1],
    ),
    lambda X_new, W_Q, W_K, W_V, cache: step(X_new, W_Q, W_K, W_V, cache and cache[::-1]),
    lambda X_new, W_Q, W_K, W_V, cache: (
        lambda O, c: (O, (np.vstack([c[0], c[0][-1:]]), np.vstack([c[1], c[1][-1:]])))
    )(*step(X_new, W_Q, W_K, W_V, cache)),
    lambda X_new, W_Q, W_K, W_V, cache: (lambda O, c: (O, (c[0][-3:], c[1][-3:])))(
        *step(X_new, W_Q, W_K, W_V, cache)
    ),
    lambda X_new, W_Q, W_K, W_V, cache: (lambda O, c: (O[-1:], c))(
        *step(X_new, W_Q, W_K, W_V, cache)
    ),
)


@lru_cache
def _once(shape):
    return np.random.default_rng().normal(size=shape)


wrong(
    "feed_forward",
    lambda X, W_1, b_1, W_2, b_2: (
        ffn(X, W_1, b_1, W_2, b_2) + 0.1 * np.random.default_rng().random()
    ),
)


def sinusoid(places, d):
    pair = np.arange(d) // 2
    angles = places[:, None] / 10000 ** (2 * pair / d)
    return np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))


def shares(x, shift):
    e = np.exp(x - shift)
    return e / e.sum(-1, keepdims=True)


def in_two_axes_at_most(X, h):
    if X.ndim > 4:
        raise ValueError("too many axes")
    return np.moveaxis(X.reshape(*X.shape[:-1], h, -1), -2, -3)


def joined(H):
    return H.swapaxes(-3, -2).reshape(*H.shape[:-3], H.shape[-2], -1)


def in_heads(X, h):
    return X.reshape(*X.shape[:-1], h, -1).swapaxes(-3, -2)


def renewed(sign):
    def tied_head(E):
        kept = {"sign": sign(E), "E": 1 * E}

        def head(X):
            if sign(E) != kept["sign"]:
                kept.update(sign=sign(E), E=1 * E)
            return X @ kept["E"].T

        return head

    return tied_head


def k_best(order):
    def top_k_filter(logits, k):
        keep = np.argsort(-order(np.asarray(logits)), kind="stable")[:k]
        out = np.full(len(logits), -np.inf)
        out[keep] = logits[keep]
        return out

    return top_k_filter


# Inputs where only some answers go wrong: spaces, many places, rows far apart, axes of length 1
wrong("train_bpe", *(
    lambda words, n, strip=strip: EXERCISES["train_bpe"].reference([strip(w) for w in words], n)
    for strip in (str.strip, str.lstrip)
))  # fmt: skip
wrong("bpe_encode", lambda word, merges: EXERCISES["bpe_encode"].reference(word.strip(), merges))
wrong("sinusoidal_positions", *(
    lambda n, d, most=most: sinusoid(np.arange(most), d)[:n] for most in (100, 512, 600, 4096, 5000)
))  # fmt: skip
wrong(
    "softmax",
    lambda x: shares(x, np.where(np.isfinite(x), x, 0).mean(-1, keepdims=True)),
    lambda x: shares(x, np.median(x, axis=-1, keepdims=True)),
    lambda x: shares(x, x[..., :1]),
    lambda x: shares(x, x[..., -1:]),
    lambda x: shares(x, x.min(-1, keepdims=True)),
    *(
        lambda x, low=low: (lambda y: shares(y, y.max(-1, keepdims=True)))(
            np.where(np.isneginf(x), low, x)
        )
        for low in (-1e9, -1e4, -1e6, -1e20)
    ),
    lambda x: shares(x, x.max(-1, keepdims=True)).astype(x.dtype),
    lambda x: shares(x, x.max(-1, keepdims=True)).squeeze(),
)
wrong("split_heads", in_two_axes_at_most, lambda X, h: in_heads(X, h).squeeze())
wrong("merge_heads", lambda H: joined(H).squeeze(), lambda H: joined(H) if H.ndim < 6 else H)
wrong(
    "tied_head",
    *map(renewed, (np.sum, np.max, np.linalg.norm, lambda E: E[0, 0], lambda E: E[-1, -1])),
    lambda E: lambda X: X @ np.asarray(E, dtype=np.float32).T,
    lambda E, W=None: (lambda W: lambda X: X @ W.T)(np.asarray(E, dtype=np.float32)),
    lambda E: lambda X: X @ np.round(E, 8).T,
)
wrong("top_k_filter", *map(k_best, (
    lambda z: np.exp(z - z.max()),
    lambda z: np.round(z, 6),
    lambda z: np.round(z, 8),
    np.float32,
    lambda z: np.maximum(z, z.max() - 700),
)))  # fmt: skip


# Sizes beyond a byte or a table, arrays that are not one's own, digits that tensors do not have
def causal_in_bytes(n_q, n_k):
    i, j = np.arange(n_q)[:, None], np.arange(min(n_k, 128), dtype=np.int8)
    out = np.zeros((n_q, n_k), bool)
    out[:, : len(j)] = j - i <= n_k - n_q
    return out


def causal_of_a_table(most):
    table = np.tri(most, dtype=bool)
    return lambda n_q, n_k: table[max(n_k, n_q) - n_q :, max(n_q - n_k, 0) :][:n_q, :n_k]


def loss_with(ids_of):
    return lambda logits, ids: EXERCISES["next_token_loss"].reference(logits, ids_of(ids))


def written_into(post):
    def block(X, attend, feed_forward, norm_1, norm_2):
        Y = attend(X if post else norm_1(X))
        Y += X
        Y = norm_1(Y) if post else Y
        Z = feed_forward(Y if post else norm_2(Y))
        Z += Y
        return norm_2(Z) if post else Z

    return block


def head_with_a_buffer(E):
    buffers = {}

    def head(X):
        buffer = buffers.setdefault((*X.shape[:-1], len(E)), np.empty((*X.shape[:-1], len(E))))
        return np.matmul(X, E.T, out=buffer)

    return head


def cache_of(most, fails):
    def cached_attention(X, W_Q, W_K, W_V, cache):
        Q, K, V = X @ W_Q, X @ W_K, X @ W_V
        if cache is not None:
            K, V = np.vstack([cache[0], K]), np.vstack([cache[1], V])
        if fails and len(K) > most:
            raise IndexError("no room")
        K, V = K[-most:], V[-most:]
        return EXERCISES["attention"].reference(
            Q, K, V, np.tri(len(Q), len(K), len(K) - len(Q), dtype=bool)
        ), (K, V)

    return cached_attention


def head_copied_at_each_use(E):
    def head(X):
        E_now, X_now = (torch.tensor(np.ascontiguousarray(a), dtype=torch.float64) for a in (E, X))
        return F.linear(X_now, E_now).numpy()

    return head


def by_ids_alone():
    results = {}

    def embed(ids, E):
        return results.setdefault(tuple(np.asarray(ids).tolist()), E[ids] * E.shape[1] ** 0.5)

    return embed


wrong("embed", lambda ids, E: E[np.asarray(ids).astype(np.uint8)] * E.shape[1] ** 0.5)
wrong("embed", by_ids_alone())
wrong("causal_mask", causal_in_bytes, *map(causal_of_a_table, (32, 256, 1024)))
wrong("next_token_loss", loss_with(lambda ids: ids.astype(np.uint8)))
wrong("post_norm_block", written_into(post=True))
wrong("pre_norm_block", written_into(post=False))
wrong("tied_head", head_with_a_buffer)
wrong("cached_attention", *(cache_of(most, fails) for most in (16, 128) for fails in (0, 1)))
right("tied_head", head_copied_at_each_use)
