"""The problems of chapters 3 and 4: from one score to a whole head with its mask."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

import mhalib
from mhalib.by_hand.problem import Grid, Mistake, Rung, Values, number

TOKENS = ("I", "love", "bats")
D_K = 4  # so that √d_k is a whole number
FEATURES = tuple(map(str, range(D_K)))
CAUSAL = mhalib.causal_mask(len(TOKENS))


def power(score: float) -> float:
    """e to a score as the table has it: three digits, and at most three decimals."""
    return round(float(f"{np.exp(score):.3g}"), 3)


POWERS = range(-3, 4)
EXP = Grid("e to the power of", (), tuple(f"{p}".replace("-", "−") for p in POWERS),
           [[power(p) for p in POWERS]])  # fmt: skip

NO_SCALE = "The scale is missing: divide the product by √`d_k`."
SWAPPED = "Q and K are swapped: a row belongs to a query, a column to a key."
MASK_AFTER = "The mask came after the softmax: what is left does not sum to 1. Mask the scores."
NO_MASK = "The mask is missing: no token reads a later one."
COLUMNS = "The softmax ran down the columns: each row is to sum to 1, over its keys."


def product(a: np.ndarray, b: np.ndarray) -> str:
    """a · b as text, each product of it: "1·2 + 0·(−1)"."""

    def factor(value: float) -> str:
        return f"({number(value)})" if value < 0 else number(value)

    return " + ".join(f"{factor(x)}·{factor(y)}" for x, y in zip(a, b, strict=True))


def share(scores: np.ndarray, j: int) -> str:
    """The weight of key j as text: "e² / (e⁰ + e²)", with the numbers of the table."""
    powers = [f"{power(s):g}" for s in scores]
    return f"{powers[j]} / ({' + '.join(powers)})"


def unit_rows(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum(-1, keepdims=True)


# --------------------------------------------------------------------------------- one score
def draw_score(rng: Generator) -> Values:
    while True:
        q, k = rng.integers(-2, 4, (2, D_K))
        if q @ k % 2 == 0 and 0 < abs(q @ k) <= 16 and np.count_nonzero(q * k) >= 3:
            return {"q": q, "k": k}


def score(numbers: Values, scale: float | None = None) -> Values:
    q, k = (numbers[name][None].astype(float) for name in "qk")
    return {"score": mhalib.scores(q, k, scale=scale)}


SCORE = Rung(
    "score",
    "One score",
    "How well does this key answer this query? `d_k` = 4, so √`d_k` = 2.",
    "04-scaling",
    draw_score,
    lambda m: [
        Grid("q and k", ("q", "k"), FEATURES, np.stack([m["q"], m["k"]])),
        Grid("score", (), ("q · k / √`d_k`",), formula="add the products, divide by √`d_k`"),
    ],
    score,
    lambda m: {"score": [[f"({product(m['q'], m['k'])}) / 2"]]},
    (
        Mistake("no scale", NO_SCALE, lambda m: score(m, 1.0)),
        Mistake("divided by `d_k`", "That is divided by `d_k`. Divide by its root, √`d_k`.",
                lambda m: score(m, 1 / D_K)),
        Mistake("multiplied by √`d_k`", "That is multiplied by √`d_k`. Divide by it.",
                lambda m: score(m, D_K**0.5)),
    ),
)  # fmt: skip


# ------------------------------------------------------------------------- the scores of a row
VECTORS = np.indices((4,) * D_K).reshape(D_K, -1).T - 1.0  # every one of −1 … 2


def draw_rows(rng: Generator, largest: int) -> Values:
    """Q and K whose products are even, so that scores are whole numbers, and not too large."""
    while True:
        Q = rng.choice(VECTORS, 3)
        P = VECTORS @ Q.T
        usable = VECTORS[(P % 2 == 0).all(1) & (abs(P) <= largest).all(1)]
        if len(usable) > 2:
            return {"Q": Q, "K": rng.choice(usable, 3, replace=False)}


def draw_scores(rng: Generator) -> Values:
    return {**draw_rows(rng, 12), "row": int(rng.integers(3))}


def scores(numbers: Values, scale: float | None = None, swapped: bool = False) -> Values:
    Q, K = numbers["Q"], numbers["K"]
    S = mhalib.scores(K, Q, scale=scale) if swapped else mhalib.scores(Q, K, scale=scale)
    return {"scores": S[[numbers["row"]]]}


SCORES = Rung(
    "scores",
    "The scores of a row",
    "One token asks all three. The row of scores named below is wanted; √`d_k` = 2.",
    "03-single-head",
    draw_scores,
    lambda m: [
        Grid("Q", TOKENS, FEATURES, m["Q"]),
        Grid("K", TOKENS, FEATURES, m["K"]),
        Grid("scores", (f"“{TOKENS[m['row']]}” asks",), TOKENS,
             formula="the row of Q of the asking token · the row of K of the other, / √`d_k`"),
    ],
    scores,
    lambda m: {"scores": [[f"({product(m['Q'][m['row']], k)}) / 2" for k in m["K"]]]},
    (
        Mistake("no scale", NO_SCALE, lambda m: scores(m, 1.0)),
        Mistake("Q and K swapped", SWAPPED, lambda m: scores(m, swapped=True)),
        Mistake("divided by `d_k`", "That is divided by `d_k`. Divide by its root, √`d_k`.",
                lambda m: scores(m, 1 / D_K)),
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- a row of softmax
KEYS = ("I", "love", "my", "bats")


def draw_softmax(rng: Generator) -> Values:
    while True:
        s = rng.integers(0, 4, (1, len(KEYS))) - float(rng.integers(2))
        if s.sum() > 0 and np.ptp(s) > 0:
            return {"s": s}


def exponentials(numbers: Values) -> np.ndarray:
    return np.exp(numbers["s"])


SOFTMAX = Rung(
    "softmax",
    "A row of softmax",
    "Turn the scores into weights, to two decimals. Subtracting the largest score first is "
    "optional.",
    "03-single-head",
    draw_softmax,
    lambda m: [
        Grid("scores", (), KEYS, m["s"]),
        EXP,
        Grid("weights", (), KEYS, formula="e to its score / the sum of all of these"),
    ],
    lambda m: {"weights": mhalib.softmax(m["s"])},
    lambda m: {"weights": [[share(m["s"][0], j) for j in range(len(KEYS))]]},
    (
        Mistake("not divided by the sum",
                "Those are the powers of e. Divide by their sum: weights sum to 1.",
                lambda m: {"weights": exponentials(m)}),
        Mistake("divided by the largest",
                "That is divided by the largest power. Divide by the sum of all.",
                lambda m: {"weights": exponentials(m) / exponentials(m).max()}),
        Mistake("no exponential",
                "That is the score's share in the sum of scores. Take e to the score first.",
                lambda m: {"weights": m["s"] / m["s"].sum()}),
    ),
)  # fmt: skip


# -------------------------------------------------------------------------- the causal mask
def draw_mask(rng: Generator) -> Values:
    return {"S": rng.integers(0, 4, (3, 3)).astype(float)}


def masked(S: np.ndarray, mistake: str = "") -> np.ndarray:
    """Causal weights, or what a mistake makes of them."""
    weights: np.ndarray
    if mistake == "after":
        weights = np.where(CAUSAL, mhalib.softmax(S), 0.0)
    elif mistake == "none":
        weights = mhalib.softmax(S)
    elif mistake == "zero":
        weights = mhalib.softmax(np.where(CAUSAL, S, 0.0))
    elif mistake == "columns":
        weights = mhalib.attention_weights(S.T, CAUSAL.T).T
    elif mistake == "turned":
        weights = mhalib.attention_weights(S, CAUSAL.T)
    else:
        weights = mhalib.attention_weights(S, CAUSAL)
    return weights


MASK = Rung(
    "mask",
    "Mask, then softmax",
    "The mask is causal: a token reads itself and what stands before it. All nine weights.",
    "03-single-head",
    draw_mask,
    lambda m: [
        Grid("scores", TOKENS, TOKENS, m["S"]),
        EXP,
        Grid("weights", TOKENS, TOKENS,
             formula="e to its score / the sum over the keys it may read; 0 where it may not"),
    ],
    lambda m: {"weights": masked(m["S"])},
    lambda m: {"weights": [[share(m["S"][i, : i + 1], j) if j <= i else "masked"
                            for j in range(3)] for i in range(3)]},
    (
        Mistake("mask after the softmax", MASK_AFTER,
                lambda m: {"weights": masked(m["S"], "after")}),
        Mistake("no mask", NO_MASK, lambda m: {"weights": masked(m["S"], "none")}),
        Mistake("masked scores set to 0",
                "Masked scores were set to 0, and e⁰ = 1 still takes its share. Set them to −∞.",
                lambda m: {"weights": masked(m["S"], "zero")}),
        Mistake("softmax down the columns", COLUMNS,
                lambda m: {"weights": masked(m["S"], "columns")}),
        Mistake("mask turned around",
                "The mask is turned around: a token reads what stands before it, not after.",
                lambda m: {"weights": masked(m["S"], "turned")}),
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- a whole head with mask
def draw_head(rng: Generator) -> Values:
    while True:
        m = draw_rows(rng, 6)
        S = np.stack([m["Q"] @ m["K"].T, m["K"] @ m["Q"].T]) / 2
        V = rng.integers(-1, 3, (3, 2)).astype(float)
        # powers that the table has, with the largest subtracted or not
        near = all(np.ptp(S[:, i, : i + 1], axis=-1).max() <= 3 for i in range(3))
        if near and np.ptp(S[0, 2]) and np.abs(V).sum(0).max() <= 4 and np.ptp(V, axis=0).min():
            return {**m, "V": V}


def head(
    numbers: Values, mistake: str = "", scale: float | None = None, swapped: bool = False
) -> Values:
    Q, K, V = (numbers[name] for name in "QKV")
    S = mhalib.scores(*((K, Q) if swapped else (Q, K)), scale=scale)
    weights = masked(S, mistake)
    return {"scores": S, "weights": weights, "output": weights @ V}


def head_steps(numbers: Values) -> Values:
    Q, K, V = (numbers[name] for name in "QKV")
    right = head(numbers)
    S, W = right["scores"], right["weights"]
    n = range(3)
    return {
        "scores": [[f"({product(Q[i], K[j])}) / 2" for j in n] for i in n],
        "weights": [[share(S[i, : i + 1], min(i, j)) for j in n] for i in n],
        "output": [[product(W[i, : i + 1], V[: i + 1, t]) for t in range(2)] for i in n],
    }


HEAD = Rung(
    "head",
    "A whole head with mask",
    "Scores, weights and output of one head. The mask is causal, √`d_k` = 2; hatched is masked.",
    "03-single-head",
    draw_head,
    lambda m: [
        Grid("Q", TOKENS, FEATURES, m["Q"]),
        Grid("K", TOKENS, FEATURES, m["K"]),
        Grid("V", TOKENS, ("0", "1"), m["V"]),
        EXP,
        Grid("scores", TOKENS, TOKENS, hidden=~CAUSAL, formula="row of Q · row of K / √`d_k`"),
        Grid("weights", TOKENS, TOKENS, hidden=~CAUSAL,
             formula="e to its score / the sum over the keys it may read"),
        Grid("output", TOKENS, ("0", "1"), within=0.03,
             formula="each weight of the row × the value of its key, added"),
    ],
    head,
    head_steps,
    (
        Mistake("no scale", NO_SCALE, lambda m: head(m, scale=1.0)),
        Mistake("Q and K swapped", SWAPPED, lambda m: head(m, swapped=True)),
        Mistake("mask after the softmax", MASK_AFTER, lambda m: head(m, "after")),
        Mistake("no mask", NO_MASK, lambda m: head(m, "none")),
        Mistake("softmax down the columns", COLUMNS, lambda m: head(m, "columns")),
    ),
)  # fmt: skip
