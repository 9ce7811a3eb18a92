"""How the grader answers functions that give nothing to compare, and how it speaks."""

import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
import torch

from mhalib.checks import EXERCISES, check, exercises


def stub(X, n_heads):
    """(n, h·d_k) → (h, n, d_k)"""
    ...


def returns_dots(X, n_heads):
    return ...


def half_filled(X, n_heads):
    d_k = ...
    return X.reshape(len(X), n_heads, d_k)


def half_filled_sum(X, n_heads):
    width = ...
    return X * (width + 1)


def not_implemented(X, n_heads):
    raise NotImplementedError


@pytest.mark.parametrize(
    "function",
    [
        stub,
        returns_dots,
        half_filled,
        half_filled_sum,
        not_implemented,
        None,
        ...,
        lambda X, h: None,
    ],
)
def test_unsolved(function):
    result = check("split_heads", function)
    assert result.kind == "unsolved"
    assert (
        repr(result)
        == "… Not solved yet\nWrite split_heads(X, n_heads) above, then run this cell again."
    )
    assert not result


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_exercise_has_an_unsolved_state(exercise):
    def function(*args): ...

    assert check(exercise, function).kind == "unsolved"


def test_forgotten_return():
    def split_heads(X, n_heads):
        heads = X.reshape(len(X), n_heads, -1)
        heads = heads.transpose(1, 0, 2)

    result = check("split_heads", split_heads)
    assert result.title == "nothing was returned"
    assert "Is a return missing?" in result.paragraphs[0]


def test_an_error_is_told_with_its_line():
    def split_heads(X, n_heads):
        return X.no_such_method(n_heads)

    result = check("split_heads", split_heads)
    assert result.kind == "error"
    assert result.paragraphs[0] == "In split_heads, at: return X.no_such_method(n_heads)"
    assert "AttributeError" in result.paragraphs[1]
    assert result.paragraphs[2] == "It is called as split_heads(X, n_heads)."
    assert result.example[0][0] == "X"


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), RecursionError("deep"), ZeroDivisionError("x")]
)
def test_any_exception_is_answered(error):
    def split_heads(X, n_heads):
        raise error

    result = check("split_heads", split_heads)
    assert result.kind == "error"
    assert type(error).__name__ in repr(result)


def test_an_error_of_its_own_is_no_known_mistake():
    """Averaged heads are too narrow for W_O and raise; another error does not mean the same."""

    def multi_head_attention(*args):
        raise ValueError("not yet")

    result = check("multi_head_attention", multi_head_attention)
    assert result.kind == "error"
    assert "ValueError: not yet" in repr(result)


def test_wrong_number_of_arguments():
    result = check("split_heads", lambda X: X)
    assert result.kind == "error"
    assert "positional argument" in repr(result)
    assert "split_heads(X, n_heads)" in repr(result)


def test_a_loop_without_end_is_stopped():
    def split_heads(X, n_heads):
        while True:
            pass

    before, started = threading.active_count(), time.monotonic()
    result = check("split_heads", split_heads, seconds=0.2)
    assert result.kind == "hang"
    assert "no answer after 0.8 seconds on this input, and it was stopped" in repr(result)
    assert time.monotonic() - started < 3
    assert threading.active_count() == before  # the loop has really ended


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_changed_inputs(kind):
    def layer_norm(X, gamma, beta, eps):
        X -= X.mean(-1)[..., None]
        var = (X**2).mean(-1)[..., None]
        return gamma * X / (var + eps) ** 0.5 + beta

    def layer_norm_torch(X, gamma, beta, eps):
        return torch.nn.functional.layer_norm(X.sub_(1.0), X.shape[-1:], gamma, beta, eps)

    result = check("layer_norm", layer_norm if kind == "numpy" else layer_norm_torch)
    assert result.kind == "changed"
    assert result.title == "the input X was changed"


@pytest.mark.parametrize(
    "exercise, value, message",
    [
        ("split_heads", [[[1.0]]], "a value of type list. An array of numbers"),
        ("split_heads", "heads", "a value of type str. An array of numbers"),
        ("split_heads", np.array([None]), "a value of type ndarray of object. An array of numbers"),
        ("split_heads", (np.ones(2), np.ones(2)), "a value of type tuple"),
        ("next_token_loss", np.ones(3), "a value of type ndarray. One number"),
        ("next_token_loss", "1.0", "a value of type str. One number"),
        ("merge_pair", 3, "a value of type int. A list of ids"),
        ("merge_pair", ["a"], "A list of ids was expected"),
        ("train_bpe", [1, 2], "A list of pairs was expected"),
        ("tied_head", np.ones((3, 2)), "a value of type ndarray. A function head(X)"),
        ("cached_attention", np.ones((1, 1)), "Two things were expected"),
    ],
)
def test_wrong_types(exercise, value, message):
    result = check(exercise, lambda *args: value)
    assert result.kind == "type"
    assert message in repr(result)


