"""A word's merges as a tree, and a one-hot row that picks a row of E."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.drawings.canvas import Drawing, Panel
from mhalib.tokenizer import Tokenizer

SPACE = "␣"


def _shown(piece: bytes) -> str:
    text = piece.decode("utf-8", errors="replace")
    return text.replace(" ", SPACE) if "\ufffd" not in text else f"{piece[0]:02x}"


def merge_tree(tokenizer: Tokenizer, word: str = " cats") -> Drawing:
    """Draw how a word's bytes are joined to one token: a joint a merge, with its new id.

    Parameters
    ----------
    tokenizer : whose merges are used
    word : at most ten bytes

    Raises
    ------
    ValueError
        If `word` is empty or too long to be drawn.
    """
    data = word.encode()
    if not 0 < len(data) <= 10:
        raise ValueError(f"word must have 1 to 10 bytes, got {len(data)}")
    pitch, rise, edge = min(48.0, 280 / len(data)), 44.0, 32.0
    rank = {pair: number for number, pair in enumerate(tokenizer.merges)}
    ids = list(data)
    places = [(edge + pitch * (i + 0.5), 0) for i in range(len(ids))]  # where each id's box stands
    joints: list[tuple[int, Any, Any, Any, bytes]] = []
    while True:
        pairs = [(rank[pair], i) for i, pair in enumerate(zip(ids, ids[1:])) if pair in rank]
        if not pairs:
            break
        number, i = min(pairs)
        (xa, la), (xb, lb) = places[i : i + 2]
        above = ((xa + xb) / 2, max(la, lb) + 1)
        joints.append((number, places[i], places[i + 1], above, tokenizer.vocab[256 + number]))
        ids[i : i + 2] = [256 + number]
        places[i : i + 2] = [above]
    levels = max(level for _, level in places)
    panel = Panel(max(180, pitch * len(data) + edge + 8), 46 + rise * (levels + 0.3))
    base = panel.height - 30

    def box(place: tuple[float, int], words: str, last: bool) -> None:
        wide = 12 + 10.0 * len(words)
        y = base - rise * place[1]
        panel.rect(
            place[0] - wide / 2, y - 15, wide, 22, "paper", "accent" if last else "soft", rx=4
        )
        panel.text(place[0], y + 1, words, "middle", font_weight=600 if last else None)

    for number, left, right, above, joined in joints:
        for x, level in (left, right):
            panel.line((x, base - rise * level - 15), (above[0], base - rise * above[1] + 7))
        beside = above[0] - 11 - 5.0 * len(_shown(joined))
        panel.text(beside, base - rise * above[1] + 1, str(256 + number), "end", 12, "soft")
    for i, byte in enumerate(data):
        place = (edge + pitch * (i + 0.5), 0)
        box(place, _shown(bytes([byte])), place in places)
        panel.text(edge + pitch * (i + 0.5), base + 22, str(byte), "middle", 12, "soft")
    for _, _, _, above, piece in joints:
        box(above, _shown(piece), above in places)
    steps = "; ".join(
        f"merge {number} makes {256 + number}, “{_shown(piece)}”" for number, *_, piece in joints
    )
    alt = f"The bytes of “{_shown(data)}” at the bottom. {steps or 'No merge applies'}."
    caption = (
        f"Bytes below, tokens above: {len(data)} bytes become {len(ids)} "
        f"token{'s' if len(ids) > 1 else ''}. The numbers are ids."
    )
    return Drawing(f"How “{_shown(data)}” is joined", alt, [panel], caption)


def one_hot(
    E: NDArray[Any], token_id: int, token: str = "", around: int = 3, columns: int = 14
) -> Drawing:
    """Draw a one-hot row times E: all rows but one are multiplied by 0.

    Parameters
    ----------
    E : (V, d_model)
    token_id : the row that is picked
    token : its text, to be written beside it
    around : how many rows above and below are drawn
    columns : how many of the d_model columns are drawn
    """
    E = validate.float_array("E", E, ndim=2)
    V, d_model = E.shape
    if not 0 <= token_id < V:
        raise ValueError(f"token_id must lie in 0 … {V - 1}, got {token_id}")
    first = int(np.clip(token_id - around, 0, max(0, V - 2 * around - 1)))
    rows = np.arange(first, min(V, first + 2 * around + 1))
    side = 11.0
    k = len(rows)
    x, left, top = 16.0, 16.0 + side * k + 58, 30.0
    m = min(columns, d_model, int((316 - left) / side))
    y = top + side * k + 34
    panel = Panel(320, y + side + 26)
    for i, row in enumerate(rows):
        on = int(row) == token_id
        panel.rect(x + i * side, y, side, side, "accent" if on else "none", "edge")
        if on:
            panel.text(x + (i + 0.5) * side, y - 6, "1", "middle", 12)
            panel.arrow((left - 14, top + (i + 0.5) * side), (left - 2, top + (i + 0.5) * side))
            words = f"{token.strip()} {token_id}" if token else str(token_id)
            panel.text(left - 18, top + (i + 0.5) * side + 4.5, words, "end", 12)
            panel.cells(left, y, side, E[[row], :m], largest=float(np.abs(E[rows, :m]).max()))
            panel.rect(
                left - 1, top + i * side - 1, side * m + 2, side + 2, stroke="accent",
                stroke_width=2,
            )  # fmt: skip
    panel.cells(left, top, side, E[rows, :m])
    panel.text(x + side * k / 2, y + side + 17, "one-hot: 1 × V", "middle", 12)
    panel.text(left + side * m / 2, top - 8, "E: V × d_model", "middle", 14)
    panel.text(left + side * m / 2, y + side + 17, "= that row of E", "middle", 12)
    panel.text(left - 18, y + side / 2 + 5, "·  E  =", "end")
    alt = (
        f"A row of {V} numbers, all 0 but a 1 at place {token_id}, times E, {V} × {d_model}, is "
        f"row {token_id} of E."
    )
    caption = (
        f"Of the {V} rows and {d_model} columns of E, {k} and {m} are drawn. A 0 takes nothing "
        f"from a row, the 1 takes all of one: a lookup."
    )
    return Drawing("A one-hot row picks a row of E", alt, [panel], caption)
