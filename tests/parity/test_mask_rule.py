"""A mask is read by its rank, in NumPy and PyTorch alike: sizes never decide."""

import numpy as np
import pytest
import torch
from arrays import assert_array

import mhalib
import mhalib.torch

RNG = np.random.default_rng(0)
W = [RNG.normal(size=(6, 6)) for _ in range(4)]
CONFIG = mhalib.Config(11, d_model=6, n_heads=3, n_layers=2)
MODEL = mhalib.Transformer(CONFIG, mhalib.init_parameters(CONFIG, np.random.default_rng(1)))
TWIN = mhalib.torch.Transformer.from_numpy(MODEL)


def tensors(values):
    return [torch.from_numpy(v) if isinstance(v, np.ndarray) else v for v in values]


def attention(*batch, n=5):
    Q, K, V = (RNG.normal(size=(*batch, n, 2)) for _ in range(3))
    return (
        lambda **mask: mhalib.attention(Q, K, V, **mask),
        lambda **mask: mhalib.torch.attention(*tensors((Q, K, V)), **mask),
    )


def multi_head(*batch, n=5):
    X = RNG.normal(size=(*batch, n, 6))
    return (
        lambda **mask: mhalib.multi_head_attention(X, *W, 3, **mask),
        lambda **mask: mhalib.torch.multi_head_attention(*tensors((X, *W)), 3, **mask),
    )


def forward(*batch, n=5):
    ids = RNG.integers(0, 11, size=(*batch, n))
    return (
        lambda **mask: MODEL.forward(ids, **mask).logits,
        lambda **mask: TWIN.trace(torch.from_numpy(ids), **mask).logits.detach(),
    )


def both(functions, **arrays):
    """Return what NumPy and torch answer, as arrays or as (kind of error, message)."""
    answers = []
    for function, kind in zip(functions, (lambda A: A, torch.from_numpy)):
        try:
            result = function(**{name: kind(A) for name, A in arrays.items()})
            answers.append(np.asarray(result))
        except (TypeError, ValueError) as error:
            answers.append((type(error), str(error)))
    return answers


def keep(*shape):
    mask = np.random.default_rng(2).random(shape) < 0.6
    mask[..., 0] = True
    return mask


# the function, the shape of its mask, the shape with all axes
CLEAR = {
    "attention, a row": (attention(2), (5,), (1, 1, 5)),
    "attention, queries and keys": (attention(2), (5, 5), (1, 5, 5)),
    "attention, as many sentences as queries": (attention(5), (5, 5), (1, 5, 5)),
    "multi-head, as many sentences as queries": (multi_head(5), (5, 5), (1, 1, 5, 5)),
    "forward, as many sentences as queries": (forward(5), (5, 5), (1, 1, 5, 5)),
    "attention, all axes": (attention(2), (2, 1, 5), (2, 1, 5)),
    "attention, heads": (attention(2, 3), (5, 5), (1, 1, 5, 5)),
    "attention, batch, heads, and all axes": (attention(2, 3), (2, 1, 1, 5), (2, 1, 1, 5)),
    "multi-head, queries and keys": (multi_head(2), (5, 5), (1, 1, 5, 5)),
    "multi-head, one sentence, h = n": (multi_head(n=3), (3, 3), (1, 3, 3)),
    "multi-head, one sentence, by head": (multi_head(), (3, 5, 5), (3, 5, 5)),
    "forward, queries and keys": (forward(2), (5, 5), (1, 1, 5, 5)),
    "forward, padding": (forward(2), (2, 1, 1, 5), (2, 1, 1, 5)),
}
# the function, the shape of a mask that is refused, a call that the message must show
REFUSED = {
    "attention, batch without queries": (attention(2), (2, 5), "{}[:, None]"),
    "attention, batch or heads": (attention(3, 3), (3, 1, 5), "{}[:, None]"),
    "attention, heads only": (attention(2, 3), (3, 5, 5), "{}[None]"),
    "attention, batch only": (attention(2, 3), (2, 1, 5), "{}[:, None]"),
    "multi-head, batch = h": (multi_head(3), (3, 1, 5), "{}[:, None]"),
    "multi-head, padding without queries": (multi_head(2), (2, 5), "{}[:, None, None]"),
    "multi-head, batch": (multi_head(2), (2, 1, 5), "{}[:, None]"),
    "forward, batch = h": (forward(3), (3, 1, 5), "{}[:, None]"),
    "forward, batch": (forward(2), (2, 1, 5), "{}[:, None]"),
}


