"""What a reader may do to the grader: odd values, loops, prints, streams, no threads."""

import io
import math
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch

from mhalib.checks import EXERCISES, check
from mhalib.checks.limit import call_all


class Strange:
    """A value whose every question raises."""

    def __eq__(self, other):
        raise RuntimeError("no")

    __hash__ = None

    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")

    def __repr__(self):
        return "Strange()"


ODD = {
    "bfloat16": lambda: torch.ones(2, 2, dtype=torch.bfloat16),
    "meta": lambda: torch.ones(2, 2, device="meta"),
    "sparse": lambda: torch.eye(2).to_sparse(),
    "complex": lambda: np.ones((2, 2), complex),
    "needs gradient": lambda: torch.ones(2, 2, requires_grad=True),
    "masked array": lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    "ragged list": lambda: [[1.0], [1.0, 2.0]],
    "infinite id": lambda: [math.inf],
    "half an id": lambda: [1.5],
    "array in a list": lambda: [np.ones(2), 1],
    "itself": lambda: (lambda x: (x.append(x), x)[1])([]),
    "text": lambda: "text",
    "bytes": lambda: b"bytes",
    "dict": lambda: {1: 2},
    "set": lambda: {1, 2},
    "generator": lambda: (i for i in range(3)),
    "class": lambda: int,
    "strange": Strange,
    "array of objects": lambda: np.array([Strange(), 1], dtype=object),
    "empty": lambda: np.zeros((0, 3)),
    "no axes": lambda: np.float64(1.0),
    "NaN": lambda: math.nan,
    "not implemented": lambda: NotImplemented,
    "one thing": lambda: (np.ones((1, 1)),),
}


@pytest.mark.parametrize("what", ODD)
def test_any_value_has_an_answer(what):
    for name in ("merge_pair", "train_bpe", "scores", "causal_mask", "tied_head", "next_token_loss",
                 "top_p_filter", "cached_attention"):  # fmt: skip
        result = check(name, lambda *args: ODD[what]())
        assert not result
        text = repr(result)
        assert not any(line.startswith((".", " .")) for line in text.splitlines())
        assert result._repr_html_()


def test_an_array_put_into_a_list_is_a_change():
    def merge_pair(ids, pair, new_id):
        ids.append(np.ones(3))
        return ids

    assert check("merge_pair", merge_pair).title == "the input ids was changed"


def swallows(kind):
    def bare():
        while True:
            try:
                while True:
                    pass
            except:  # noqa: E722
                pass

    def finally_again():
        while True:
            try:
                while True:
                    sum(range(3))
            except BaseException:
                continue
            finally:
                sum(range(3))

    return {"bare": bare, "finally": finally_again}[kind]


@pytest.mark.parametrize("kind", ["bare", "finally"])
def test_no_except_keeps_a_loop_alive(kind, capfd):
    before = threading.active_count()
    (answer,) = call_all([swallows(kind)], 0.05)
    assert answer.late and answer.ended
    assert threading.active_count() == before
    assert capfd.readouterr().err == ""


def test_a_call_that_cannot_be_ended_is_not_called_stopped():
    def softmax(x):
        time.sleep(3)  # in C: no exception arrives before it is over

    result = check("softmax", softmax, seconds=0.1)
    assert "left running" in repr(result)


def test_an_interrupt_ends_the_loop(monkeypatch):
    """Ctrl+C while the grader waits: the loop must not run on."""
    ran = []

    def loop():
        ran.append(threading.current_thread())
        while True:
            pass

    def interrupted(self, timeout=None):
        monkeypatch.undo()
        while not ran:
            time.sleep(0.001)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        call_all([loop], 5.0)
    ran[0].join(2)
    assert not ran[0].is_alive()


def test_a_slow_first_call_is_waited_for():
    slow = [0.5]

    def softmax(x):
        time.sleep(slow.pop() if slow else 0)
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    assert check("softmax", softmax, seconds=0.2)


