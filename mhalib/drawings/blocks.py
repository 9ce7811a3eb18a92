"""The block as a road with side roads, and the paper's two stacks with their three attentions."""

from __future__ import annotations

from mhalib.drawings.canvas import Drawing, Panel


def _box(
    panel: Panel, x: float, y: float, width: float, height: float, words: str, colour: str = "soft"
) -> None:
    panel.rect(x, y, width, height, "paper", colour, rx=5, stroke_width=1.5)
    panel.text(x + width / 2, y + height / 2 + 4.5, words, "middle")


def _plus(panel: Panel, x: float, y: float) -> None:
    panel.add("circle", cx=x, cy=y, r=9, fill="paper", stroke="text", stroke_width=1.5)
    panel.path(f"M{x - 5} {y}h10M{x} {y - 5}v10", "text")


ROAD = 34.0  # the middle of the road


def _block(norm: str) -> Panel:
    height = 312 if norm == "post" else 302
    panel = Panel(150, height, f"{norm}-norm")
    panel.rect(ROAD - 10, 20, 20, height - 40, "road")
    panel.text(ROAD, 14, "X", "middle", 15)
    y = 36.0
    for name in ("attention", "FFN"):
        panel.line((ROAD, y), (108, y), (108, y + 14), width=2, stroke="accent")
        y += 14
        if norm == "pre":
            _box(panel, 76, y, 64, 24, "norm")
            panel.arrow((108, y + 24), (108, y + 38), width=2, stroke="accent")
            y += 38
        _box(panel, 66, y, 82, 30, name, "accent")
        panel.arrow((108, y + 30), (108, y + 52), (ROAD + 10, y + 52), width=2, stroke="accent")
        _plus(panel, ROAD, y + 52)
        y += 74
        if norm == "post":
            _box(panel, ROAD - 32, y, 64, 24, "norm")
            y += 44
    panel.arrow((ROAD, height - 22), (ROAD, height - 6))
    return panel


def block() -> Drawing:
    """Draw one block with the norm after each sum (the paper) and before each sublayer (GPT-2)."""
    alt = (
        "Two roads from top to bottom, the residual stream. Attention and the feed-forward network "
        "(FFN) are side roads: they read the stream, and what they find is added to it. post-norm: "
        "a norm stands on the road after each sum. pre-norm: the norm stands on the side road, "
        "before attention and before the FFN; the road itself is only ever added to."
    )
    caption = (
        "The road is the residual stream, X. Side roads read it and add to it. Post-norm puts the "
        "norms on the road; with pre-norm nothing stands in its way, from first to last layer."
    )
    return Drawing("One block", alt, [_block("post"), _block("pre")], caption)


def encoder_decoder(n_source: int = 5, n_target: int = 4) -> Drawing:
    """Draw the paper's encoder and decoder, with which cells each of the three attentions may use.

    Parameters
    ----------
    n_source, n_target : tokens of the text that is read, and of the one that is written
    """
    panel = Panel(320, 396)
    left, right = 70.0, 236.0
    for x, name, tokens in ((left, "encoder", "source"), (right, "decoder", "target so far")):
        panel.text(x, 14, name, "middle", font_weight=600)
        panel.text(x, 32, tokens, "middle", 12, "soft")
        panel.rect(x - 8, 38, 16, 310, "road")

    def attention(
        x: float, y: float, name: str, rows: int, columns: int, causal: bool, colour: str
    ) -> None:
        side = 11.0
        panel.rect(x - 62, y, 124, 84, "paper", colour, rx=6, stroke_width=1.5)
        panel.text(x, y + 16, name, "middle", 12)
        x0, y0 = x - columns * side / 2, y + 24
        for i in range(rows):
            for j in range(columns):
                seen = not causal or j <= i
                panel.rect(
                    x0 + j * side, y0 + i * side, side, side, colour if seen else "none",
                    "edge", fill_opacity=0.55,
                )  # fmt: skip

    attention(left, 48, "self-attention", n_source, n_source, False, "k")
    attention(right, 48, "masked attention", n_target, n_target, True, "q")
    attention(right, 158, "cross-attention", n_target, n_source, False, "v")
    _box(panel, left - 40, 158, 80, 28, "FFN")
    _box(panel, right - 40, 264, 80, 28, "FFN")
    panel.text(left + 14, 306, "×N", "start", 12, "soft")
    panel.text(right + 14, 316, "×N", "start", 12, "soft")
    # the encoder's result goes into every cross-attention
    panel.arrow(
        (left, 348), (left, 364), (154, 364), (154, 204), (right - 62, 204), stroke="k", width=2.5
    )
    panel.text(150, 222, "K, V", "end", fill="k")
    panel.text(right + 12, 153, "Q", fill="q")
    panel.arrow((right, 348), (right, 366))
    panel.text(right, 382, "next word", "middle")
    alt = (
        "Encoder: self-attention, every token of the source sees every other. Decoder: masked "
        "self-attention, a triangle of cells; then cross-attention, whose queries come from the "
        f"decoder and whose keys and values come from the encoder: {n_target} rows, {n_source} "
        "columns, all cells open. Each is followed by an FFN. A GPT keeps the decoder alone, "
        "without cross-attention."
    )
    caption = (
        "Three attentions. Rows ask, columns answer: all cells, the triangle, a rectangle whose "
        "rows are the decoder’s and whose columns are the encoder’s. (Sums and norms are left out.)"
    )
    return Drawing("Encoder and decoder", alt, [panel], caption)
