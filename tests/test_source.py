"""`show_source` prints what stands in the file, without the docstrings."""

import numpy as np
import pytest

import mhalib
from mhalib.tokenizer import Tokenizer


def test_code_and_comments_stay_and_the_docstring_goes(capsys):
    mhalib.show_source(mhalib.split_heads)
    printed = capsys.readouterr().out
    assert printed.startswith("# mhalib/heads.py\ndef split_heads(")
    assert "swapaxes(-2, -3)  # (*batch, h, n, d_k)" in printed
    assert '"""' not in printed


def test_a_class_is_shown_with_all_its_methods(capsys):
    mhalib.show_source(Tokenizer)
    printed = capsys.readouterr().out
    assert '"""' not in printed
    for method in ("encode", "decode", "merge_steps", "save"):
        assert f"    def {method}(self" in printed


def test_what_has_no_python_source_is_refused():
    with pytest.raises(TypeError, match="thing must be a function or class"):
        mhalib.show_source(np.add)
