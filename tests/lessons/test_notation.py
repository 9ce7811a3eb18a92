"""The table of sizes says what the course's model is, in the order of its rows."""

import re
from pathlib import Path

import mhalib

PAGE = Path(__file__).parents[2] / "chapters" / "notation.md"


def test_the_sizes_of_the_course_model():
    table = PAGE.read_text("utf-8").split("```{list-table}")[1].split("```")[0]
    rows = [re.findall(r"- (.*)", row) for row in table.split("* - ")[2:]]  # without the first cell
    stated = [int(course_model) for _, course_model, *_ in rows if course_model != "any"]
    c = mhalib.load_model("main").config
    assert stated == [c.d_model, c.n_heads, c.d_k, c.d_v, c.d_ff, c.vocab_size, c.n_layers]
