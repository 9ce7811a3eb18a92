"""Exercise of lesson 6: the block that normalises after each sum."""

from __future__ import annotations

from mhalib.checks.exercise import Exercise, Mistake
from mhalib.checks.exercises.lesson6_parts import (
    BLOCK_BATCHES,
    BLOCK_CASES,
    NO_RESIDUAL,
    draw,
    formulas,
    post,
    pre,
)

post_norm_block = Exercise(
    "post_norm_block(X, attend, feed_forward, norm_1, norm_2)",
    (6, "The block, in two orders"),
    post,
    cases=BLOCK_CASES,
    batches=BLOCK_BATCHES,
    draw=draw,
    formulas=formulas,
    mistakes=(
        Mistake(
            "pre-norm",
            "This is the pre-norm block: it normalises what goes into each sublayer. Post-norm "
            "normalises each sum.",
            pre,
        ),
        Mistake("no residual", NO_RESIDUAL, lambda X, a, f, n1, n2: n2(f(n1(a(X))))),
        Mistake(
            "no residual around the feed-forward",
            NO_RESIDUAL,
            lambda X, a, f, n1, n2: n2(f(n1(X + a(X)))),
        ),
        Mistake(
            "no residual around the attention",
            NO_RESIDUAL,
            lambda X, a, f, n1, n2: post(X, lambda X: a(X) - X, f, n1, n2),
        ),
        Mistake(
            "second residual from the block's input",
            "The second sum starts from the stream as it is after the first norm, not from the "
            "block's input.",
            lambda X, a, f, n1, n2: n2(X + f(n1(X + a(X)))),
        ),
        Mistake(
            "normalised before the sum",
            "The norm was taken of the sublayer's output alone: X + norm(f(X)). Post-norm takes"
            " it of the sum.",
            lambda X, a, f, n1, n2: (lambda Y: Y + n2(f(Y)))(X + n1(a(X))),
        ),
        Mistake(
            "second norm missing",
            "Both sums are normalised.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(Y))(n1(X + a(X))),
        ),
        Mistake(
            "first norm missing",
            "Both sums are normalised.",
            lambda X, a, f, n1, n2: (lambda Y: n2(Y + f(Y)))(X + a(X)),
        ),
        Mistake(
            "no norm",
            "Both sums are normalised.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(Y))(X + a(X)),
        ),
        Mistake(
            "norms exchanged",
            "norm_1 follows the attention, norm_2 the feed-forward.",
            lambda X, a, f, n1, n2: post(X, a, f, n2, n1),
        ),
        Mistake(
            "the same norm twice",
            "norm_1 follows the attention, norm_2 the feed-forward: each has its own parameters.",
            lambda X, a, f, n1, n2: post(X, a, f, n1, n1),
        ),
        Mistake(
            "feed-forward before the attention",
            "The attention comes first.",
            lambda X, a, f, n1, n2: post(X, f, a, n1, n2),
        ),
        Mistake(
            "attention and feed-forward side by side",
            "The feed-forward reads what the attention has written.",
            lambda X, a, f, n1, n2: n2(n1(X + a(X)) + f(X)),
        ),
        Mistake(
            "one norm for both",
            "Each of the two sums is normalised, the first before the feed-forward reads it.",
            lambda X, a, f, n1, n2: n2(n1(X + a(X) + f(X + a(X)))),
        ),
        Mistake(
            "normalised before the sublayers, too",
            "Post-norm normalises the sums alone; the sublayers read the stream as it is.",
            lambda X, a, f, n1, n2: (lambda Y: n2(Y + f(n2(Y))))(n1(X + a(n1(X)))),
        ),
        Mistake(
            "the attention alone",
            "The second half is missing: the feed-forward, its sum and its norm.",
            lambda X, a, f, n1, n2: n1(X + a(X)),
        ),
        Mistake(
            "the feed-forward alone",
            "The first half is missing: the attention, its sum and its norm.",
            lambda X, a, f, n1, n2: n2(X + f(X)),
        ),
        Mistake(
            "the feed-forward reads the sum before its norm",
            "The feed-forward reads the stream as it is after the first norm.",
            lambda X, a, f, n1, n2: n2(n1(X + a(X)) + f(X + a(X))),
        ),
        Mistake(
            "second residual from before the norm",
            "The second sum starts from the stream as it is after the first norm. Here it starts "
            "from the sum before that norm.",
            lambda X, a, f, n1, n2: n2(X + a(X) + f(n1(X + a(X)))),
        ),
        Mistake(
            "sublayers one after the other, one sum",
            "Each sublayer has a sum of its own.",
            lambda X, a, f, n1, n2: n2(X + f(n1(a(X)))),
        ),
        Mistake(
            "subtracted, not added",
            "A sublayer's output is added to the stream.",
            lambda X, a, f, n1, n2: post(X, lambda X: -a(X), lambda X: -f(X), n1, n2),
        ),
    ),
)


EXERCISES = (post_norm_block,)
