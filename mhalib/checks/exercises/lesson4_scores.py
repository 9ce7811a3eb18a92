"""Exercise of lesson 4: scores with their divisor."""

from __future__ import annotations

import math
from functools import partial

import mhalib
from mhalib.checks.exercise import Case, Exercise, Mistake, normal
from mhalib.checks.exercises.shared import NO_TRANSPOSE, QK, SCALES, SWAPPED, scaled
from mhalib.checks.properties import W, weigh

scores = Exercise(
    "scores(Q, K)",
    (4, "Why: variances add"),
    mhalib.scores,
    cases=tuple(Case(Q, K) for Q, K in QK),
    batches=(Case(normal(2, 3, 5), normal(2, 7, 5, seed=1)),),
    mistakes=(
        *(
            Mistake(name, why, partial(scaled, factor=factor))
            for name, (why, factor) in SCALES.items()
        ),
        Mistake(*NO_TRANSPOSE, lambda Q, K: Q @ K / math.sqrt(Q.shape[-1])),
        Mistake(*SWAPPED, lambda Q, K: scaled(K, Q)),
        Mistake(
            "scale √n",
            "The divisor is √d_k, the root of the length of a query, not of the number of keys.",
            lambda Q, K: Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-2]),
        ),
    ),
    trial=lambda f: lambda X, W_V: weigh(f(X @ W[0], X @ W[1])) @ X @ W_V,
)

EXERCISES = (scores,)
