"""Exercise of lesson 6: the block that normalises before each sublayer."""

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
    pre_normed_residual,
)

pre_norm_block = Exercise(
    "pre_norm_block(X, attend, feed_forward, norm_1, norm_2)",
    (6, "The block, in two orders"),
    pre,
    cases=BLOCK_CASES,
    batches=BLOCK_BATCHES,
    draw=draw,
    formulas=formulas,
    mistakes=(
        Mistake(
            "residual from the normed input",
            "The stream was replaced by its normalised copy before the correction was added. Only "
            "the sublayer sees that copy; the sum starts from the stream itself.",
            pre_normed_residual,
            "x = [1, 3] with one sublayer that returns its input and one that returns 0 gives "
            "[−1, 1], not [0, 4]",
        ),
        Mistake(
            "post-norm",
            "This is the post-norm block: it normalises each sum. Pre-norm normalises what goes"
            " into each sublayer.",
            post,
        ),
        Mistake("no residual", NO_RESIDUAL, lambda X, a, f, n1, n2: f(n2(a(n1(X))))),
        Mistake(
            "no residual around the feed-forward",
            NO_RESIDUAL,
            lambda X, a, f, n1, n2: f(n2(X + a(n1(X)))),
        ),
        Mistake(
            "no residual around the attention",
            NO_RESIDUAL,
            lambda X, a, f, n1, n2: (lambda Y: Y + f(n2(Y)))(a(n1(X))),
        ),
        Mistake(
            "second residual from the block's input",
            "The second sum starts from the stream after the attention.",
            lambda X, a, f, n1, n2: X + f(n2(X + a(n1(X)))),
        ),
        Mistake(
            "normalised after the sublayer",
            "The norm was taken of the sublayer's output. Pre-norm takes it of the sublayer's "
            "input.",
            lambda X, a, f, n1, n2: (lambda Y: Y + n2(f(Y)))(X + n1(a(X))),
        ),
        Mistake(
            "second norm missing",
            "Both sublayers get a normalised input.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(Y))(X + a(n1(X))),
        ),
        Mistake(
            "first norm missing",
            "Both sublayers get a normalised input.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(n2(Y)))(X + a(X)),
        ),
        Mistake(
            "norms exchanged",
            "norm_1 precedes the attention, norm_2 the feed-forward.",
            lambda X, a, f, n1, n2: pre(X, a, f, n2, n1),
        ),
        Mistake(
            "the same norm twice",
            "norm_1 precedes the attention, norm_2 the feed-forward: each has its own parameters.",
            lambda X, a, f, n1, n2: pre(X, a, f, n1, n1),
        ),
        Mistake(
            "attention and feed-forward side by side",
            "The feed-forward reads what the attention has written.",
            lambda X, a, f, n1, n2: X + a(n1(X)) + f(n2(X)),
        ),
        Mistake(
            "no norm",
            "Both sublayers get a normalised input.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(Y))(X + a(X)),
        ),
        Mistake(
            "a norm at the end, too",
            "The stream leaves a pre-norm block as it is; only what enters a sublayer is "
            "normalised.",
            lambda X, a, f, n1, n2: n2(pre(X, a, f, n1, n2)),
        ),
        Mistake(
            "residual from the normed input, once",
            "The second sum starts from the stream itself, not from its normalised copy.",
            lambda X, a, f, n1, n2: (lambda Y: n2(Y) + f(n2(Y)))(X + a(n1(X))),
        ),
        Mistake(
            "residual from the normed input, once",
            "The first sum starts from the stream itself, not from its normalised copy.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(n2(Y)))(n1(X) + a(n1(X))),
        ),
        Mistake(
            "the attention alone",
            "The second half is missing: the second norm, the feed-forward and its sum.",
            lambda X, a, f, n1, n2: X + a(n1(X)),
        ),
        Mistake(
            "the feed-forward alone",
            "The first half is missing: the first norm, the attention and its sum.",
            lambda X, a, f, n1, n2: X + f(n2(X)),
        ),
        Mistake(
            "feed-forward before the attention",
            "The attention comes first.",
            lambda X, a, f, n1, n2: pre(X, f, a, n1, n2),
        ),
        Mistake(
            "the feed-forward reads the block's input",
            "The feed-forward reads the normalised stream as it is after the attention.",
            lambda X, a, f, n1, n2: X + a(n1(X)) + f(n2(n1(X))),
        ),
        Mistake(
            "subtracted, not added",
            "A sublayer's output is added to the stream.",
            lambda X, a, f, n1, n2: pre(X, lambda X: -a(X), lambda X: -f(X), n1, n2),
        ),
    ),
)


EXERCISES = (pre_norm_block,)
