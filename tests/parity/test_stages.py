"""Stage by stage: every named intermediate of the trace, NumPy beside torch."""

import numpy as np
import pytest
import torch
from arrays import assert_array

from mhalib import (
    Ablation,
    Config,
    Transformer,
    init_parameters,
    load_model,
    load_tokenizer,
    multi_head_trace,
    padding_mask,
)
from mhalib.torch import Transformer as TorchTransformer
from mhalib.torch import multi_head_trace as torch_multi_head_trace
from mhalib.torch.convert import to_numpy

SENTENCES = (
    "There are so many bats I can choose at the baseball store.",
    "I love to study bats that live inside a cave.",
)
SHAPE = {"vocab_size": 13, "d_model": 10, "n_heads": 5, "n_layers": 3}
CONFIGS = {
    "post-norm": {},
    "pre-norm, GELU": {"norm": "pre", "activation": "gelu"},
    "d_k, d_v, d_ff of their own": {"d_k": 3, "d_v": 7, "d_ff": 11, "activation": "gelu_tanh"},
    "no positions": {"positions": "none"},
    "unscaled": {"scaled": False, "norm": "pre"},
}
LENGTHS = np.array([7, 4])
OPTIONS = {
    "causal": {},
    "both ways": {"causal": False},
    "causal, padded": {"mask": padding_mask(LENGTHS)[:, None]},  # the head axis
    "padded on the left": {"real": np.arange(7) >= 7 - LENGTHS[:, None]},
}
STAGES_OF_A_LAYER = 8 + 7  # multi-head attention, and the block around it


def model(**shape):
    """A model whose norms and biases are not 1 and 0, so that each of them counts."""
    config = Config(**{**SHAPE, **shape})
    rng = np.random.default_rng(0)
    parameters = init_parameters(config, rng)
    for name, array in parameters.items():
        if array.ndim == 1:
            parameters[name] = array + rng.normal(0, 0.1, array.shape)
    return Transformer(config, parameters)


def ids():
    return np.random.default_rng(1).integers(0, SHAPE["vocab_size"], size=(2, 7))


def assert_stages_agree(ours, theirs, tolerance, kept=()):
    """Compare all stages by their names; those in `kept` torch's kernel keeps to itself."""
    ours, theirs = ours.flat(), theirs.flat()
    assert list(theirs) == [name for name in ours if name.split(".")[-1] not in kept]
    for name, tensor in to_numpy(theirs).items():
        assert tensor.shape == ours[name].shape, name
        if name != "ids":
            assert tensor.dtype == ours[name].dtype, name
        assert_array(tensor, ours[name], rtol=tolerance, atol=tolerance, name=name)
    return len(theirs)


def run_torch(numpy_model, tokens, dtype=torch.float64, **options):
    twin = TorchTransformer.from_numpy(numpy_model).to(dtype)
    options = {k: torch.from_numpy(v) if k in ("mask", "real") else v for k, v in options.items()}
    return twin.trace(torch.from_numpy(tokens), **options)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("shape", CONFIGS)
def test_every_stage_in_float64(shape, options):
    reference = model(**CONFIGS[shape])
    ours = reference.forward(ids(), **OPTIONS[options])
    n = assert_stages_agree(ours, run_torch(reference, ids(), **OPTIONS[options]), 1e-12)
    assert n == 3 * STAGES_OF_A_LAYER + 7  # ids, embedded, positions, X; output, logits, shares


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("shape", CONFIGS)
def test_the_fused_path_goes_through_the_same_stages(shape, options):
    reference = model(**CONFIGS[shape])
    ours = reference.forward(ids(), **OPTIONS[options])
    theirs = run_torch(reference, ids(), fused=True, **OPTIONS[options])
    n = assert_stages_agree(ours, theirs, 1e-12, kept=("scores", "weights", "probabilities"))
    assert n == 3 * (STAGES_OF_A_LAYER - 2) + 6


SQUARE = {"d_k": 2, "d_v": 2}  # h·d_v = d_model
ABLATIONS = {
    "scale": Ablation(scale=True),
    "mask": Ablation(mask=True),
    "positions": Ablation(positions=True),
    "embedding_scale": Ablation(embedding_scale=True),
    "residual": Ablation(residual=True),
    "norm": Ablation(norm=True),
    "W_O": Ablation(W_O=[0, 2]),
    "heads": Ablation(heads=[(1, 0), (1, 4), (2, 3)]),
    "heads, other values": Ablation(heads={(0, 1): 2.0, (2, 2): np.array([0.5, -1.0])}),
    "ffn": Ablation(ffn=[1]),
    "every ffn": Ablation(ffn=range(3)),
    "first layer": Ablation(layers=[0]),
    "middle layer": Ablation(layers=[1], ffn=[2], W_O=[0]),
    "all layers": Ablation(layers=[0, 1, 2]),
}


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("what", ABLATIONS)
def test_what_is_taken_out(what, norm, fused):
    reference, ablate = model(**SQUARE, norm=norm), ABLATIONS[what]
    ours = reference.forward(ids(), ablate=ablate)
    theirs = run_torch(reference, ids(), ablate=ablate, fused=fused)
    kept = ("scores", "weights", "probabilities") if fused else ()
    assert_stages_agree(ours, theirs, 1e-12, kept)
    assert [b is None for b in theirs.layers] == [i in ablate.layers for i in range(3)]
    assert not np.allclose(ours.logits, reference.forward(ids()).logits)