def test_not_a_function():
    assert check("split_heads", np.ones(3)).title == "not a function"


def test_unknown_exercise():
    with pytest.raises(ValueError, match="such as split_heads.*got 'splitheads'"):
        check("splitheads", stub)


def test_unknown_mistakes_are_described():
    result = check("split_heads", lambda X, h: np.zeros((h, len(X), X.shape[1] // h)))
    assert result.title == "not the right values"
    assert "X plays no part: with another X your result stays the same" in repr(result)
    result = check("split_heads", lambda X, h: X)
    assert result.title == "a wrong shape"
    assert result.paragraphs[0] == "Shape (2, 4) came, (2, 2, 2) was expected."
    result = check("causal_mask", lambda n_q, n_k: np.eye(n_q, n_k, -1, dtype=bool))
    assert result.title == "not the right mask"
    result = check("attention_weights", lambda S, mask: np.where(mask, 0.5, 0.25))
    assert "S plays no part" in repr(result)
    assert "With such values your result is not all 1" in repr(result)


def test_two_mistakes_at_once_are_still_wrong():
    def attention(Q, K, V, mask=None):
        e = np.exp(Q @ K.T)  # no scale, and the mask forgotten, and the sum over the columns
        return e / e.sum(axis=0) @ V * 2

    result = check("attention", attention)
    assert result.kind == "wrong"
    assert "mask plays no part" in repr(result)


def test_the_answer_to_the_reshape_trap():
    result = check("split_heads", lambda X, h: X.reshape(h, len(X), -1))
    assert (
        repr(result)
        == """\
✗ Not yet: reshaped before transposing
The numbers were read off row by row and filled into heads: your heads mix tokens, so that \
head 0 holds only the first tokens. First cut the features of each token into blocks, an axis \
of its own; then move that axis to the front.
What gives it away: a change to the last token changes rows that belong to earlier ones.
The smallest input that shows it:
  X        [[0., 1., 2., 3.],
            [4., 5., 6., 7.]]
  n_heads  2
  yours    [[[0., 1.],
             [2., 3.]],
            [[4., 5.],
             [6., 7.]]]
  right    [[[0., 1.],
             [4., 5.]],
            [[2., 3.],
             [6., 7.]]]
"""
        + result.pointer
    )


def test_the_answer_is_the_same_every_time():
    def wrong(X, h):
        return X.reshape(h, len(X), -1)

    one, two = (check("split_heads", wrong) for _ in range(2))
    assert repr(one) == repr(two)
    assert one._repr_html_() == two._repr_html_()


def test_nothing_is_parsed_as_html():
    def split_heads(X, n_heads):
        raise ValueError("<img src=x onerror=alert(1)>")

    page = check("split_heads", split_heads)._repr_html_()
    assert "<img" not in page
    assert "&lt;img src=x" in page


@pytest.mark.parametrize(
    "function, kind",
    [
        (stub, "unsolved"),
        (lambda X, h: X, "wrong"),
        (EXERCISES["split_heads"].reference, "correct"),
    ],
)
def test_a_box_in_the_notebook(function, kind):
    page = check("split_heads", function)._repr_html_()
    assert page.startswith(f'<div class="mhalib-check {kind}"')
    assert page.count("<div") == page.count("</div>") == 1
    assert " id=" not in page


def test_callables_of_every_kind():
    class Split:
        def __call__(self, X, n_heads):
            return X.reshape(len(X), n_heads, -1).swapaxes(0, 1)

    class Module(torch.nn.Module):
        def forward(self, X, n_heads):
            return X.unflatten(-1, (n_heads, -1)).transpose(-3, -2)

    def split(n_heads, X):
        return EXERCISES["split_heads"].reference(X, n_heads)

    assert check("split_heads", Module())
    assert check("split_heads", lambda X, h: split(X=X, n_heads=h))
    assert check("split_heads", partial(lambda extra, X, h: split(h, X), None))
    assert check("split_heads", Split()).kind in ("error", "wrong", "mistake")  # no batches yet


def test_torch_without_a_trace_of_torch():
    """A method that only tensors have, and no name of torch in the function."""
    assert check("softmax", lambda x: x.softmax(-1))


def test_remarks_of_right_answers():
    result = check("scores", lambda Q, K: Q @ K.T / K.shape[1] ** 0.5)
    assert result
    assert "with a batch axis in front it does not work yet" in repr(result)
    result = check("embed", lambda ids, E: E[ids].astype(float) * E.shape[1] ** 0.5)
    assert "float32 in, float64 out" in repr(result)


def test_batches_that_belong_to_the_task():
    result = check("merge_heads", lambda heads: np.concatenate(list(heads), axis=1))
    assert not result


def test_list_of_exercises():
    assert len(exercises()) == len(EXERCISES) == 25
    assert "split_heads(X, n_heads)" in exercises()


def test_torch_is_not_brought_along():
    code = """
import sys, mhalib.checks
mhalib.checks.check("softmax", lambda x: x)
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)
