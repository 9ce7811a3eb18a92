"""The ladder through the book: how much of the loss each step takes away."""

from __future__ import annotations

from collections.abc import Mapping

from mhalib import _validate as validate
from mhalib.drawings.canvas import Drawing, Panel

Rung = float | tuple[float, float]  # a loss, or the lowest and highest of several trainings


def ladder(rungs: Mapping[str, Rung], *, best: float, until: str | None = None) -> Drawing:
    """Draw the losses of better and better predictors, from the top down to the best possible.

    Parameters
    ----------
    rungs : by name, the loss in nats, or (lowest, highest) of several trainings
    best : the loss that no predictor can beat
    until : the last rung that is drawn; the scale stays that of the whole ladder

    Raises
    ------
    ValueError
        If a loss lies below `best`, or `until` names no rung.
    """
    if until is not None and until not in rungs:
        raise ValueError(f"until must be one of {', '.join(rungs)}; got {until!r}")
    spans = {}
    for name, rung in rungs.items():
        low, high = rung if isinstance(rung, tuple) else (rung, rung)
        low, high = validate.real_number(name, low), validate.real_number(name, high)
        if not best - 0.005 <= low <= high:
            raise ValueError(f"{name} must be at least best = {best} and in order, got {rung}")
        spans[name] = (low, high)
    most = max(high for _, high in spans.values())
    drawn = list(spans)[: list(spans).index(until) + 1] if until else list(spans)
    row, left, right = 40.0, 6.0, 262.0
    panel = Panel(320, row * len(drawn) + 26)

    def x(loss: float) -> float:
        return left + (right - left) * loss / most

    told = []
    for i, name in enumerate(drawn):
        (low, high), y = spans[name], row * i
        value = f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f}–{high:.2f}"
        bold = 600 if name == until else None
        panel.text(left, y + 15, name, font_weight=bold)
        panel.rect(left, y + 21, x(low) - left, 11, "accent", fill_opacity=None if bold else 0.55)
        if high > low:
            panel.rect(x(low), y + 21, max(1.0, x(high) - x(low)), 11, "accent", fill_opacity=0.3)
        panel.line((x(best), y + 18), (x(best), y + 35), stroke="changed", width=2)
        ends = max(x(high), x(best))
        panel.text(ends + 6, y + 31, value, size=12, font_weight=bold)
        told.append(f"{name}: {value}")
    y = row * len(drawn)
    panel.line((x(best), y + 2), (x(best), y + 16), stroke="changed", width=2)
    panel.text(x(best) + 6, y + 14, f"best possible {best:.2f}", size=12, fill="changed")
    alt = f"Loss in nats, the best possible is {best:.2f}. " + "; ".join(told) + "."
    caption = (
        "Mean loss in nats a word: the shorter, the better. No predictor can pass the upright line."
    )
    return Drawing("The ladder", alt, [panel], caption)