def test_both_refuse_layers_that_are_not_there():
    reference = model()
    for run in (reference.forward, TorchTransformer.from_numpy(reference).trace):
        tokens = ids() if run == reference.forward else torch.from_numpy(ids())
        with pytest.raises(ValueError, match=r"ablate.ffn: layer must lie in 0 … 2, got \[3\]"):
            run(tokens, ablate=Ablation(ffn=[3]))


def in_float32(reference):
    parameters = {name: a.astype(np.float32) for name, a in reference.parameters.items()}
    return Transformer(reference.config, parameters)


@pytest.mark.parametrize("shape", CONFIGS)
def test_every_stage_in_float32(shape):
    """The two float32 runs differ by roundings, 2⁻²³ ≈ 1.2e-7 each, that add up over 3 layers."""
    single = in_float32(model(**CONFIGS[shape]))
    theirs = run_torch(single, ids(), torch.float32)
    assert_stages_agree(single.forward(ids()), theirs, 1e-5)


def test_float64_decides_a_difference():
    """The same float32 weights, computed in float64 on both sides, agree to float64's precision:
    what float32 showed was rounding, not another formula."""
    single = in_float32(model())
    double = Transformer(
        single.config, {name: a.astype(np.float64) for name, a in single.parameters.items()}
    )
    assert_stages_agree(double.forward(ids()), run_torch(double, ids()), 1e-12)
    rounding = np.abs(single.forward(ids()).logits - double.forward(ids()).logits).max()
    assert 1e-8 < rounding < 1e-5


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_trained_model(sentence):
    reference = load_model("main")
    tokens = np.array(load_tokenizer().encode(sentence))
    ours = reference.forward(tokens)
    assert_stages_agree(ours, run_torch(reference, tokens), 1e-12)
    assert_stages_agree(
        in_float32(reference).forward(tokens),
        run_torch(in_float32(reference), tokens, torch.float32),
        1e-4,  # stream and logits of the trained model go up to tens, not ones
    )


def test_one_layer_with_past_and_edited_heads():
    rng = np.random.default_rng(2)
    X, W_Q, W_K, W_V, W_O = (
        rng.normal(size=shape) for shape in ((2, 5, 7), (7, 6), (7, 6), (7, 15), (15, 7))
    )
    past = rng.normal(size=(2, 3, 11, 2)), rng.normal(size=(2, 3, 11, 5))
    ours = multi_head_trace(
        X, W_Q, W_K, W_V, W_O, 3, past=past, causal=True, edit_heads=lambda H: -2 * H
    )
    t = [torch.from_numpy(A) for A in (X, W_Q, W_K, W_V, W_O)]
    theirs = torch_multi_head_trace(
        *t, 3, past=tuple(map(torch.from_numpy, past)), causal=True, edit_heads=lambda H: -2 * H
    )
    for name, array in vars(ours).items():
        assert_array(getattr(theirs, name), array, rtol=1e-12, atol=1e-12, name=name)


def test_cached_decoding():
    reference = model()
    twin = TorchTransformer.from_numpy(reference)
    tokens = ids()
    numpy_cache = torch_cache = None
    for new in (tokens[:, :3], tokens[:, 3:4], tokens[:, 4:]):
        ours, numpy_cache = reference.decode(new, numpy_cache)
        theirs, torch_cache = twin.decode(torch.from_numpy(new), torch_cache)
        assert_array(theirs.detach(), ours, rtol=1e-12, atol=1e-12)
    assert_array(ours, reference.forward(tokens).logits[:, -1], rtol=1e-12, atol=1e-12)


def test_cached_decoding_of_a_padded_batch():
    reference = model()
    twin = TorchTransformer.from_numpy(reference)
    tokens, real = ids(), np.arange(7) >= 7 - LENGTHS[:, None]
    numpy_cache = torch_cache = None
    for part in (slice(0, 5), slice(5, 6), slice(6, 7)):
        new, kept = tokens[:, part], real[:, part]
        ours, numpy_cache = reference.decode(new, numpy_cache, real=kept)
        theirs, torch_cache = twin.decode(
            torch.from_numpy(new), torch_cache, real=torch.from_numpy(kept)
        )
        assert_array(theirs.detach(), ours, rtol=1e-12, atol=1e-12)
    assert_array(ours[1], reference.forward(tokens[1, 3:]).logits[-1], rtol=1e-12, atol=1e-12)
    for wrong in (np.ones((2, 1)), np.ones((2, 2), bool), np.zeros((2, 1), bool)):
        errors = []
        for decode, given in ((reference.decode, wrong), (twin.decode, torch.from_numpy(wrong))):
            new = tokens[:, :1] if given is wrong else torch.from_numpy(tokens[:, :1])
            with pytest.raises((TypeError, ValueError)) as caught:
                decode(new, real=given)
            errors.append((caught.type, str(caught.value).replace("torch.", "")))
        assert errors[0] == errors[1]
