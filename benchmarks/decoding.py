"""How fast one token is decoded with a cache: mhalib.torch beside torch's own attention.

    python -m benchmarks.decoding [--rounds N]

One query, 512 cached keys, float32, one thread. torch's kernel is asked for the same promises: the
last query sees every key, masked keys stay out (a NaN there, too), a row without keys is 0; that
they agree is checked first. In each round both run, one after the other; the table shows the
median and, in brackets, the quartiles, the ratio within a round.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch loads

import argparse

import torch
from torch.nn import functional as F

from benchmarks.attention import Run, measure, processor, spread
from mhalib._stream import say_all
from mhalib.torch import attention

N_KEYS = 512
SIZES = [
    (4, 16),
    (8, 64),
    (32, 128),
]  # heads, d_k: the course's model, the paper's base, a large one


def promised(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """torch's kernel, with masked keys and values taken out by selection: 0 · NaN would be NaN."""
    seen = mask.mT
    return F.scaled_dot_product_attention(
        Q, torch.where(seen, K, 0), torch.where(seen, V, 0), attn_mask=mask
    )


def contestants(h: int, d: int) -> dict[str, tuple[Run, Run]]:
    """Return, by the case, ours and torch's."""
    Q, K, V = (torch.randn(1, h, n, d) for n in (1, N_KEYS, N_KEYS))
    mask = (torch.arange(N_KEYS) >= 12)[None, None, None]  # padded on the left
    cases = {
        "causal": (
            lambda: attention(Q, K, V, causal=True),
            lambda: F.scaled_dot_product_attention(Q, K, V),
        ),
        "causal, padded": (
            lambda: attention(Q, K, V, causal=True, mask=mask),
            lambda: promised(Q, K, V, mask),
        ),
        "causal, padded; torch without the promise about NaN": (
            lambda: attention(Q, K, V, causal=True, mask=mask),
            lambda: F.scaled_dot_product_attention(Q, K, V, attn_mask=mask),
        ),
    }
    for name, (ours, theirs) in cases.items():
        torch.testing.assert_close(ours(), theirs(), msg=name)
    return cases


def main() -> None:
    say_all()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=51)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"{processor()}, one thread; torch {torch.__version__}; {N_KEYS} keys\n")
    print("| h, d_k | case | ours, ms | torch, ms | ours / torch |\n|---|---|---:|---:|---:|")
    with torch.no_grad():
        for h, d in SIZES:
            for name, (ours, theirs) in contestants(h, d).items():
                times = measure({"ours": ours, "torch": theirs}, options.rounds)
                ratios = [a / b for a, b in zip(*times.values())]
                shown = (spread([1e3 * t for t in each], 3) for each in times.values())
                print(f"| {h}, {d} | {name} | {' | '.join(shown)} | {spread(ratios, 2)} |")


if __name__ == "__main__":
    main()