@pytest.mark.parametrize("case", CLEAR)
def test_one_reading(case):
    functions, shape, full = CLEAR[case]
    mask = keep(*shape)
    short, torch_short = both(functions, mask=mask)
    whole, _ = both(functions, mask=mask.reshape(full))
    np.testing.assert_array_equal(short, whole)
    assert_array(torch_short, short, rtol=0, atol=1e-12)
    unmasked, _ = both(functions, mask=np.ones_like(mask))
    assert not np.array_equal(short, unmasked)


@pytest.mark.parametrize("name", ["mask", "bias"])
@pytest.mark.parametrize("case", REFUSED)
def test_two_readings_are_refused_with_the_call(case, name):
    functions, shape, call = REFUSED[case]
    if name == "bias" and case.startswith("forward"):
        pytest.skip("forward takes no bias")
    array = keep(*shape) if name == "mask" else RNG.normal(size=shape)
    ours, theirs = both(functions, **{name: array})
    assert ours == theirs
    error, message = ours
    assert error is ValueError
    assert message.startswith(f"{name} must ")
    assert str(shape) in message
    assert f"`{call.format(name)}`" in message


@pytest.mark.parametrize("shape", [(2,), (7,), (1, 2, 7)])
def test_a_loss_mask_has_the_axes_of_its_targets(shape):
    logits, targets = RNG.normal(size=(2, 7, 11)), RNG.integers(0, 11, size=(2, 7))
    functions = (
        lambda **mask: mhalib.cross_entropy(logits, targets, **mask),
        lambda **mask: mhalib.torch.cross_entropy(*tensors((logits, targets)), **mask),
    )
    ours, theirs = both(functions, mask=keep(*shape))
    assert ours == theirs
    assert ours[0] is ValueError
    assert ours[1].startswith("mask must have an axis for each axis of targets")


def test_a_padding_mask_as_it_comes_is_refused_by_the_model():
    """As many sentences as heads: it was read as a mask for each head."""
    mask = mhalib.padding_mask([2, 3, 5])
    with pytest.raises(ValueError, match=r"mask\[:, None\]"):
        MODEL.forward(np.ones((3, 5), int), mask=mask)
    MODEL.forward(np.ones((3, 5), int), mask=mask[:, None])


WRONG = {
    "boolean bias": ({"bias": np.ones((5, 5), bool)}, "bias must hold real numbers, got dtype"),
    "causal in words": ({"causal": "no"}, "causal must be True or False, got 'no'"),
    "causal as a number": ({"causal": 1}, "causal must be True or False, got 1"),
    "weights in words": ({"return_weights": "no"}, "return_weights must be True or False"),
    "scale in words": ({"scale": "2.0"}, "scale must be a number, got '2.0'"),
    "scale as a truth": ({"scale": True}, "scale must be a number, got True"),
    "mask of numbers": ({"mask": np.ones((5, 5))}, "mask must be boolean"),
    "mask of words": ({"mask": [["no"] * 5] * 5}, "mask must be boolean"),
    "masked mask": ({"mask": np.ma.array(np.ones((5, 5), bool))}, "mask must be a plain array"),
    "masked bias": ({"bias": np.ma.array(np.ones((5, 5)))}, "bias must be a plain array"),
}


@pytest.mark.parametrize("functions", [attention(2), multi_head(2)], ids=["one head", "multi-head"])
@pytest.mark.parametrize("case", WRONG)
def test_what_means_nothing_is_refused(case, functions):
    options, message = WRONG[case]
    for function, kind in zip(functions, (lambda A: A, torch.from_numpy)):
        given = {
            name: kind(A) if type(A) is np.ndarray else A for name, A in options.items()
        }  # fmt: skip
        with pytest.raises(TypeError) as error:
            function(**given)
        assert str(error.value).startswith(message)


@pytest.mark.parametrize("causal", ["no", 0, None])
def test_the_model_wants_true_or_false(causal):
    for run in (MODEL.forward, lambda ids, **o: TWIN.trace(torch.tensor(ids), **o)):
        with pytest.raises(TypeError, match="causal must be True or False"):
            run([1, 2], causal=causal)


@pytest.mark.parametrize("name", ["Q", "K", "V"])
def test_masked_arrays_are_no_inputs(name):
    given = dict.fromkeys("QKV", np.ones((5, 2)))
    given[name] = np.ma.masked_greater(np.ones((5, 2)), 3)
    for attend in (mhalib.attention, mhalib.torch.attention):
        with pytest.raises(TypeError, match=f"{name} must be a plain array, got a masked array"):
            attend(**given)
