"""Wrong answers of lesson 1."""

from mhalib.tokenizer import merge_pair
from mutants.parts import mutant


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


@mutant("train_bpe", "ties broken by what was seen first")
def _(words, n_merges):
    return learn(words, n_merges, lambda pairs: max(pairs, key=pairs.count))


@mutant("train_bpe", "ties broken by the largest pair")
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


@mutant("merge_pair", "overlapping pairs")
def _(ids, pair, new_id):
    out, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            out.append(new_id)
            if i + 2 == len(ids):
                break
        else:
            out.append(ids[i])
        i += 1
    return out


@mutant("bpe_encode", "stopped at a merge that is not there")
def _(word, merges):
    ids = list(word.encode("utf-8"))
    for rank, pair in enumerate(merges):
        if pair not in list(zip(ids, ids[1:])):
            return ids
        ids = merge_pair(ids, pair, 256 + rank)
    return ids


@mutant("bpe_encode", "one walk through the word")
def _(word, merges):
    rank = {pair: r for r, pair in enumerate(merges)}
    ids, out = list(word.encode("utf-8")), []
    while ids:
        pair = tuple(ids[:2])
        if pair in rank:
            out.append(256 + rank[pair])
            del ids[:2]
        else:
            out.append(ids.pop(0))
    return out
