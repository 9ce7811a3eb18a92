"""What is taken out: each time the same as a change of the parameters."""

import dataclasses

import numpy as np
import pytest
from arrays import assert_array
from numpy.testing import assert_array_equal
from small import IDS, SMALL, model, with_parameters

from mhalib import (
    Ablation,
    Transformer,
    embed,
    split_heads,
)


class TestAblation:
    """Each ablation equals the same thing done to the parameters."""

    def same(self, ablated, other):
        assert_array(ablated.logits, other.logits)
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
        self.same(trace, one.forward(IDS))

    @pytest.mark.parametrize("left_out", [[], [0], [1], [0, 1]])
    def test_a_layer_keeps_its_index(self, left_out):
        """Whatever is left out, ``layers.1`` is layer 1: it computes with the parameters of 1."""
        m = model()
        trace = m.forward(IDS, ablate=Ablation(layers=left_out))
        stream = trace.X
        for i in range(2):
            names = [name for name in trace.flat() if name.startswith(f"layers.{i}.")]
            if i in left_out:
                assert trace.layers[i] is None and names == []
                with pytest.raises(ValueError, match=f"layer {i} was left out of this pass"):
                    trace.layer(i)
                continue
            assert len(names) == 15
            W_K = m.parameters[f"layers.{i}.W_K"]
            assert_array(trace.flat()[f"layers.{i}.K"], split_heads(stream @ W_K, 3))
            stream = trace.layer(i).output
        assert_array_equal(trace.output, stream)

    @pytest.mark.parametrize("norm", ["post", "pre"])
    def test_the_feed_forward_network(self, norm):
        m = model(norm=norm)
        trace = m.forward(IDS, ablate=Ablation(ffn=[1]))
        silent = {"layers_1_W_2": np.zeros((7, 6)), "layers_1_b_2": np.zeros(6)}
        assert_array(trace.logits, with_parameters(m, **silent).forward(IDS).logits)
        assert (trace.layer(1).ffn == 0).all() and (trace.layer(0).ffn != 0).any()
        assert_array_equal(trace.layer(0).ffn, m.forward(IDS).layer(0).ffn)
        last = trace.layer(1)
        before = last.norm_1 if norm == "post" else last.residual_1
        assert_array_equal(last.residual_2, before)  # the stream goes by

    def test_w_o(self):
        m = model()
        trace = m.forward(IDS, ablate=Ablation(W_O=[0]))
        assert_array(trace.layers[0].attention.O, trace.layers[0].attention.concat)
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
        assert_array(blind[1], blind[3])

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
        assert_array(trace.output, block.residual_1 + block.ffn)

    def test_nothing_ablated_changes_nothing(self):
        m = model()
        assert_array_equal(m.forward(IDS, ablate=Ablation()).logits, m.forward(IDS).logits)

    @pytest.mark.parametrize(
        "ablate, message",
        [
            (Ablation(layers=[2]), r"ablate.layers: layer must lie in 0 … 1, got \[2\]"),
            (Ablation(heads=[(0, 3)]), r"ablate.heads: head must lie in 0 … 2, got \[3\]"),
            (Ablation(heads=[(-1, 0)]), r"ablate.heads: layer must lie in 0 … 1, got \[-1\]"),
            (Ablation(ffn=[2]), r"ablate.ffn: layer must lie in 0 … 1, got \[2\]"),
            (Ablation(W_O=[5]), r"ablate.W_O: layer must lie in 0 … 1, got \[5\]"),
        ],
    )
    def test_errors(self, ablate, message):
        with pytest.raises(ValueError, match=message):
            model().forward(IDS, ablate=ablate)

    def test_w_o_needs_equal_widths(self):
        with pytest.raises(ValueError, match="needs h·d_v = d_model, got 9 and 6"):
            model(d_v=3).forward(IDS, ablate=Ablation(W_O=[0]))
