"""The problems of chapters 5 to 7: split and merge, a layer norm, a loss."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

import mhalib
from mhalib.by_hand.problem import Grid, Mistake, Rung, Values, number

# ---------------------------------------------------------------------------- split and merge
D = 4  # features of a token
FEATURES = tuple(map(str, range(D)))
PAIR = ("bats", "live")
TWO = ("0", "1")


def draw_heads(rng: Generator) -> Values:
    return {
        "Q": rng.permutation(10)[:8].reshape(2, 4).astype(float),
        "heads": rng.permutation(10)[:8].reshape(2, 2, 2).astype(float),
    }


def split(Q: np.ndarray, heads: np.ndarray, whole: np.ndarray) -> Values:
    return {"head 0 of Q": heads[0], "head 1 of Q": heads[1], "concat": whole}


def split_steps(m: Values) -> Values:
    def cells(prefix: str, rows: int, columns: int) -> list[list[str]]:
        return [[prefix] * columns for _ in range(rows)]

    return {
        "head 0 of Q": cells("columns 0 and 1 of Q", 2, 2),
        "head 1 of Q": cells("columns 2 and 3 of Q", 2, 2),
        "concat": [["head 0"] * 2 + ["head 1"] * 2] * 2,
    }


SPLIT = Rung(
    "split",
    "Split and merge",
    "Cut Q into two heads of two columns; then put the outputs of two heads side by side.",
    "05-multi-head",
    draw_heads,
    lambda m: [
        Grid("Q", PAIR, FEATURES, m["Q"]),
        Grid("head 0 of Q", PAIR, TWO, formula="each token's first two columns"),
        Grid("head 1 of Q", PAIR, TWO, formula="each token's last two columns"),
        Grid("output of head 0", PAIR, TWO, m["heads"][0]),
        Grid("output of head 1", PAIR, TWO, m["heads"][1]),
        Grid("concat", PAIR, FEATURES, formula="a token's row of head 0, then that of head 1"),
    ],
    lambda m: split(m["Q"], mhalib.split_heads(m["Q"], 2), mhalib.merge_heads(m["heads"])),
    split_steps,
    (
        Mistake("reshaped without the transpose",
                "Reshape alone mixes tokens: a head is a block of columns of every token.",
                lambda m: split(m["Q"], m["Q"].reshape(2, 2, 2), m["heads"].reshape(2, 4))),
        Mistake("every second column",
                "Heads are blocks of columns that stand together, not every second column.",
                lambda m: split(m["Q"], np.stack([m["Q"][:, ::2], m["Q"][:, 1::2]]),
                                m["heads"].transpose(1, 2, 0).reshape(2, 4))),
        Mistake("heads in the wrong order", "Head 0 comes first, from the left.",
                lambda m: split(m["Q"], mhalib.split_heads(m["Q"], 2)[::-1],
                                mhalib.merge_heads(m["heads"][::-1]))),
    ),
)  # fmt: skip


# ---------------------------------------------------------------------------- one layer norm
def draw_rows(rng: Generator) -> Values:
    while True:
        x = rng.integers(0, 10, (2, D)).astype(float)
        mean, spread = x[0].mean(), x[0].std()
        if mean % 1 == 0 and spread > 0 and abs(spread - round(spread)) < 1e-9:
            return {"X": x}


def normed(m: Values) -> Values:
    x = m["X"][[0]]
    return {"mean": [[x.mean()]], "σ": [[x.std()]], "norm": mhalib.layer_norm(x)}


def norm_steps(m: Values) -> Values:
    x = m["X"][0]
    mean, spread = x.mean(), x.std()
    squares = " + ".join(number((v - mean) ** 2) for v in x)
    return {
        "mean": [[f"({' + '.join(map(number, x))}) / 4"]],
        "σ": [[f"√(({squares}) / 4)"]],
        "norm": [[f"({number(v)} − {number(mean)}) / {number(spread)}" for v in x]],
    }


def wrong_spread(m: Values, spread: float) -> Values:
    x = m["X"][[0]]
    return {"σ": [[spread]], "norm": (x - x.mean()) / spread}


NORM = Rung(
    "norm",
    "One layer norm",
    "Normalise the row of the first token (γ = 1, β = 0; ε is too small to be seen).",
    "06-layers",
    draw_rows,
    lambda m: [
        Grid("X", PAIR, FEATURES, m["X"]),
        Grid("mean", ("bats",), ("mean",), formula="the sum of the row / 4"),
        Grid("σ", ("bats",), ("σ",), formula="√(the mean of (x − mean)²)"),
        Grid("norm", ("bats",), FEATURES, formula="(x − mean) / σ"),
    ],
    normed,
    norm_steps,
    (
        Mistake("divided by n − 1",
                "The squares were divided by 3. A layer norm divides them by 4, all of n.",
                lambda m: wrong_spread(m, m["X"][0].std(ddof=1))),
        Mistake("no root", "The variance was taken for σ. σ is its square root.",
                lambda m: wrong_spread(m, m["X"][0].var())),
        Mistake("mean not subtracted", "Subtract the mean first.",
                lambda m: {"norm": m["X"][[0]] / m["X"][0].std()}),
        Mistake("over the tokens",
                "This is normalised over the tokens, by column. A layer norm stays in its row.",
                lambda m: {"norm": mhalib.layer_norm(m["X"].T).T[[0]]}),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------- one next-token loss
TEXT = ("the", "bats", "love", "caves")
ROWS = ((0.5, 0.25, 0.2, 0.05), (0.4, 0.3, 0.2, 0.1), (0.6, 0.2, 0.1, 0.1), (0.3, 0.3, 0.2, 0.2))
SHARES = np.array(sorted({p for row in ROWS for p in row}))
AFTER = tuple(f"after “{word}”" for word in TEXT[:3])


def draw_guesses(rng: Generator) -> Values:
    return {"P": np.stack([rng.permutation(ROWS[k]) for k in rng.integers(0, len(ROWS), 3)])}


def losses(p: np.ndarray, loss: np.ndarray | None = None, mean: float | None = None) -> Values:
    each = -np.log(p) if loss is None else loss
    return {"p": p[:, None], "loss": each[:, None],
            "mean loss": [[float(np.mean(each)) if mean is None else mean]]}  # fmt: skip


def right_losses(m: Values) -> Values:
    ids = np.arange(4)
    logits = np.log(m["P"])  # the softmax of ln p is p
    each = np.array([mhalib.cross_entropy(logits[[t]], ids[[t + 1]]) for t in range(3)])
    p = mhalib.softmax(logits)[np.arange(3), ids[1:]]
    return losses(p, each, float(mhalib.cross_entropy(logits, ids[1:])))


def next_p(m: Values) -> np.ndarray:
    p: np.ndarray = m["P"][np.arange(3), np.arange(1, 4)]
    return p


LOSS = Rung(
    "loss",
    "One next-token loss",
    "The text is “the bats love caves”. What did the model give to each next token, and what is "
    "the loss, in nats?",
    "07-vocab-head",
    draw_guesses,
    lambda m: [
        Grid("probabilities", AFTER, TEXT, m["P"]),
        Grid("−ln of", (), tuple(f"{p:g}" for p in SHARES), -np.log(SHARES).round(2)[None]),
        Grid("p", AFTER, ("of the next",), formula="the probability of the token that comes next"),
        Grid("loss", AFTER, ("−ln p",), formula="−ln of that probability"),
        Grid("mean loss", (), ("of the text",), formula="the mean of the three losses"),
    ],
    right_losses,
    lambda m: {
        "p": [[f"row “{TEXT[t]}”, column “{TEXT[t + 1]}”"] for t in range(3)],
        "loss": [[f"−ln {p:g}"] for p in next_p(m)],
        "mean loss": [[f"({' + '.join(number(-np.log(p)) for p in next_p(m))}) / 3"]],
    },
    (
        Mistake("labels not shifted",
                "The probability of the token itself was used. The label is the next one.",
                lambda m: losses(m["P"][np.arange(3), np.arange(3)])),
        Mistake("log₂", "That is log₂, in bits. The loss is −ln, in nats.",
                lambda m: losses(next_p(m), -np.log2(next_p(m)))),
        Mistake("no minus", "A loss is positive: −ln p.",
                lambda m: losses(next_p(m), np.log(next_p(m)))),
        Mistake("sum instead of mean", "That is the sum. Divide by the number of predictions.",
                lambda m: losses(next_p(m), mean=float(-np.log(next_p(m)).sum()))),
        Mistake("probabilities averaged first",
                "That is −ln of the mean probability. Take −ln of each, then the mean.",
                lambda m: losses(next_p(m), mean=float(-np.log(next_p(m).mean())))),
    ),
)  # fmt: skip
