"""What an exercise consists of. `exercises/` lists them, lesson by lesson."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

Function = Callable[..., Any]
PRIMES = (2, 3, 5, 7, 11)
REFERENCE = ""  # only right values tell


class Misuse(Exception):
    """The reader's function gave something that cannot be judged; the message says what."""


class Nothing(Misuse):
    """It returned None, or the dots of the stub."""

    def __init__(self, value: object) -> None:
        super().__init__(f"It returned {value}.")


@dataclass(frozen=True)
class Mistake:
    """A known mistake.

    Parameters
    ----------
    name : how the mistake is called
    why : what happens, in plain words
    wrong : a function that makes the mistake; a reader's function that gives the same wrong
        values has made it too
    breaks : the property by which the mistake can be noticed, or REFERENCE if there is none
    """

    name: str
    why: str
    wrong: Function
    breaks: str = REFERENCE


class Case:
    """Arguments on which functions are compared, and what is special about them."""

    def __init__(self, *args: Any, note: str = "") -> None:
        self.args = args
        self.note = note

    @property
    def size(self) -> int:
        """How much there is to read."""
        return sum(
            getattr(arg, "size", len(arg) if isinstance(arg, (str, list)) else 1)
            for arg in self.args
        )


@dataclass(frozen=True)
class Exercise:
    """An exercise: what is right, on which inputs it is tested, and which mistakes are known.

    Parameters
    ----------
    signature : ``name(argument, …)``, as the lesson's stub has it
    section : number of the lesson, and the heading under which it explains this
    reference : a right function
    cases : inputs, the smallest first; the first can be worked out by hand. Those with a note are
        special, and tried once the others pass
    draw : ``draw(rng, i)`` makes the i-th of the inputs with which the search goes on
    mistakes : known mistakes; where two give the same values, the first is named
    batches : inputs with batch axes, tried once the cases pass
    batch_needed : whether those belong to the task, or only earn a remark
    returns : "array", "mask" (an array of booleans), "vector" (an array, or a list of numbers),
        "number", "ids" or "pairs" (lists)
    call : how the function is used, ``call(function, *args)``; a plain call if not given
    labels : names by which the arguments of a case are shown, those of the signature if not given
    trial : the answer's place in a causal attention ``run(X, W_V)``, on which the properties of
        `mhalib.checks.properties` are tested: ``trial(function)`` returns it
    formulas : gives pairs (words, function) of what else a reader may have written
    masked : whether a causal mask belongs to the exercise, so that its words may speak of one
    tolerance : which relative difference is rounding, in float64
    shares : whether each row of the result sums to 1
    story : what was done before the value shown came, if that is more than one call
    rowwise : whether each row of the result comes from one row of the first argument alone
    """

    signature: str
    section: tuple[int, str]
    reference: Function
    cases: tuple[Case, ...]
    mistakes: tuple[Mistake, ...]
    draw: Callable[[Generator, int], Case]
    batches: tuple[Case, ...] = ()
    batch_needed: bool = False
    returns: Literal["array", "arrays", "mask", "vector", "number", "ids", "pairs"] = "array"
    call: Callable[..., Any] | None = None
    labels: tuple[str, ...] = ()
    trial: Callable[[Function], Function] | None = None
    formulas: Callable[[], Iterable[tuple[str, Function]]] = tuple
    masked: bool = False
    tolerance: float = 1e-4
    shares: bool = False
    rowwise: bool = False
    story: str = ""

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0]

    @property
    def parameters(self) -> list[str]:
        """The function's parameters, as in the signature."""
        inside = self.signature.partition("(")[2].rpartition(")")[0]
        return [part.partition("=")[0].strip() for part in inside.split(",")]

    @property
    def optional(self) -> list[str]:
        inside = self.signature.partition("(")[2].rpartition(")")[0]
        return [part.partition("=")[0].strip() for part in inside.split(",") if "=" in part]

    @property
    def argument_names(self) -> Sequence[str]:
        return self.labels or self.parameters

    @cached_property
    def searched(self) -> tuple[Case, ...]:
        """All cases without batch axes: the plain ones, then the special ones, each from small
        to large."""
        drawn = [self.draw(np.random.default_rng(i), i) for i in range(DRAWS)]
        drawn.sort(key=lambda case: case.size)
        return tuple(sorted((*self.cases, *drawn), key=lambda case: bool(case.note)))


DRAWS = 24


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return normal numbers, the same on every machine and call."""
    return np.random.default_rng(seed).normal(size=shape)


def sizes(rng: Generator, count: int) -> list[int]:
    """Return so many different primes, so that no two axes can be mixed up."""
    return [int(n) for n in rng.choice(PRIMES, count, replace=False)]


def numbers(rng: Generator, i: int, *shape: int, scale: float = 1.0) -> np.ndarray[Any, Any]:
    """Return normal numbers; every eighth draw has float32."""
    dtype = np.float32 if i % 8 == 7 else np.float64
    return (scale * rng.normal(size=shape)).astype(dtype)