def test_prints_come_once(capsys):
    def scores(Q, K):
        print("shape", Q.shape)
        return Q @ K.T

    check("scores", scores)
    assert capsys.readouterr().out == "shape (1, 2)\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_an_answer_can_be_printed_on_a_narrow_stream(encoding, monkeypatch):
    narrow = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", narrow)
    for name in ("scores", "layer_norm", "pre_norm_block", "next_token_loss"):
        for mistake in EXERCISES[name].mistakes[:3]:
            print(check(name, mistake.wrong))
    narrow.flush()
    text = narrow.buffer.getvalue().decode(encoding)
    assert "Not yet: no scale" in text


def test_without_threads_everything_is_called_at_once():
    """Python in a browser has no threads, and no signals."""
    code = """
import sys
sys.platform = "emscripten"
import threading
def start(self): raise RuntimeError("can't start new thread")
threading.Thread.start = start
from mhalib.checks import check
assert not check("softmax", lambda x: x)
assert check("split_heads", lambda X, h: X.reshape(h, len(X), -1)).title == (
    "reshaped before transposing")
loaded = {"torch", "matplotlib", "safetensors", "ctypes.util"} & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_two_calls_that_differ_are_told():
    rng = np.random.default_rng()

    def feed_forward(X, W_1, b_1, W_2, b_2):
        hidden = np.maximum(0, X @ W_1 + b_1)
        return (hidden * (rng.random(hidden.shape) > 0.5)) @ W_2 + b_2

    result = check("feed_forward", feed_forward)
    assert result.kind == "unsteady"
    assert "Two calls with the same input gave different results" in repr(result)


def test_a_global_that_changes_is_told():
    calls = []

    def scores(Q, K):
        calls.append(1)
        return Q @ K.T / Q.shape[1] ** 0.5 * len(calls)

    assert check("scores", scores).kind == "unsteady"


width = 4


def test_a_variable_from_outside_is_told():
    def scores(Q, K):
        return Q @ K.T / (width + 1)

    assert "reads width (now 4), a variable from outside" in repr(check("scores", scores))


def test_nan_is_told():
    result = check("scores", lambda Q, K: Q @ K.T * np.nan)
    assert "There is NaN in it" in repr(result)


def test_precision_that_came_is_the_measure():
    """A right softmax in half precision is right; its rows sum to 1 as closely as it can say."""
    assert check("softmax", lambda x: mhalib_softmax(x.astype(np.float16)))
    assert check("attention_weights", lambda S, mask: np.nan_to_num(
        mhalib_softmax(np.where(mask, S, -np.inf).astype(np.float32))))  # fmt: skip


def mhalib_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_no_word_of_a_causal_mask_where_there_is_none():
    for exercise in EXERCISES.values():
        if not exercise.masked:
            for mistake in exercise.mistakes:
                assert "causal" not in mistake.why + mistake.breaks, mistake.name
    for name in ("raw_scores", "softmax", "scores", "split_heads", "merge_heads"):
        assert "causal" not in repr(check(name, lambda *args: args[0] * 0 + 0.5))


def test_what_is_special_is_said():
    def attention(Q, K, V, mask=None):
        S = Q @ K.T / Q.shape[1] ** 0.5
        S = S if mask is None else np.where(mask, S, -1e9)
        return mhalib_softmax(S) @ V

    assert "(a row with no allowed key)" in check("attention", attention).caption


def test_the_missing_batch_axis_is_told_in_few_lines():
    result = check("split_heads", lambda X, h: X.reshape(len(X), h, -1).transpose(1, 0, 2))
    assert result.title == "right without batch axes, not with them"
    assert len(repr(result).splitlines()) < 16


def test_unsolved_is_a_reason_not_a_word():
    def softmax(x):
        raise TypeError("an ellipsis is drawn here")

    assert check("softmax", softmax).kind == "error"

    def indexed(x):
        x = x[..., None]
        return x[..., 0] * 2

    assert check("softmax", indexed).kind != "unsolved"
