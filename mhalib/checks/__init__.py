"""The exercise grader: `check(name, function)` says whether a reader's function is right.

If it is not, the answer names the mistake, the property it breaks, and the smallest input that
shows it. It never shows a solution. Functions may use NumPy or torch.
"""

from mhalib.checks.exercise import Case, Exercise, Mistake
from mhalib.checks.exercises import EXERCISES, exercises
from mhalib.checks.grader import check
from mhalib.checks.result import Result

__all__ = ["EXERCISES", "Case", "Exercise", "Mistake", "Result", "check", "exercises"]
