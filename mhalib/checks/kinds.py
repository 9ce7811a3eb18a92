"""What to say of a wrong shape, a wrong mask, a wrong list."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib.checks.exercise import Case
from mhalib.checks.values import close

Array = NDArray[Any]


def of_shape(
    names: Sequence[str], cases: Sequence[Case], pairs: Sequence[tuple[Array, Array]]
) -> str:
    """Say more about wrong shapes, of (yours, right) in `pairs`, than the first two shapes."""
    value, right = pairs[0]
    if value.size == right.size and sorted(value.shape) == sorted(right.shape):
        for axes in itertools.permutations(range(right.ndim)):
            if (
                value.shape == right.transpose(axes).shape
                and close(value, right.transpose(axes)).all()
            ):
                return "The numbers are right, the axes stand in another order."
        return "The sizes are right, in another order."
    if value.size == right.size and close(value.reshape(right.shape), right).all():
        return "The numbers are right, and in order, but divided into other axes."
    for axis in range(right.ndim):
        if all(a.shape == b.shape[:axis] + b.shape[axis + 1 :] for a, b in pairs):
            return f"Axis {axis} is missing: its length should be {right.shape[axis]}."
    for k, name in enumerate(names):
        if value.ndim and all(
            len(case.args) > k and np.shape(case.args[k]) == a.shape
            for case, (a, _) in zip(cases, pairs, strict=True)
        ):
            return f"That is the shape of {name}."
    if value.ndim != right.ndim:
        return f"It has {value.ndim} axes and should have {right.ndim}."
    return ""


def of_mask(value: Array, right: Array) -> str:
    """Say which keys the first wrong query may see."""
    if value.shape != right.shape or value.dtype != bool:
        return _of_shape_mask(value, right)
    place = tuple(int(i) for i in np.argwhere(value != right)[0][:-1])
    which = f"Query {place[0]}" if len(place) == 1 else f"Row {list(place)}"
    return f"{which} may see {_keys(right[place])}. Yours lets it see {_keys(value[place])}."


def _of_shape_mask(value: Array, right: Array) -> str:
    if value.shape == right.shape:
        return "A mask holds True and False."
    return f"It has {value.ndim} axes and should have {right.ndim}." * (value.ndim != right.ndim)


def _keys(row: Array) -> str:
    keys = [str(int(i)) for i in np.flatnonzero(row)]
    if not keys:
        return "no key"
    if len(keys) > 8:
        some = "" if int(keys[-1]) - int(keys[0]) == len(keys) - 1 else f"{len(keys)} of the "
        return f"{some}keys {keys[0]} to {keys[-1]}"
    return f"key{'s' * (len(keys) > 1)} {', '.join(keys)}"


def of_list(case: Case, value: list[Any], right: list[Any]) -> str:
    """Say where two lists part."""
    if value == list(case.args[0]):
        return "Nothing was changed: this is the list that came in."
    if sorted(value) == sorted(right):
        return "The right entries, in another order."
    if value == right[: len(value)]:
        return f"It stops too early: {len(value)} of {len(right)} entries came, all of them right."
    if right == value[: len(right)]:
        return f"It goes on too long: after {len(right)} right entries there is more."
    place = next(i for i, (a, b) in enumerate(zip(value, right)) if a != b)
    return f"Entry {place} is the first that differs: {value[place]} came."
