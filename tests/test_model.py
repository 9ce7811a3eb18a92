"""mhalib.model: forward pass, trace, ablations, cached decoding, files."""

import dataclasses
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mhalib import (
    Ablation,
    Config,
    Transformer,
    cross_entropy,
    embed,
    feed_forward,
    init_parameters,
    layer_norm,
    load_model,
    multi_head_attention,
    padding_mask,
    parameter_shapes,
    sinusoidal_positions,
    tied_logits,
)

SMALL = Config(vocab_size=11, d_model=6, n_heads=3, n_layers=2, d_k=5, d_v=2, d_ff=7)
IDS = np.array([3, 1, 4, 1, 5, 9, 2])


def model(seed=0, **changes):
    """A small model whose parameters are all random, biases and norms included."""
    config = dataclasses.replace(SMALL, **changes)
    rng = np.random.default_rng(seed)
    return Transformer(
        config, {name: rng.normal(size=shape) for name, shape in parameter_shapes(config).items()}
    )


def with_parameters(model, **changes):
    """The model with some parameters replaced; `layers_0_W_O` names `layers.0.W_O`."""
    changed = {
        name.replace("_", ".", 2) if name.startswith("layers") else name: p
        for name, p in changes.items()
    }
    return Transformer(model.config, {**model.parameters, **changed})


def by_hand(m, ids):
    """A post-norm model, written out."""
    p = m.parameters
    X = p["E"][ids] * 6**0.5 + sinusoidal_positions(len(ids), 6)
    for i in range(2):
        q = {
            name.split(".")[2]: value for name, value in p.items() if name.startswith(f"layers.{i}")
        }
        X = layer_norm(
            X + multi_head_attention(X, q["W_Q"], q["W_K"], q["W_V"], q["W_O"], 3, causal=True),
            q["gamma_1"],
            q["beta_1"],
        )
        X = layer_norm(
            X + feed_forward(X, q["W_1"], q["b_1"], q["W_2"], q["b_2"]), q["gamma_2"], q["beta_2"]
        )
    return X @ p["E"].T


class TestConfig:
    def test_defaults(self):
        config = Config(vocab_size=7)
        assert (config.d_k, config.d_v, config.d_ff) == (16, 16, 256)

    @pytest.mark.parametrize(
        "changes, error, message",
        [
            ({"n_heads": 5}, ValueError, "n_heads must divide d_model = 64.*got 5"),
            ({"n_layers": 0}, ValueError, "n_layers must be at least 1, got 0"),
            ({"d_model": 6.0}, TypeError, "d_model must be an integer, got 6.0"),
            ({"d_ff": -3}, ValueError, "d_ff must be at least 1, got -3"),
            ({"norm": "middle"}, ValueError, "norm must be one of post, pre, got 'middle'"),
            ({"activation": "tanh"}, ValueError, "activation must be one of relu, gelu, gelu_tanh"),
            ({"positions": "learned"}, ValueError, "positions must be one of sinusoidal, none"),
        ],
    )
    def test_errors(self, changes, error, message):
        with pytest.raises(error, match=message):
            Config(vocab_size=7, **changes)


class TestParameters:
    def test_shapes(self):
        parameters = init_parameters(SMALL, np.random.default_rng(0))
        assert {name: array.shape for name, array in parameters.items()} == parameter_shapes(SMALL)
        assert "gamma_f" in parameter_shapes(dataclasses.replace(SMALL, norm="pre"))

    def test_variances(self):
        config = Config(vocab_size=500, d_model=64, n_heads=4, n_layers=1)
        p = init_parameters(config, np.random.default_rng(0))
        assert p["E"].var() == pytest.approx(1 / 64, rel=0.05)
        assert p["layers.0.W_1"].var() == pytest.approx(2 / (64 + 256), rel=0.05)
        assert_array_equal(p["layers.0.gamma_1"], np.ones(64))
        assert_array_equal(p["layers.0.b_1"], np.zeros(256))

    def test_seeded(self):
        one, two = (init_parameters(SMALL, np.random.default_rng(3)) for _ in range(2))
        for name in one:
            assert_array_equal(one[name], two[name])

    def test_count(self):
        assert model().n_parameters == sum(
            np.prod(shape) for shape in parameter_shapes(SMALL).values()
        )

    @pytest.mark.parametrize(
        "change, message",
        [
            ({"E": None}, r"missing \['E'\]"),
            ({"extra": np.ones(2)}, r"unknown \['extra'\]"),
            ({"E": np.ones((6, 11))}, r"E must have shape \(11, 6\), got \(6, 11\)"),
            ({"E": np.full((11, 6), np.nan)}, "E must be finite"),
        ],
    )
    def test_errors(self, change, message):
        parameters = {**model().parameters, **change}
        with pytest.raises(ValueError, match=message):
            Transformer(
                SMALL, {name: array for name, array in parameters.items() if array is not None}
            )


