"""Model files: written and read back, or refused."""

import json
import sys

import numpy as np
import pytest
from arrays import assert_array
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file
from small import IDS, SMALL, model, with_parameters

from mhalib import Transformer, load_model
from mhalib.model import files


class TestFiles:
    def test_round_trip(self, tmp_path):
        m = model()
        m.save(tmp_path / "m.safetensors", dtype=np.float64)
        loaded = Transformer.load(tmp_path / "m.safetensors")
        assert loaded.config == m.config
        assert_array_equal(loaded.forward(IDS).logits, m.forward(IDS).logits)

    def test_float32_in_the_file(self, tmp_path):
        m = model()
        m.save(tmp_path / "m.safetensors")
        loaded = Transformer.load(tmp_path / "m.safetensors", dtype=np.float32)
        expected = m.forward(IDS).logits.astype(np.float32)
        assert_array(loaded.forward(IDS).logits, expected, rtol=1e-4, atol=1e-4)

    def test_a_loaded_tokenizer_of_metadata_is_plain_text(self, tmp_path):
        m = model()
        m.save(tmp_path / "m.safetensors")
        assert b'"config"' in (tmp_path / "m.safetensors").read_bytes()[:2000]

    @pytest.mark.parametrize("cut", [0, 5, 100, -1])
    def test_truncated(self, tmp_path, cut):
        path = tmp_path / "m.safetensors"
        model().save(path)
        path.write_bytes(path.read_bytes()[:cut])
        with pytest.raises(ValueError, match=r"m\.safetensors is not a saved Transformer"):
            Transformer.load(path)

    def test_foreign(self, tmp_path):
        from safetensors.numpy import save_file

        path = tmp_path / "m.safetensors"
        for content in (b"PK\x03\x04 a zip file", b"\x00" * 64):
            path.write_bytes(content)
            with pytest.raises(ValueError, match="is not a saved Transformer"):
                Transformer.load(path)
        save_file({"E": np.ones((11, 6))}, path)
        with pytest.raises(ValueError, match="is not a saved Transformer"):
            Transformer.load(path)

    def test_wrong_shapes(self, tmp_path):
        from safetensors import safe_open
        from safetensors.numpy import save_file

        path = tmp_path / "m.safetensors"
        model().save(path)
        with safe_open(path, framework="np") as file:
            metadata = file.metadata()
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        arrays["E"] = arrays["E"].T.copy()
        save_file(arrays, path, metadata=metadata)
        with pytest.raises(ValueError, match=r"E must have shape \(11, 6\), got \(6, 11\)"):
            Transformer.load(path)

    def test_missing(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="no model file at"):
            Transformer.load(tmp_path / "none.safetensors")

    def test_unknown_name(self):
        with pytest.raises(ValueError, match="name must be one of: .*got 'largest'"):
            load_model("largest")

    def test_writing_needs_safetensors(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
        with pytest.raises(ImportError, match="pip install safetensors"):
            model().save(tmp_path / "m.safetensors")
        assert list(tmp_path.iterdir()) == []

    def test_numpy_integers_in_the_config(self, tmp_path):
        sizes = {"d_model": 6, "n_heads": 3, "n_layers": 2, "d_k": 5, "d_v": 2, "d_ff": 7}
        m = model(**{name: np.int64(size) for name, size in sizes.items()})
        m.save(tmp_path / "m.safetensors")
        assert Transformer.load(tmp_path / "m.safetensors").config == m.config == SMALL

    def test_a_save_that_is_refused_leaves_the_old_file(self, tmp_path):
        path = tmp_path / "m.safetensors"
        model().save(path, np.float16)
        before = path.read_bytes()
        large = with_parameters(model(), E=np.full((11, 6), 65520.0))  # rounds to infinity
        with pytest.raises(ValueError, match="dtype float16 is too narrow for E: 65520"):
            large.save(path, np.float16)
        for dtype in (np.int8, np.longdouble, np.complex64, bool):
            with pytest.raises(ValueError, match="dtype must be float16, float32 or float64"):
                model().save(path, dtype)
        assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]

    def test_parameters_may_be_lists(self, tmp_path):
        lists = {name: array.tolist() for name, array in model().parameters.items()}
        m = Transformer(SMALL, lists)
        assert_array_equal(m.forward(IDS).logits, model().forward(IDS).logits)
        m.save(tmp_path / "m.safetensors", np.float64)
        assert_array_equal(
            Transformer.load(tmp_path / "m.safetensors").parameters["E"], m.parameters["E"]
        )

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_the_package_reads_the_same(self, tmp_path, dtype):
        """safetensors' own reader is the oracle."""
        path = tmp_path / "m.safetensors"
        model().save(path, dtype)
        arrays, metadata = files.read(path)
        theirs = load_file(path)
        assert arrays.keys() == theirs.keys()
        for name, array in theirs.items():
            assert_array_equal(arrays[name], array, strict=True)
        assert metadata.keys() == {"config"}

    @pytest.mark.parametrize(
        "header, numbers, why",
        [
            ({}, 8, "its last array ends at byte 10, but the file has 18 bytes"),
            ({"E": ["F32", [2], [0, 8]]}, 7, "cannot stand at bytes"),
            ({"E": ["F32", [3], [0, 8]]}, 8, r"E \[3\] cannot stand at bytes"),
            ({"E": ["F32", [-1], [0, 8]]}, 8, r"E \[-1\] cannot stand at bytes"),
            ({"E": ["F32", [2], [4, 12]]}, 12, "E .* cannot stand at bytes"),  # a gap
            ({"E": ["F32", [2], [0, 8]], "F": ["F32", [2], [4, 12]]}, 12, "F .* cannot stand"),
            ({"E": ["F32", [2], [8, 0]]}, 8, "E .* cannot stand at bytes"),
            ({"E": ["F32", ["2"], [0, 8]]}, 8, "E"),
            ({"E": ["I64", [1], [0, 8]]}, 8, "its header cannot be read, KeyError: 'I64'"),
            ({"E": ["F32", [2], [0]]}, 8, "."),
            ({"E": 3}, 0, "its header cannot be read, TypeError"),
            ([], 0, "its header cannot be read"),
            ({"__metadata__": [1]}, 0, "."),
        ],
    )
    def test_malformed(self, tmp_path, header, numbers, why):
        if isinstance(header, dict):
            header = {
                name: dict(zip(("dtype", "shape", "data_offsets"), entry, strict=True))
                if isinstance(entry, list) and len(entry) == 3 else entry
                for name, entry in header.items()
            }  # fmt: skip
        said = json.dumps(header).encode()
        path = tmp_path / "m.safetensors"
        path.write_bytes(len(said).to_bytes(8, "little") + said + bytes(numbers))
        with pytest.raises(ValueError, match=why):
            files.read(path)
        with pytest.raises(ValueError, match=r"m\.safetensors is not a saved Transformer: .{10}"):
            Transformer.load(path)
