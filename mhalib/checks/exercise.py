"""What an exercise consists of. `exercises/` lists them, lesson by lesson."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Function = Callable[..., Any]


class Misuse(Exception):
    """The reader's function gave something that cannot be judged; the message says what."""


@dataclass(frozen=True)
class Mistake:
    """A known mistake.

    Parameters
    ----------
    name : how the mistake is called
    why : what happens, in plain words
    wrong : a function that makes the mistake; a reader's function that gives the same wrong
        values has made it too
    breaks : the property by which the mistake can be noticed
    """

    name: str
    why: str
    wrong: Function
    breaks: str = "nothing but a comparison with known values"


class Case:
    """Arguments on which functions are compared, and what is special about them."""

    def __init__(self, *args: Any, note: str = "") -> None:
        self.args = args
        self.note = note


@dataclass(frozen=True)
class Exercise:
    """An exercise: what is right, on which inputs it is tested, and which mistakes are known.

    Parameters
    ----------
    signature : ``name(argument, …)``, as the lesson's stub has it
    section : number of the lesson, and the heading under which it explains this
    reference : a right function
    cases : inputs, the smallest first; the first can be worked out by hand
    mistakes : known mistakes; where two give the same values, the first is named
    batches : inputs with batch axes, tried once the cases pass
    batch_needed : whether those belong to the task, or only earn a remark
    returns : "array", "mask" (an array of booleans), "number", "ids" or "pairs" (lists)
    call : how the function is used, ``call(function, *args)``; a plain call if not given
    labels : names by which the arguments of a case are shown, those of the signature if not given
    trial : the answer's place in a causal attention ``run(X, W_V)``, on which the properties of
        `mhalib.checks.properties` are tested: ``trial(function)`` returns it
    """

    signature: str
    section: tuple[int, str]
    reference: Function
    cases: tuple[Case, ...]
    mistakes: tuple[Mistake, ...]
    batches: tuple[Case, ...] = ()
    batch_needed: bool = False
    returns: Literal["array", "arrays", "mask", "number", "ids", "pairs"] = "array"
    call: Callable[..., Any] | None = None
    labels: tuple[str, ...] = ()
    trial: Callable[[Function], Function] | None = None

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0]

    @property
    def argument_names(self) -> Sequence[str]:
        if self.labels:
            return self.labels
        inside = self.signature.partition("(")[2].rpartition(")")[0]
        return [part.partition("=")[0].strip() for part in inside.split(",")]


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return normal numbers, the same on every machine and call."""
    return np.random.default_rng(seed).normal(size=shape)