class TestForward:
    def test_written_out(self):
        m = model()
        assert_allclose(m.forward(IDS).logits, by_hand(m, IDS), strict=True)

    def test_pre_norm_ends_with_a_norm(self):
        m = model(norm="pre")
        trace = m.forward(IDS)
        last = layer_norm(trace.layers[-1].output, m.parameters["gamma_f"], m.parameters["beta_f"])
        assert_allclose(trace.output, last, strict=True)
        assert_allclose(trace.logits, tied_logits(last, m.parameters["E"]), strict=True)

    def test_no_scale_no_positions(self):
        m = model()
        plain = model(scaled=False, positions="none")
        assert_allclose(
            plain.forward(IDS).logits,
            m.forward(IDS, ablate=Ablation(scale=True, positions=True)).logits,
            strict=True,
        )

    def test_bidirectional(self):
        m = model()
        assert_array_equal(
            m.forward(IDS, causal=False).logits, m.forward(IDS, ablate=Ablation(mask=True)).logits
        )
        assert (m.forward(IDS, causal=False).layers[0].attention.weights > 0).all()

    def test_padding(self):
        m = model()
        ids = np.array([[3, 1, 4, 0, 0], [1, 5, 9, 2, 6]])
        mask = padding_mask([3, 5], 5)[:, None]
        logits = m.forward(ids, mask=mask, causal=False).logits
        assert_allclose(logits[0, :3], m.forward(ids[0, :3], causal=False).logits, strict=True)

    def test_flat_trace_names_every_step(self):
        flat = model().forward(IDS).flat()
        assert {
            "ids",
            "X",
            "layers.0.Q",
            "layers.1.weights",
            "layers.1.norm_2",
            "logits",
            "probabilities",
        } <= set(flat)
        assert flat["layers.1.weights"].shape == (3, 7, 7)
        assert all(isinstance(array, np.ndarray) for array in flat.values())

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_dtype_is_that_of_the_parameters(self, dtype):
        m = Transformer(
            SMALL, {name: array.astype(dtype) for name, array in model().parameters.items()}
        )
        for name, array in m.forward(IDS).flat().items():
            assert name == "ids" or array.dtype == dtype, name

    @pytest.mark.parametrize(
        "ids, error", [([11], ValueError), ([0.5], TypeError), (3, ValueError)]
    )
    def test_errors(self, ids, error):
        with pytest.raises(error, match="ids"):
            model().forward(ids)

    def test_parameters_are_not_changed(self):
        m = model()
        for array in m.parameters.values():
            array.flags.writeable = False  # an in-place edit would raise
        m.forward(IDS, ablate=Ablation(heads=[(0, 1)], W_O=[], layers=[1]))


