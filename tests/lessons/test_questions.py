"""The quizzes as they stand in the notebooks, and the claims that the lessons refute."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

import mhalib

CHAPTERS = Path(__file__).parents[2] / "chapters"
LESSONS = sorted(CHAPTERS.glob("0*.ipynb"))
QUESTION = re.compile(
    r"^(\*\*Question \d\.\*\* .+?)\n\n<details><summary>Answers</summary>\n\n(.+?)\n\n</details>$",
    re.M | re.S,
)

# what one reads, the lesson that says otherwise, and the assert beside it that refutes it
CLAIMS = {
    "The mask sets the score to 0.": (
        3,
        'assert np.allclose(inside_softmax["score 0"] @ V3, [[24]',
    ),
    "A token attends most to itself.": (3, "assert abs(np.mean(itself) - 1 / 8)"),
    "If two tokens paid equal attention to each other": (3, "assert (change > 0.1).all()"),
    "The variance of a score is $d_k$.": (4, "assert np.isclose(measured, theory"),
    "Each head sees a slice of the embedding.": (
        5,
        "assert (np.linalg.norm(moved[:, 4], axis=-1) > 0)",
    ),
    "Attention weights explain the decision.": ("5b", "assert len(left) == 3 and max(left) > 0.7"),
    "The heads' outputs are added side by side.": (5, "assert not np.allclose(heads.sum(axis=0)"),
    "The Transformer reads the words in order, as we do.": (
        2,
        "assert np.allclose(out[2], out[5])",
    ),
    "The first Transformer was decoder-only.": ("6c", "assert abs(65e6 - both_halves)"),
}


def questions_of(source):
    """Return the options and the reasons of each question, without their numbers."""
    return [
        (re.findall(r"^\d\. (.+)$", question, re.M), re.findall(r"^\d\. (.+)$", answers, re.M))
        for question, answers in QUESTION.findall(source)
    ]


def quiz(path):
    sources = [cell.source for cell in nbformat.read(path, as_version=4).cells]
    (place,) = (i for i, source in enumerate(sources) if source.startswith("## Quiz\n"))
    assert sources[place + 1].startswith("## Exercises\n")
    return sources[place]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_quiz_stands_before_the_exercises_and_reads_well_unbuilt(path):
    questions = questions_of(quiz(path))
    assert 3 <= len(questions) <= 6
    assert len(questions) == quiz(path).count("**Question ")
    asked = QUESTION.findall(quiz(path))
    for (options, reasons), (question, _) in zip(questions, asked, strict=True):
        assert len(options) == len(reasons) >= 3
        several = sum(reason.startswith("Right.") for reason in reasons) > 1
        assert several == ("(More than one may be right.)" in question), question
        for reason in reasons:
            verdict = re.fullmatch(r"(?:Right|Wrong)\. (.+[.])", reason)
            assert verdict, reason
            assert len(re.findall(r"[.?!](?= [A-Z*$`])", verdict[1])) < 2, f"too long: {reason}"


def test_right_answers_stand_in_different_places_and_are_not_the_longest():
    places, longest = [], 0
    for options, reasons in (question for path in LESSONS for question in questions_of(quiz(path))):
        right = [i for i, reason in enumerate(reasons) if reason.startswith("Right.")]
        if len(right) == 1:
            places += right
            longest += all(
                len(options[right[0]]) > len(o) for o in options if o != options[right[0]]
            )
    assert all(places.count(place) > len(places) / 5 for place in range(3))
    assert longest < len(places) / 3


@pytest.mark.parametrize("claim", CLAIMS)
def test_each_wrong_claim_has_its_box_and_an_assert_beside_it(claim):
    number, refutation = CLAIMS[claim]
    (path,) = CHAPTERS.glob(f"0{number}-*.ipynb")
    found = [cell.source for cell in nbformat.read(path, as_version=4).cells]
    (place,) = (i for i, text in enumerate(found) if "You may have read" in text and claim in text)
    assert refutation in found[place - 1] + found[place + 1]


def test_answers_that_no_cell_of_their_lesson_prints():
    small = mhalib.Tokenizer(mhalib.train_bpe("bat bats cat cats", 7))
    assert small.tokens(" chats") == [b" c", b"h", b"at", b"s"]  # lesson 1, question 1

    # lesson 3, question 5: keys and values exchanged pass all three tests
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 5))  # (n, d_model)
    Q, K, V = (X @ rng.normal(size=(5, 3)) for _ in range(3))
    O, weights = mhalib.attention(Q, V, K, causal=True, return_weights=True)
    assert np.allclose(weights.sum(axis=-1), 1)
    assert (weights[np.tril_indices(7)] > 0).all()  # reach
    assert (weights[np.triu_indices(7, 1)] == 0).all()  # no leak
    assert not np.allclose(O, mhalib.attention(Q, K, V, causal=True))

    # lesson 3, question 3: all layers
    model, tokenizer = mhalib.load_model("main"), mhalib.load_tokenizer()
    text = "There are so many bats I can choose at the {} store."
    outputs = [
        model.forward(tokenizer.encode(text.format(word))).output for word in ("baseball", "toy")
    ]
    assert (outputs[0] != outputs[1]).any(axis=-1).tolist() == 10 * [False] + 3 * [True]

    # lesson 7, question 4
    cave = tokenizer.encode("I love to study bats that live inside a")
    logits = model.forward(cave).logits[-1]
    assert np.isfinite(mhalib.top_k_filter(logits, 3)).sum() == 3
    assert np.isfinite(mhalib.top_p_filter(logits, 0.9)).sum() == 2
