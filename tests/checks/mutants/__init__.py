"""Wrong answers, written as readers write them: in loops, einsum, torch, not as the grader does.

Each has the name by which the grader must call its mistake.
"""

from mutants import lesson1, lesson2, lesson3, lesson4, lesson5, lesson6, lesson7  # noqa: F401
from mutants.parts import MUTANTS

__all__ = ["MUTANTS"]
