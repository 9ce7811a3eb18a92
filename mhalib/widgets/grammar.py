"""The course's language as data, so that a page can compute exact next-word probabilities too."""

from __future__ import annotations

from itertools import product
from typing import Any

from mhalib.language import FORMS, SINGULAR, Form, Slot


def tabulate() -> dict[str, Any]:
    """Return every form as a row of numbers of slots, and each slot as a table.

    A slot is ``{"words", "unlike"}`` (drawn evenly from the words that the slots `unlike` leave)
    or ``{"sources", "table"}`` (the words of the sources, joined by a space, → distribution).
    Found out by asking `mhalib.language`'s slots, not by reading them.
    """
    slots: list[dict[str, Any]] = []
    forms = []
    for form in FORMS:
        said = _possible_words(form)
        numbers = []
        for i, slot in enumerate(form.slots):
            entry = {"name": slot.name, **_as_data(slot, form.slots[:i], said)}
            if entry not in slots:
                slots.append(entry)
            numbers.append(slots.index(entry))
        forms.append({"probability": form.probability, "slots": numbers})
    return {"forms": forms, "slots": slots, "singular": dict(sorted(SINGULAR.items()))}


def _possible_words(form: Form) -> dict[str, list[str]]:
    """Return the words each named slot of a form can hold."""
    said: dict[str, list[str]] = {}
    for slot in form.slots:
        if slot.name:
            choices = [dict(zip(slot.sources, words, strict=True))
                       for words in product(*(said[s] for s in slot.sources))]  # fmt: skip
            said[slot.name] = sorted({word for c in choices for word in slot.distribution(c)})
    return said


def _as_data(slot: Slot, before: tuple[Slot, ...], said: dict[str, list[str]]) -> dict[str, Any]:
    names = [other.name for other in before if other.name]
    free = None if slot.sources else slot.distribution({})
    if free is not None and len(free) > 1:
        unlike = [
            name
            for name in dict.fromkeys(names)
            if any(w in free and w not in slot.distribution({name: w}) for w in said[name])
        ]
        return {"words": list(free), "unlike": unlike}
    table = {
        " ".join(words): slot.distribution(dict(zip(slot.sources, words, strict=True)))
        for words in product(*(said[s] for s in slot.sources))
    }
    return {"sources": list(slot.sources), "table": table}
