"""torch's own samples for scaled dot-product attention, without dropout."""

import pytest
import torch
from arrays import assert_array
from torch.nn import functional as F
from torch.testing._internal.common_methods_invocations import op_db

import mhalib
import mhalib.torch

(OP,) = (op for op in op_db if op.name == "nn.functional.scaled_dot_product_attention")
SAMPLES = [
    sample
    for sample in OP.sample_inputs("cpu", torch.float64)
    if sample.kwargs.get("dropout_p", 0) == 0
]


def options_of(sample):
    """Return torch's options as the library's; its causal mask is top-left."""
    kwargs = sample.kwargs
    options = {"scale": kwargs.get("scale")}
    attn_mask = kwargs.get("attn_mask")
    if attn_mask is not None:
        options["mask" if attn_mask.dtype == torch.bool else "bias"] = attn_mask.detach()
    if kwargs.get("is_causal"):
        shape = sample.input.shape[-2], sample.args[0].shape[-2]
        options["mask"] = torch.ones(shape, dtype=torch.bool).tril()
    return options


@pytest.mark.parametrize("i", range(len(SAMPLES)))
def test_sample(i):
    sample = SAMPLES[i]
    Q, K, V = (t.detach() for t in (sample.input, *sample.args))
    if sample.kwargs.get("enable_gqa"):
        K, V = (mhalib.torch.repeat_heads(t, Q.shape[-3]) for t in (K, V))
    options = options_of(sample)
    expected = F.scaled_dot_product_attention(sample.input, *sample.args, **sample.kwargs).detach()
    arrays = {k: v.numpy() if isinstance(v, torch.Tensor) else v for k, v in options.items()}
    O = mhalib.attention(*(t.numpy() for t in (Q, K, V)), **arrays)
    assert_array(O, expected, rtol=0, atol=1e-12)
    for wanted in (False, True):
        found = mhalib.torch.attention(Q, K, V, return_weights=wanted, **options)
        found = found[0] if wanted else found
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_there_are_samples():
    assert len(SAMPLES) >= 13
