"""Where a lesson stands in the machine: the small map at its top, and the large one."""

from __future__ import annotations

from mhalib.drawings.canvas import Drawing, Panel

PARTS = {  # what each lesson builds
    1: "the text is cut into tokens",
    2: "each token gets its vector",
    3: "one head: a token looks at others",
    4: "inside a head: the scale of its scores",
    5: "several heads, side by side",
    6: "the layer: what is added to the stream",
    7: "from the last vector to the next word",
    8: "training: where all numbers come from",
}
WHOLE = (
    "Text, 1 tokens, 2 vectors. The stream of vectors runs through N layers. In each layer, "
    "several heads (3, with the scale 4 inside) stand side by side in 5; what they find is added "
    "to the stream; 6, a feed-forward network, adds its part. At the end 7 gives the next word. 8, "
    "training, is no stage: it sets the numbers of all of them."
)


def here(lesson: int) -> Drawing:
    """Draw the machine as a small map with one lesson's part filled: "you are here".

    Parameters
    ----------
    lesson : 1 … 8; 0 marks nothing

    Raises
    ------
    ValueError
        If there is no such lesson.
    """
    if lesson not in (0, *PARTS):
        raise ValueError(f"lesson must be one of 0 … {max(PARTS)}, got {lesson!r}")
    panel = Panel(320, 128)

    def box(
        number: int, x: float, y: float, width: float, height: float, at: str = "middle"
    ) -> None:
        on = number == lesson
        panel.rect(
            x, y, width, height, "accent" if on else "paper", "accent" if on else "soft", rx=4
        )
        left = x + width / 2 if at == "middle" else x + 5
        low = y + height / 2 + 4.5 if at != "top" else y + 15
        panel.text(
            left, low, str(number), "middle" if at == "middle" else "start",
            fill="paper" if on else "text", font_weight=600 if on else None,
        )  # fmt: skip

    stream = 78
    panel.rect(58, stream - 7, 216, 14, "road")
    panel.rect(82, 6, 178, 84, stroke="edge", rx=6, stroke_dasharray="4 3")
    panel.text(255, 20, "×N", "end", 12, "soft")
    panel.arrow((2, stream), (11, stream))
    box(1, 12, stream - 13, 20, 26)
    panel.arrow((32, stream), (41, stream))
    box(2, 42, stream - 13, 20, 26)
    # the heads leave the stream and add to it, and so does the network
    panel.line((90, stream), (90, 36), (96, 36))
    box(5, 96, 16, 80, 40, "top")
    box(3, 112, 22, 32, 28, "left")
    box(4, 126, 26, 15, 20)
    for x in (148, 160):
        panel.rect(x, 22, 9, 28, stroke="soft", rx=3)
    panel.arrow((176, 36), (184, 36), (184, stream - 7))
    panel.line((200, stream), (200, 36), (206, 36))
    box(6, 206, 22, 24, 28)
    panel.arrow((230, 36), (240, 36), (240, stream - 7))
    for x in (184, 240):
        on = lesson == 6
        panel.add(
            "circle", cx=x, cy=stream, r=7, fill="accent" if on else "paper",
            stroke="accent" if on else "soft", stroke_width=1.5,
        )  # fmt: skip
        plus = f"M{x - 4} {stream}h8M{x} {stream - 4}v8"
        panel.path(plus, "paper" if on else "soft")
    box(7, 274, stream - 13, 20, 26)
    panel.arrow((294, stream), (312, stream))
    panel.path("M12 98v6H294v-6", "edge")
    box(8, 143, 102, 20, 22)
    name = f"Lesson {lesson} in the machine" if lesson else "The machine"
    alt = f"You are here: {lesson}, {PARTS[lesson]}. {WHOLE}" if lesson else WHOLE
    caption = f"You are here: {lesson}, {PARTS[lesson]}." if lesson else ""
    return Drawing(name, alt, [panel], caption)


def machine() -> Drawing:
    """Draw the whole machine from the text down to the next word, its parts named by lesson."""
    panel = Panel(320, 560)
    middle = 78
    panel.rect(middle - 10, 112, 20, 372, "road")

    def box(x: float, y: float, width: float, height: float, title: str, *lines: str) -> None:
        panel.rect(x, y, width, height, "paper", "soft", rx=6)
        panel.text(x + 8, y + 17, title, font_weight=600)
        for i, line in enumerate(lines):
            panel.text(x + 8, y + 34 + 16 * i, line, size=12, fill="soft")

    panel.text(middle, 14, "text", "middle")
    panel.arrow((middle, 18), (middle, 28))
    box(8, 28, 220, 26, "1  tokenization: n ids")
    panel.arrow((middle, 54), (middle, 64))
    box(8, 64, 220, 44, "2  embedding", "n vectors of d_model numbers")
    panel.rect(20, 122, 268, 302, stroke="edge", rx=8, stroke_dasharray="5 4")
    panel.text(281, 140, "layers, stacked", "end", 12, "soft")
    # attention: beside the stream, and added to it
    panel.arrow((middle, 158), (104, 158))
    box(104, 148, 178, 122, "5  h heads, side by side")
    panel.rect(112, 174, 110, 60, "paper", "soft", rx=5)
    panel.text(118, 190, "3  one head", size=12, font_weight=600)
    panel.rect(118, 200, 98, 26, "paper", "soft", rx=4)
    panel.text(124, 217, "4  scores ÷ √d_k", size=12)
    for x in (226, 243, 260):
        panel.rect(x, 174, 14, 60, stroke="soft", rx=4)
    panel.text(112, 256, "W_O mixes what they found", size=12, fill="soft")
    panel.arrow((104, 262), (middle + 9, 262))
    # the feed-forward network
    panel.arrow((middle, 316), (104, 316))
    box(104, 306, 178, 84, "6  feed-forward", "works on each token alone")
    panel.arrow((104, 380), (middle + 9, 380))
    for y in (262, 380):
        panel.add("circle", cx=middle, cy=y, r=9, fill="paper", stroke="soft", stroke_width=1.5)
        panel.path(f"M{middle - 5} {y}h10M{middle} {y - 5}v10")
    panel.text(middle + 16, 412, "+  added to what was there", size=12, fill="soft")
    panel.text(104, 448, "still n vectors of d_model", size=12, fill="soft")
    panel.text(104, 464, "numbers: the stream", size=12, fill="soft")
    box(8, 484, 220, 44, "7  vocabulary head", "compares with every token")
    panel.arrow((middle, 528), (middle, 540))
    panel.text(middle, 553, "next word", "middle")
    panel.path("M292 28h6V528h-6", "edge")
    panel.text(313, 278, "8  training sets all numbers", "middle", 12, "soft", upright=True)
    return Drawing("Map of the machine", WHOLE, [panel])
