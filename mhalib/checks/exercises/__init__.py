"""The exercises, in the order of the lessons: what is right, on which inputs, which mistakes."""

from mhalib.checks.exercise import Exercise
from mhalib.checks.exercises import (
    lesson1_encode,
    lesson1_merge,
    lesson1_train,
    lesson2_embedding,
    lesson3_attention,
    lesson3_masks,
    lesson3_scores,
    lesson3_softmax,
    lesson4_scores,
    lesson5_heads,
    lesson5_multihead,
    lesson6_feed_forward,
    lesson6_norm,
    lesson6_post_norm,
    lesson6_pre_norm,
    lesson7_cache,
    lesson7_head,
    lesson7_loss,
    lesson7_top_k,
    lesson7_top_p,
)

_MODULES = (
    lesson1_merge, lesson1_train, lesson1_encode, lesson2_embedding,
    lesson3_scores, lesson3_softmax, lesson3_masks, lesson3_attention, lesson4_scores,
    lesson5_heads, lesson5_multihead, lesson6_norm, lesson6_feed_forward,
    lesson6_post_norm, lesson6_pre_norm, lesson7_head, lesson7_loss,
    lesson7_top_k, lesson7_top_p, lesson7_cache,
)  # fmt: skip
EXERCISES: dict[str, Exercise] = {e.name: e for module in _MODULES for e in module.EXERCISES}


def exercises() -> list[str]:
    """Return the signatures of all exercises, in the order of the lessons."""
    return [exercise.signature for exercise in EXERCISES.values()]
