"""The forward pass, written out; padding; cached decoding."""

import numpy as np
import pytest
from arrays import assert_array
from numpy.testing import assert_array_equal
from small import IDS, SMALL, model

from mhalib import (
    Ablation,
    Config,
    Transformer,
    cross_entropy,
    feed_forward,
    init_parameters,
    layer_norm,
    multi_head_attention,
    padding_mask,
    sinusoidal_positions,
    tied_logits,
    window_mask,
)


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


class TestForward:
    def test_written_out(self):
        m = model()
        assert_array(m.forward(IDS).logits, by_hand(m, IDS))

    def test_pre_norm_ends_with_a_norm(self):
        m = model(norm="pre")
        trace = m.forward(IDS)
        last = layer_norm(trace.layers[-1].output, m.parameters["gamma_f"], m.parameters["beta_f"])
        assert_array(trace.output, last)
        assert_array(trace.logits, tied_logits(last, m.parameters["E"]))

    def test_no_scale_no_positions(self):
        m = model()
        plain = model(scaled=False, positions="none")
        assert_array(
            plain.forward(IDS).logits,
            m.forward(IDS, ablate=Ablation(scale=True, positions=True)).logits,
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
        assert_array(logits[0, :3], m.forward(ids[0, :3], causal=False).logits)

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


LEFT, RIGHT, AROUND = [0, 0, 0, 3, 1, 4], [1, 5, 9, 0, 0, 0], [0, 0, 2, 6, 0, 0]
BATCH = np.array([LEFT, RIGHT, AROUND, [2, 7, 1, 8, 2, 8]])
REAL = BATCH > 0  # 0 is what the batch is filled up with


class TestPadding:
    """A sentence is the same alone and in a batch, wherever the batch has room for it."""

    @pytest.mark.parametrize("norm", ["post", "pre"])
    @pytest.mark.parametrize("causal", [True, False])
    def test_every_stage_of_the_real_tokens(self, norm, causal):
        m = model(norm=norm)
        batch = m.forward(BATCH, real=REAL, causal=causal).flat()
        for row, (ids, real) in enumerate(zip(BATCH, REAL, strict=True)):
            alone = m.forward(ids[real], causal=causal).flat()
            for name, expected in alone.items():
                array = batch[name][row]
                stage = name.split(".")[-1]
                if stage in ("scores", "weights"):
                    array = array[:, :, real]
                array = array[real] if array.shape[0] == 6 else array[:, real]
                assert_array(array, expected, rtol=1e-12, atol=1e-12, name=name)

    def test_one_sentence(self):
        m = model()
        logits = m.forward(LEFT, real=np.array(LEFT) > 0).logits
        assert_array(logits[3:], m.forward(LEFT[3:]).logits)

    def test_with_a_mask_of_ones_own(self):
        m = model()
        near = window_mask(6, left=1, right=0)
        logits = m.forward(BATCH, real=REAL, mask=near).logits
        alone = m.forward([3, 1, 4], mask=near[3:, 3:]).logits
        assert_array(logits[0, 3:], alone)

    def test_decoding_reads_the_last_real_token(self):
        m = model()
        logits, _ = m.decode(BATCH, real=REAL)
        alone = [m.decode(ids[real])[0] for ids, real in zip(BATCH, REAL, strict=True)]
        assert_array(logits, alone)

    def test_decoding_goes_on_behind_the_padding(self):
        """Three pieces: padded, none padded, padded again."""
        m = model()
        last = np.array([[4, 2], [4, 0], [0, 9], [1, 1]])
        pieces = [(BATCH, REAL), (np.array([[5], [3], [7], [7]]), None), (last, last > 0)]
        cache, texts = None, [[] for _ in BATCH]
        for ids, real in pieces:
            logits, cache = m.decode(ids, cache, real=real)
            for text, row, kept in zip(texts, ids, REAL if ids is BATCH else ids > 0, strict=True):
                text += row[kept].tolist()
            assert_array(logits, [m.forward(t).logits[-1] for t in texts], rtol=1e-10)

    @pytest.mark.parametrize(
        "real, error, message",
        [
            (REAL.astype(int), TypeError, "real must be boolean .*got dtype int"),
            (REAL[:, 1:], ValueError, r"real must have the shape of ids, \(4, 6\), got \(4, 5\)"),
            (REAL & False, ValueError, "each sentence needs at least one real token"),
        ],
    )
    def test_errors(self, real, error, message):
        with pytest.raises(error, match=message):
            model().decode(BATCH, real=real)


class TestDecoding:
    @pytest.mark.parametrize("norm", ["post", "pre"])
    @pytest.mark.parametrize("pieces", [[1] * 7, [3, 1, 1, 2], [6, 1]])
    def test_cached_equals_full(self, norm, pieces):
        m = model(norm=norm)
        full, cache, done = m.forward(IDS).logits, None, 0
        for size in pieces:
            logits, cache = m.decode(IDS[done : done + size], cache)
            done += size
            assert_array(logits, full[done - 1])

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


def test_the_mean_loss_of_a_fresh_model_is_near_chance():
    config = Config(vocab_size=97, d_model=16, n_heads=2, n_layers=1)
    fresh = Transformer(config, init_parameters(config, np.random.default_rng(0)))
    ids = np.random.default_rng(1).integers(0, 97, size=(8, 20))
    loss = cross_entropy(fresh.forward(ids).logits[:, :-1], ids[:, 1:])
    assert np.log(97) - 0.1 < loss < np.log(97) + 1.5
