"""The exercises, in the order of the lessons: what is right, on which inputs, which mistakes."""

from mhalib.checks.exercise import Exercise
from mhalib.checks.exercises import (
    lesson1_tokenizer,
    lesson2_embedding,
    lesson3_attention,
    lesson3_masks,
    lesson3_scores,
    lesson4_scores,
    lesson5_heads,
    lesson5_multihead,
    lesson6_blocks,
    lesson6_layers,
    lesson7_cache,
    lesson7_filters,
    lesson7_vocab,
)

_MODULES = (
    lesson1_tokenizer, lesson2_embedding, lesson3_scores, lesson3_masks, lesson3_attention,
    lesson4_scores, lesson5_heads, lesson5_multihead, lesson6_layers, lesson6_blocks,
    lesson7_vocab, lesson7_filters, lesson7_cache,
)  # fmt: skip
EXERCISES: dict[str, Exercise] = {e.name: e for module in _MODULES for e in module.EXERCISES}
