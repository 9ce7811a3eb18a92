"""How fast: multi-head attention by loops, in NumPy, in mhalib.torch, and torch's own module.

    python benchmarks/attention.py [--rounds N] [--json FILE]

All contestants compute the same self-attention with the same float32 weights, causal, one thread;
that they agree is checked first. In each round each of them runs once after the other, so that
whatever else the machine does meets all of them; a ratio is taken within a round. Times are those
of the processor, so that waiting for it does not count. The table shows the median over the rounds
and, in brackets, the quartiles.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy loads

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import mhalib
import mhalib.torch
from mhalib._stream import say_all
from mhalib.torch.convert import to_multihead_attention, to_torch

# n, d_model, h: a sentence in the course's model, a page in a small one, a page in the paper's base
SIZES = [(16, 64, 4), (128, 256, 8), (512, 512, 8)]
LOOPS_UP_TO = 128  # tokens; beyond, the loops take minutes
REFERENCE = "mhalib (NumPy)"
Run = Callable[[], Any]


def by_loops(X: np.ndarray, p: dict[str, np.ndarray], h: int) -> np.ndarray:
    """One head, one query, one key at a time, as a lesson writes it first."""
    n, d_k = len(X), X.shape[1] // h
    concat = np.zeros_like(X)
    for i in range(h):
        block = slice(i * d_k, (i + 1) * d_k)
        Q, K, V = (X @ p[name][:, block] for name in ("W_Q", "W_K", "W_V"))
        for t in range(n):
            scores = np.array([Q[t] @ K[j] for j in range(t + 1)]) / d_k**0.5
            weights = np.exp(scores - scores.max())
            weights /= weights.sum()
            for j in range(t + 1):
                concat[t, block] += weights[j] * V[j]
    return concat @ p["W_O"]


def contestants(n: int, d_model: int, h: int) -> tuple[dict[str, Run], dict[str, Run]]:
    """Return what is timed: forward passes, and forward with backward passes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d_model)).astype(np.float32)
    p = {
        name: (rng.normal(size=(d_model, d_model)) / d_model**0.5).astype(np.float32)
        for name in ("W_Q", "W_K", "W_V", "W_O")
    }
    x, hidden = torch.from_numpy(X), torch.from_numpy(~mhalib.causal_mask(n))
    ours = mhalib.torch.MultiHeadAttention(d_model, h)
    ours.load_state_dict(to_torch(p))
    theirs = to_multihead_attention(p, h)

    def torch_own() -> torch.Tensor:
        return theirs(x, x, x, attn_mask=hidden, is_causal=True, need_weights=False)[0]

    def no_gradient(run: Run) -> Run:
        return torch.no_grad()(run)

    forward: dict[str, Run] = {
        "loops (NumPy)": lambda: by_loops(X, p, h),
        REFERENCE: lambda: mhalib.multi_head_attention(X, *p.values(), n_heads=h, causal=True),
        "mhalib.torch": no_gradient(lambda: ours(x, causal=True)),
        "mhalib.torch, with weights": no_gradient(
            lambda: ours(x, causal=True, return_weights=True)[0]
        ),
        "torch.nn.MultiheadAttention": no_gradient(torch_own),
    }
    if n > LOOPS_UP_TO:
        del forward["loops (NumPy)"]
    expected = forward[REFERENCE]()
    for name, run in forward.items():
        np.testing.assert_allclose(run(), expected, atol=1e-5, err_msg=name)
    backward: dict[str, Run] = {
        "mhalib.torch": lambda: ours(x, causal=True).sum().backward(),
        "torch.nn.MultiheadAttention": lambda: torch_own().sum().backward(),
    }
    return forward, backward


def seconds(run: Run, at_least: float = 0.005) -> float:
    """Return the processor time of one run; short ones are repeated until the clock can tell."""
    count, start = 0, time.process_time()
    while True:
        run()
        count += 1
        passed = time.process_time() - start
        if passed >= at_least:
            return passed / count


def measure(runs: dict[str, Run], rounds: int) -> dict[str, list[float]]:
    for run in runs.values():
        run()  # first calls allocate
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    return times


def spread(values: list[float], digits: int) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.{digits}f} ({low:.{digits}f} … {high:.{digits}f})"


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def main() -> None:
    say_all()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--json", type=Path, help="write all times there")
    options = parser.parse_args()
    torch.set_num_threads(1)
    results: dict[str, Any] = {}
    print(f"{processor()}, {os.cpu_count()} cores, one thread used; Python "
          f"{platform.python_version()}, NumPy {np.__version__}, torch {torch.__version__}; "
          f"{options.rounds} rounds\n")  # fmt: skip
    for n, d_model, h in SIZES:
        forward, backward = contestants(n, d_model, h)
        times = measure(forward, options.rounds)
        results[f"{n} {d_model} {h}"] = times
        print(f"n = {n}, d_model = {d_model}, h = {h}\n")
        print(f"| forward | milliseconds | time / time of {REFERENCE} |\n|---|---:|---:|")
        for name, values in times.items():
            ratios = [a / b for a, b in zip(values, times[REFERENCE])]
            print(f"| {name} | {spread([1e3 * v for v in values], 3)} | {spread(ratios, 2)} |")
        times = measure(backward, options.rounds)
        results[f"{n} {d_model} {h}, backward"] = times
        ours, theirs = times.values()
        ratios = [a / b for a, b in zip(ours, theirs)]
        print(f"\nForward and backward, mhalib.torch / torch's own: {spread(ratios, 2)}\n")
    if options.json:
        options.json.write_text(json.dumps(results) + "\n", "utf-8")


if __name__ == "__main__":
    main()
