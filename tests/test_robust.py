"""Files, values and machines that no one meant: used as they are, or refused with the reason."""

import functools
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors.numpy import save as safetensors
from traitlets import TraitError

from mhalib import Tokenizer, widgets
from mhalib.model import Config, Transformer, init_parameters

CONFIG = Config(vocab_size=11, d_model=6, n_heads=2, n_layers=1)
MODEL = Transformer(CONFIG, init_parameters(CONFIG, np.random.default_rng(3)))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("robust") / "model.safetensors"


def load(path, content):
    """Return the model in `content`, or None where the file was refused as it should be."""
    path.write_bytes(content)
    try:
        return Transformer.load(path)
    except ValueError as error:
        assert f"{path} is not a saved Transformer: " in str(error)
        assert len(str(error)) > len(f"{path} is not a saved Transformer: ") + 10
        return None


@pytest.fixture(scope="module")
def good(path):
    MODEL.save(path)
    return path.read_bytes()


class TestModelFiles:
    def test_cut_anywhere(self, path, good):
        assert [cut for cut in range(0, len(good), 7) if load(path, good[:cut])] == []
        assert load(path, good[:-1]) is None
        assert load(path, good + b"\0") is None

    def test_one_byte_changed(self, path, good):
        """There is no checksum: a changed number passes, but never a changed shape or a NaN."""
        refused = 0
        for place in range(0, len(good), 5):
            model = load(path, good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :])
            refused += model is None
            if model:
                assert model.parameters.keys() == MODEL.parameters.keys()
                assert all(np.isfinite(array).all() for array in model.parameters.values())
        assert refused > 50

    @given(st.binary(max_size=60))
    def test_any_bytes(self, path, content):
        assert load(path, content) is None

    @given(st.dictionaries(st.text(max_size=4), st.just(np.ones((2, 3))), max_size=3))
    def test_arrays_of_others(self, path, arrays):
        assert load(path, safetensors(arrays)) is None
        assert load(path, safetensors(arrays, metadata={"format": "np"})) is None

    @given(JSON)
    @example({"vocab_size": 11, "n_layers": 10**12})
    @example({"vocab_size": 10**30})
    def test_any_config(self, path, config):
        metadata = {"config": json.dumps(config)}
        assert load(path, safetensors({"E": np.ones((11, 6))}, metadata=metadata)) is None

    @given(st.sampled_from(list(vars(CONFIG))), JSON)
    def test_any_value_in_the_config(self, path, name, value):
        metadata = {"config": json.dumps({**vars(CONFIG), name: value})}
        model = load(path, safetensors(MODEL.parameters, metadata=metadata))
        if model:
            assert isinstance(getattr(model.config, name), type(getattr(CONFIG, name)))

    def test_a_pickle_is_not_opened(self, path):
        ran = path.with_name("ran")

        class Trap:
            def __reduce__(self):
                return (os.mkdir, (str(ran),))

        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            path.write_bytes(pickle.dumps(Trap(), protocol))
            with pytest.raises(ValueError, match="a pickle can run code and is never read"):
                Transformer.load(path)
        assert not ran.exists()


@given(JSON)
@example({"merges": [[97, 98], [256, 10**40]]})
@example({"merges": {"ab": 1}})
def test_any_tokenizer_file(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "tokenizer.json"
    for text in (json.dumps(content), json.dumps({"merges": content}), "[" * 100_000):
        path.write_text(text)
        try:
            assert Tokenizer.load(path).decode([97, 98]) == "ab"
        except ValueError as error:
            assert f"{path} is not a saved Tokenizer: " in str(error)


@pytest.fixture(scope="module", params=widgets.__all__)
def widget(request):
    return getattr(widgets, request.param)()


@given(JSON)
def test_any_value_in_a_widget(widget, value):
    before = widget.state()
    for trait in widget.traits(state=True):
        try:
            setattr(widget, trait, value)
        except (TraitError, ValueError, TypeError) as error:
            assert trait in str(error)
            assert widget.state() == before
        else:
            json.dumps(widget.state(), allow_nan=False)
            setattr(widget, trait, before[trait])


FORWARD = """
import numpy, mhalib
numpy.set_printoptions(threshold=10**9, precision=DECIMALS)
ids = mhalib.load_tokenizer().encode("I love to study bats that live inside a")
for name, array in mhalib.load_model("main").forward(ids).flat().items():
    print(name, array.round(DECIMALS) + 0.0)  # + 0.0: no minus before a zero
"""


@functools.cache
def printed(decimals, **machine):
    """Return what the lessons' model prints on a machine with these settings."""
    script = FORWARD.replace("DECIMALS", str(decimals))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **machine}
    run = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout


@pytest.mark.parametrize(
    "machine",
    [
        {"OMP_NUM_THREADS": "2"},
        {"OPENBLAS_CORETYPE": "Prescott"},  # what every x86-64 machine can compute;
        {"OPENBLAS_CORETYPE": "Nehalem"},  # elsewhere OpenBLAS ignores the name
    ],
    ids=str,
)
def test_lessons_print_the_same_on_other_machines(machine):
    first = printed(4)
    assert "layers.2" in first
    assert printed(4, **machine) == first
