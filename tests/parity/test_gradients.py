"""torch's gradients against finite differences of the NumPy side.

Central differences with step h are off by about h² and 1e-16 / h: at h = 1e-5, by 1e-10 or so.
"""

import numpy as np
import pytest
import torch
from arrays import assert_array

import mhalib
from mhalib import Config, Transformer, init_parameters, next_token_pairs
from mhalib.torch import Transformer as TorchTransformer
from mhalib.torch import attention as torch_attention
from mhalib.torch import cross_entropy as torch_cross_entropy

STEP, TOLERANCE = 1e-5, 1e-8


def slope(f, array):
    """Return the gradient of ``f()`` by each entry of `array`, which is moved and put back."""
    gradient = np.empty_like(array)
    for index in np.ndindex(array.shape):
        value = array[index]
        array[index] = value + STEP
        above = f()
        array[index] = value - STEP
        gradient[index] = (above - f()) / (2 * STEP)
        array[index] = value
    return gradient


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "explicit"])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_parameter_of_the_model(norm, fused):
    """GELU, for ReLU has no slope at its bend. The loss hides one target, as padding does."""
    config = Config(
        7, d_model=6, n_heads=2, n_layers=2, d_k=2, d_v=5, d_ff=3, norm=norm, activation="gelu"
    )
    rng = np.random.default_rng(0)
    p = init_parameters(config, rng)
    p = {name: a + rng.normal(0, 0.1, a.shape) for name, a in p.items()}
    inputs, targets = next_token_pairs(rng.integers(0, 7, size=(2, 6)))
    counts = np.arange(5) < np.array([[5], [4]])

    def loss():
        logits = Transformer(config, p).forward(inputs).logits
        return mhalib.cross_entropy(logits, targets, counts)

    twin = TorchTransformer.from_numpy(Transformer(config, p))
    logits = twin.trace(torch.from_numpy(inputs), fused=fused).logits
    torch_loss = torch_cross_entropy(logits, torch.from_numpy(targets), torch.from_numpy(counts))
    assert_array(torch_loss.item(), loss(), rtol=1e-12)
    torch_loss.backward()
    for name, parameter in twin.named_parameters():
        assert_array(parameter.grad, slope(loss, p[name]), atol=TOLERANCE, name=name)


@pytest.mark.parametrize("explicit", [False, True], ids=["fused", "explicit"])
def test_attention_with_mask_bias_and_an_empty_row(explicit):
    rng = np.random.default_rng(1)
    Q, K, V, bias, pull = (
        rng.normal(size=shape) for shape in ((2, 3, 5), (2, 7, 5), (2, 7, 2), (3, 7), (2, 3, 2))
    )
    mask = rng.random((2, 3, 7)) < 0.6
    mask[0, 1] = False  # a query that may look at nothing

    def loss():
        return float((mhalib.attention(Q, K, V, mask=mask, bias=bias) * pull).sum())

    tensors = [torch.from_numpy(A.copy()).requires_grad_() for A in (Q, K, V, bias)]
    q, k, v, b = tensors
    O = torch_attention(q, k, v, mask=torch.from_numpy(mask), bias=b, return_weights=explicit)
    O = O[0] if explicit else O
    (O * torch.from_numpy(pull)).sum().backward()
    for name, tensor, array in zip("QKVb", tensors, (Q, K, V, bias)):
        assert torch.isfinite(tensor.grad).all(), name
        assert_array(tensor.grad, slope(loss, array), atol=TOLERANCE, name=name)
    assert not tensors[0].grad[0, 1].any()  # what sees nothing learns nothing
