"""Streams that cannot say everything: what the library prints arrives, sign by sign."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mhalib
from mhalib._stream import INSTEAD, printable

ROOT = Path(__file__).parents[1]
ENCODINGS = ["ascii", "cp1252"]


def narrow(encoding):
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


def everything_shown():
    """Every function and class of the public name list, as a reader may print it."""
    for name in mhalib.__all__:
        thing = getattr(mhalib, name)
        if callable(thing):
            mhalib.show_source(thing)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_show_source(monkeypatch, encoding):
    monkeypatch.setattr(sys, "stdout", narrow(encoding))
    everything_shown()
    sys.stdout.flush()
    text = sys.stdout.buffer.getvalue().decode(encoding)
    assert "def attention(" in text
    if encoding == "ascii":
        assert "# (*batch, h, n, d_k)" in text


def test_show_source_on_utf8_changes_nothing(capsys):
    mhalib.show_source(mhalib.multi_head_attention)
    assert "·" in printable("·") and "Q Kᵀ" in printable("Q Kᵀ")


def test_a_sign_has_its_stand_in_and_any_other_a_question_mark():
    assert printable("1/√d_k → ≤ ∞ ŝ", narrow("ascii")) == "1/sqrtd_k -> <= inf ?"
    assert printable("“√” …", narrow("cp1252")) == "“sqrt” …"
    assert all(stand_in.isascii() for stand_in in INSTEAD.values())


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "mhalib.training", "--help"],
        ["-m", "mhalib.analysis", "--help"],
        ["-m", "mhalib.analysis", "--experiments"],
        ["-m", "scripts.lessons", "--help"],
        ["-m", "benchmarks.attention", "--help"],
    ],
    ids=" ".join,
)
def test_commands(command):
    run = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr.decode("utf-8", "replace")[-500:]
    assert run.stdout.decode("ascii")


@pytest.mark.parametrize("name", ["browser", "environment", "test"])
def test_what_runs_before_the_library_is_there_speaks_ascii(name):
    path = ROOT / "scripts" / f"{name}.py"
    assert path.read_text("utf-8").isascii()