class TestAblation:
    """Each ablation equals the same thing done to the parameters."""

    def same(self, ablated, other):
        assert_allclose(ablated.logits, other.logits, strict=True)
        assert not np.allclose(ablated.logits, model().forward(IDS).logits)

    @pytest.mark.parametrize("head", [0, 1, 2])
    def test_a_head_is_its_rows_of_w_o(self, head):
        m = model()
        W_O = m.parameters["layers.1.W_O"].copy()
        W_O[head * 2 : head * 2 + 2] = 0
        self.same(
            m.forward(IDS, ablate=Ablation(heads=[(1, head)])),
            with_parameters(m, layers_1_W_O=W_O).forward(IDS),
        )

    def test_a_head_replaced_by_its_mean(self):
        m = model()
        mean = m.forward(IDS).layers[0].attention.heads[2].mean(axis=0)
        trace = m.forward(IDS, ablate=Ablation(heads={(0, 2): mean}))
        assert_array_equal(trace.layers[0].attention.heads[2], np.tile(mean, (7, 1)))
        assert_array_equal(
            trace.layers[0].attention.heads[:2], m.forward(IDS).layers[0].attention.heads[:2]
        )
        assert_array_equal(trace.layers[0].attention.concat[:, 4:], np.tile(mean, (7, 1)))

    def test_a_layer_is_skipped(self):
        m = model()
        one = Transformer(
            dataclasses.replace(SMALL, n_layers=1),
            {
                n.replace("layers.1", "layers.0"): p
                for n, p in m.parameters.items()
                if "layers.0" not in n
            },
        )
        trace = m.forward(IDS, ablate=Ablation(layers=[0]))
        assert len(trace.layers) == 1
        self.same(trace, one.forward(IDS))

    def test_w_o(self):
        m = model()
        trace = m.forward(IDS, ablate=Ablation(W_O=[0]))
        assert_allclose(trace.layers[0].attention.O, trace.layers[0].attention.concat, strict=True)
        self.same(trace, with_parameters(m, layers_0_W_O=np.eye(6)).forward(IDS))

    def test_scale(self):
        m = model()
        self.same(
            m.forward(IDS, ablate=Ablation(scale=True)),
            with_parameters(
                m, **{f"layers_{i}_W_Q": m.parameters[f"layers.{i}.W_Q"] * 5**0.5 for i in range(2)}
            ).forward(IDS),
        )

    def test_positions(self):
        m = model()
        trace = m.forward(IDS, ablate=Ablation(positions=True))
        assert_array_equal(trace.X, embed(IDS, m.parameters["E"]))
        # tokens 1 and 3 are the same word: without positions and mask their rows are equal
        blind = m.forward(IDS, ablate=Ablation(positions=True, mask=True)).logits
        assert_allclose(blind[1], blind[3])

    def test_embedding_scale(self):
        m = model()
        trace = m.forward(IDS, ablate=Ablation(embedding_scale=True))
        assert_array_equal(trace.embedded, m.parameters["E"][IDS])

    def test_residual(self):
        block = model().forward(IDS, ablate=Ablation(residual=True)).layers[0]
        assert_array_equal(block.residual_1, block.attention.O)
        assert_array_equal(block.residual_2, block.ffn)

    @pytest.mark.parametrize("norm", ["post", "pre"])
    def test_norm(self, norm):
        m = model(norm=norm)
        trace = m.forward(IDS, ablate=Ablation(norm=True))
        block = trace.layers[-1]
        assert_allclose(trace.output, block.residual_1 + block.ffn, strict=True)

    def test_nothing_ablated_changes_nothing(self):
        m = model()
        assert_array_equal(m.forward(IDS, ablate=Ablation()).logits, m.forward(IDS).logits)

    @pytest.mark.parametrize(
        "ablate, message",
        [
            (Ablation(layers=[2]), r"ablate.layers: layer must lie in 0 … 1, got \[2\]"),
            (Ablation(heads=[(0, 3)]), r"ablate.heads: head must lie in 0 … 2, got \[3\]"),
            (Ablation(heads=[(-1, 0)]), r"ablate.heads: layer must lie in 0 … 1, got \[-1\]"),
            (Ablation(W_O=[5]), r"ablate.W_O: layer must lie in 0 … 1, got \[5\]"),
        ],
    )
    def test_errors(self, ablate, message):
        with pytest.raises(ValueError, match=message):
            model().forward(IDS, ablate=ablate)

    def test_w_o_needs_equal_widths(self):
        with pytest.raises(ValueError, match="needs h·d_v = d_model, got 9 and 6"):
            model(d_v=3).forward(IDS, ablate=Ablation(W_O=[0]))


class TestDecoding:
    @pytest.mark.parametrize("norm", ["post", "pre"])
    @pytest.mark.parametrize("pieces", [[1] * 7, [3, 1, 1, 2], [6, 1]])
    def test_cached_equals_full(self, norm, pieces):
        m = model(norm=norm)
        full, cache, done = m.forward(IDS).logits, None, 0
        for size in pieces:
            logits, cache = m.decode(IDS[done : done + size], cache)
            done += size
            assert_allclose(logits, full[done - 1], strict=True)

    def test_the_cache_given_is_not_changed(self):
        m = model()
        _, cache = m.decode(IDS[:3])
        before = [(K.copy(), V.copy()) for K, V in cache]
        m.decode(IDS[3:], cache)
        for (K, V), (K_before, V_before) in zip(cache, before):
            assert_array_equal(K, K_before)
            assert_array_equal(V, V_before)

    def test_generate_equals_the_slow_way(self):
        m, slow = model(), [3, 1]
        for _ in range(5):
            slow.append(int(m.forward(slow).logits[-1].argmax()))
        assert m.generate([3, 1], 5) == slow


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
        assert loaded.forward(IDS).logits.dtype == np.float32
        assert_allclose(loaded.forward(IDS).logits, m.forward(IDS).logits, rtol=1e-4, atol=1e-4)

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

    def test_without_safetensors(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
        with pytest.raises(ImportError, match="pip install safetensors"):
            model().save(tmp_path / "m.safetensors")


def test_the_mean_loss_of_a_fresh_model_is_near_chance():
    config = Config(vocab_size=97, d_model=16, n_heads=2, n_layers=1)
    fresh = Transformer(config, init_parameters(config, np.random.default_rng(0)))
    ids = np.random.default_rng(1).integers(0, 97, size=(8, 20))
    loss = cross_entropy(fresh.forward(ids).logits[:, :-1], ids[:, 1:])
    assert np.log(97) - 0.1 < loss < np.log(97) + 1.5
