"""What the teachers' page says about tests and mistakes is what they do."""

import pytest

from scripts.kill_matrix import PAGE, filled_in, rows

FOUND = {(name, mistake): tests for name, mistake, tests in rows()}

# exercise, mistake, and the only kinds of test that notice it beside the values
EXPECTED = [
    ("split_heads", "reshaped before transposing", {"no leak"}),
    ("merge_heads", "merged without transposing back", {"no leak"}),
    ("multi_head_attention", "reshaped before transposing", {"no leak"}),
    ("multi_head_attention", "merged without transposing back", {"no leak"}),
    (
        "multi_head_attention",
        "reshaped before transposing, and merged without transposing back",
        {"reach"},
    ),
    ("attention", "no scale", set()),
    ("attention", "divided by d_k", set()),
    ("multi_head_attention", "scale √d_model", set()),
    ("multi_head_attention", "scale √h", set()),
    ("multi_head_attention", "Q and K swapped", set()),
    ("attention", "masked score set to 0", {"no leak"}),
    ("attention", "mask added as a bias", {"no leak"}),
    ("attention", "mask ignored", {"no leak"}),
    ("attention", "mask after the softmax", {"no leak", "rows sum to 1"}),
    ("attention", "softmax over the queries", {"no leak", "rows sum to 1"}),
]


@pytest.mark.parametrize("exercise, mistake, tests", EXPECTED)
def test_which_test_catches_which(exercise, mistake, tests):
    assert FOUND[exercise, mistake] == tests | {"values"}


def test_the_page_is_up_to_date():
    text = PAGE.read_text("utf-8")
    assert text == filled_in(text), "run: python scripts/kill_matrix.py"
