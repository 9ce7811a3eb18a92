"""The course's language as JSON, so that a page can compute exact next-word probabilities too."""

from __future__ import annotations

from typing import Any

from mhalib.grammar import FORMS, SINGULAR, Slot


def tabulate() -> dict[str, Any]:
    """Return the slots of `mhalib.language` as they are declared, each form as their numbers."""
    slots: list[dict[str, Any]] = []
    forms = []
    for form in FORMS:
        numbers = []
        for slot in form.slots:
            entry = _as_data(slot)
            if entry not in slots:
                slots.append(entry)
            numbers.append(slots.index(entry))
        forms.append({"probability": form.probability, "slots": numbers})
    return {"forms": forms, "slots": slots, "singular": dict(sorted(SINGULAR.items()))}


def _as_data(slot: Slot) -> dict[str, Any]:
    if slot.table is None:
        return {"name": slot.name, "words": list(slot.words), "unlike": list(slot.unlike)}
    return {"name": slot.name, "sources": list(slot.sources), "table": dict(slot.table)}
