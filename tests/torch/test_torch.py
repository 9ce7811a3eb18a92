"""What is torch's own about the torch part: missing package, errors, devices and dtypes."""

import subprocess
import sys

import pytest
import torch

import mhalib.torch


def test_without_torch_it_says_what_to_install():
    code = "import sys; sys.modules['torch'] = None; import mhalib; mhalib.torch"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.rstrip().endswith(
        "ImportError: mhalib.torch needs PyTorch: pip install torch"
    )


def test_errors_name_the_argument():
    X = torch.ones(3, 5)
    with pytest.raises(TypeError, match=r"mask must be boolean.*torch\.float32"):
        mhalib.torch.attention(X, X, X, mask=torch.ones(3, 3))
    with pytest.raises(ValueError, match=r"K must have 5 entries on axis -1 \(d_k, as in Q\)"):
        mhalib.torch.attention(X, X[:, :4], X)
    with pytest.raises(ValueError, match=r"V must have 3 entries on axis -2 \(n_k, as in K\)"):
        mhalib.torch.attention(X, X, X[:2])
    with pytest.raises(ValueError, match="n_heads must divide the 5 columns"):
        mhalib.torch.split_heads(X, 2)
    with pytest.raises(ValueError, match="n_heads must divide d_model = 5"):
        mhalib.torch.MultiHeadAttention(5, 2)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_dtype_follows_the_input(dtype):
    module = mhalib.torch.MultiHeadAttention(15, 3).to(dtype)
    O, weights = module(torch.ones(2, 7, 15, dtype=dtype), return_weights=True, causal=True)
    assert O.dtype == weights.dtype == dtype
    assert O.shape == (2, 7, 15)


def test_state_dict_has_the_courses_names_and_layout():
    config = mhalib.Config(11, d_model=6, n_heads=3, n_layers=2, d_k=5, d_v=7, norm="pre")
    model = mhalib.torch.Transformer(config)
    shapes = {name: tuple(t.shape) for name, t in model.state_dict().items()}
    assert shapes == mhalib.parameter_shapes(config)


def test_dropout_acts_in_training_only():
    config = mhalib.Config(11, d_model=6, n_heads=3, n_layers=2, d_ff=7)
    model = mhalib.torch.Transformer(config, dropout=0.3)
    ids = torch.tensor([3, 1, 4, 1, 5])
    model.eval()
    assert torch.equal(model(ids), model(ids))
    model.train()
    assert not torch.equal(model(ids), model(ids))
