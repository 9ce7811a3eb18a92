"""Every function of `mhalib.torch` beside its NumPy twin, with the inputs that people hand in.

    python tests/parity/battery.py

prints the table: functions × inputs. The two agree (shape, dtype, value), or both refuse with the
same kind of error that names the argument; all else is a fault. Each input is tried in the place
of each argument that it can stand for.
"""

import inspect
import re
import sys
import warnings

import numpy as np
import torch

import mhalib
import mhalib.torch

RNG = np.random.default_rng(0)
TOLERANCE = {"float64": 1e-12, "float32": 2e-6, "float16": 8e-3}


def draw(*shape):
    return RNG.normal(size=shape)


def keep(*shape):
    mask = RNG.random(shape) < 0.6
    mask[..., 0] = True
    return mask


W = {name: draw(*shape) / 3 for name, shape in (
    ("W_Q", (7, 6)), ("W_K", (7, 6)), ("W_V", (7, 15)), ("W_O", (15, 7)))}  # fmt: skip
QKV = {"Q": draw(2, 3, 5, 7), "K": draw(2, 3, 11, 7), "V": draw(2, 3, 11, 2)}
X = draw(2, 5, 7)

# name: (function, arguments, options that have no argument of the first kind)
FUNCTIONS = {
    "softmax": ("softmax", {"x": draw(3, 5)}),
    "softmax, axis": ("softmax", {"x": draw(3, 5), "axis": 0}),
    "log_softmax": ("log_softmax", {"x": draw(3, 5)}),
    "causal_mask": ("causal_mask", {"n_q": 5, "n_k": 11}),
    "window_mask": ("window_mask", {"n_q": 5, "n_k": 11, "left": 3, "right": 1}),
    "padding_mask": ("padding_mask", {"lengths": np.array([3, 0, 5])}),
    "padding_mask, n_k": ("padding_mask", {"lengths": np.array([3, 5]), "n_k": 7}),
    "scores": ("scores", {"Q": QKV["Q"], "K": QKV["K"], "scale": 0.3}),
    "attention_weights": (
        "attention_weights",
        {"S": draw(2, 5, 11), "mask": keep(2, 5, 11), "bias": draw(5, 11)},
    ),
    "attention": ("attention", QKV),
    "attention, causal": ("attention", QKV | {"causal": True}),
    "attention, mask": ("attention", QKV | {"mask": keep(2, 1, 5, 11)}),
    "attention, bias": ("attention", QKV | {"bias": draw(1, 3, 5, 11)}),
    "attention, all": (
        "attention",
        QKV | {"mask": keep(2, 1, 5, 11), "causal": True, "bias": draw(5, 11), "scale": 0.7,
               "softcap": 2.0, "return_weights": True},
    ),
    "split_heads": ("split_heads", {"X": draw(2, 5, 21), "n_heads": 3}),
    "merge_heads": ("merge_heads", {"heads": draw(2, 3, 5, 7)}),
    "repeat_heads": ("repeat_heads", {"K": draw(2, 3, 5, 7), "n_heads": 6}),
    "multi_head_attention": ("multi_head_attention", {"X": X, **W, "n_heads": 3}),
    "multi_head_attention, all": (
        "multi_head_attention",
        {"X": X, **W, "n_heads": 3, "X_kv": draw(2, 11, 7), "mask": keep(2, 1, 5, 11),
         "causal": True, "bias": draw(5, 11), "scale": 0.7, "return_weights": True},
    ),
    "multi_head_trace": (
        "multi_head_trace",
        {"X": X, **W, "n_heads": 3, "past": (draw(2, 3, 4, 2), draw(2, 3, 4, 5)), "causal": True},
    ),
    "embed": ("embed", {"ids": np.array([[3, 1, 4], [1, 5, 9]]), "E": draw(13, 5), "scale": 2.0}),
    "sinusoidal_positions": (
        "sinusoidal_positions", {"n": 5, "d_model": 7, "start": 3, "base": 100.0},
    ),
    "layer_norm": (
        "layer_norm", {"X": draw(2, 5, 7), "gamma": draw(7), "beta": draw(7), "eps": 0.1},
    ),
    "relu": ("relu", {"x": draw(5, 7)}),
    "gelu": ("gelu", {"x": draw(5, 7)}),
    "gelu_tanh": ("gelu_tanh", {"x": draw(5, 7)}),
    "feed_forward": (
        "feed_forward",
        {"X": draw(2, 5, 7), "W_1": draw(7, 11), "b_1": draw(11), "W_2": draw(11, 7),
         "b_2": draw(7)},
    ),
    "tied_logits": ("tied_logits", {"X": draw(2, 5, 7), "E": draw(13, 7)}),
    "next_token_pairs": ("next_token_pairs", {"ids": np.array([[3, 1, 4], [1, 5, 9]])}),
    "cross_entropy": (
        "cross_entropy",
        {"logits": draw(2, 7, 13), "targets": RNG.integers(0, 13, (2, 7)), "mask": keep(2, 7)},
    ),
    "cross_entropy, all count": (
        "cross_entropy", {"logits": draw(7, 7, 13), "targets": RNG.integers(0, 13, (7, 7))},
    ),
}  # fmt: skip


def holed(value):
    """Put `value` into the first column of the last row."""

    def put(A):
        A = A.copy()
        A[..., -1, 0] = value
        return A

    return put


# what stands in for an array, by name; None where the input makes no sense for it
def kind(*kinds):
    return lambda A: A.dtype.kind in kinds


ARRAYS = {
    "float32": (kind("f"), lambda A: A.astype(np.float32)),
    "float16": (kind("f"), lambda A: A.astype(np.float16)),
    "int": (kind("f"), lambda A: np.rint(3 * A).astype(np.int64)),
    "int32": (kind("i"), lambda A: A.astype(np.int32)),
    "uint8": (kind("i"), lambda A: A.astype(np.uint8)),
    "bool": (kind("f", "i"), lambda A: A > 0),
    "0 and 1": (kind("b"), lambda A: A.astype(float)),
    "0 and 1, int": (kind("b"), lambda A: A.astype(np.int64)),
    "complex": (kind("f", "i", "b"), lambda A: A.astype(complex)),
    "strings": (kind("f", "i", "b"), lambda A: A.astype(str).tolist()),
    "list": (kind("f", "i", "b"), lambda A: A.tolist()),
    "ragged list": (kind("f", "i", "b"), lambda A: [A.tolist(), 1]),
    "masked array": (kind("f", "i", "b"), np.ma.array),
    "None": (kind("f", "i", "b"), lambda A: None),
    "a number": (kind("f", "i", "b"), lambda A: A.ravel()[0].item()),
    "a row": (lambda A: A.ndim > 1, lambda A: A.reshape(-1, A.shape[-1])[0]),
    "an axis less": (lambda A: A.ndim > 0, lambda A: A[0]),
    "an axis more": (kind("f", "i", "b"), lambda A: A[None]),
    "transposed": (lambda A: A.ndim > 1, lambda A: A.swapaxes(-1, -2).copy()),
    "a column less": (lambda A: A.ndim > 0, lambda A: A[..., :-1]),
    "a row less": (lambda A: A.ndim > 1, lambda A: A[..., :-1, :]),
    "no columns": (lambda A: A.ndim > 0, lambda A: A[..., :0]),
    "no rows": (lambda A: A.ndim > 1, lambda A: A[..., :0, :]),
    "no batch": (lambda A: A.ndim > 2, lambda A: A[:0]),
    "NaN": (lambda A: A.dtype.kind == "f" and A.ndim > 1, holed(np.nan)),
    "∞": (lambda A: A.dtype.kind == "f" and A.ndim > 1, holed(np.inf)),
    "−∞": (lambda A: A.dtype.kind == "f" and A.ndim > 1, holed(-np.inf)),
    "all −∞": (kind("f"), lambda A: np.full_like(A, -np.inf)),
    "large": (kind("f"), lambda A: A * 1e30),
    "−1e9": (kind("f"), lambda A: np.full_like(A, -1e9)),
    "−100": (kind("i"), lambda A: np.where(A == A.flat[0], -100, A)),
    "too large": (kind("i"), lambda A: A + 1000),
    "all False": (kind("b"), lambda A: np.zeros_like(A)),
}
# what stands in for a number, a switch or an option
NUMBERS = {
    "words": "no", "a number in words": "2", "True": True, "0": 0, "−1": -1, "1.5": 1.5,
    "NaN as a number": np.nan, "∞ as a number": np.inf, "none": None, "1000": 1000, "[1.0]": [1.0],
    "np.int64(1)": np.int64(1), "np.float32(2)": np.float32(2), "an array (1,)": np.array([1.0]),
    "np.True_": np.True_,
}  # fmt: skip
WHOLE = {"as it is": None, "all float32": np.float32, "all float16": np.float16}


def inputs(arguments):
    """Yield (name of the input, the argument it replaces, all arguments)."""
    for name, dtype in WHOLE.items():
        yield name, "", {
            key: value.astype(dtype)
            if dtype and isinstance(value, np.ndarray) and value.dtype.kind == "f"
            else value
            for key, value in arguments.items()
        }  # fmt: skip
    for key, value in arguments.items():
        if isinstance(value, np.ndarray):
            for name, (fits, change) in ARRAYS.items():
                if fits(value):
                    yield name, key, arguments | {key: change(value)}
        elif isinstance(value, tuple):
            for name, (fits, change) in ARRAYS.items():
                if fits(value[0]):
                    yield name, key, arguments | {key: (change(value[0]), value[1])}
        else:
            for name, other in NUMBERS.items():
                yield name, key, arguments | {key: other}
    if {"K", "V"} <= set(arguments):  # the last key is masked, and its slots hold rubbish
        mask = np.arange(11) < 10
        for name, value in (("masked NaN", np.nan), ("masked ∞", np.inf), ("masked −∞", -np.inf)):
            for key in ("K", "V"):
                slot = holed(value)(arguments[key])
                yield name, key, arguments | {key: slot, "mask": mask, "bias": None}
    if "X_kv" in arguments:
        mask = np.broadcast_to(np.arange(11) < 10, (2, 1, 1, 11))
        yield "masked NaN", "X_kv", arguments | {
            "X_kv": holed(np.nan)(arguments["X_kv"]), "mask": mask,
        }  # fmt: skip


def as_tensor(value):
    if isinstance(value, tuple):
        return tuple(map(as_tensor, value))
    if type(value) is np.ndarray and value.shape != (1,):  # of one entry: it stands for a number
        return torch.from_numpy(np.array(value))
    return value


def answer(package, name, arguments):
    """Return the results as a list of arrays, or the error."""
    function = getattr(package, name)
    if package is mhalib.torch:
        arguments = {key: as_tensor(value) for key, value in arguments.items()}
        if "dim" in inspect.signature(function).parameters and "axis" in arguments:
            arguments["dim"] = arguments.pop("axis")
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            result = function(**arguments)
    except Exception as error:
        return error
    if hasattr(result, "concat"):
        result = tuple(vars(result).values())
    results = result if isinstance(result, tuple) else (result,)
    return [r.detach().numpy() if isinstance(r, torch.Tensor) else r for r in results]


def said(error):
    """Return an error's message in the words of both packages."""
    message = str(error).replace("torch.", "").replace("dim must", "axis must")
    message = re.sub(r"dtype <U\d+", "dtype str", message)
    return message.replace("dtype object", "dtype str")


def verdict(name, arguments, replaced):
    """Return "agree" or "refuse", or what is wrong."""
    ours, theirs = (answer(package, name, arguments) for package in (mhalib, mhalib.torch))
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        if not (isinstance(ours, Exception) and isinstance(theirs, Exception)):
            text = [f"{type(a).__name__}: {a}" if isinstance(a, Exception) else "a result"
                    for a in (ours, theirs)]  # fmt: skip
            return f"NumPy: {text[0]}; torch: {text[1]}"
        if type(ours) is not type(theirs) or type(ours) not in (TypeError, ValueError):
            return f"NumPy: {ours!r}; torch: {theirs!r}"
        if said(ours) != said(theirs):
            return f"NumPy says {said(ours)!r}; torch {said(theirs)!r}"
        if not re.search(rf"\b{re.escape(replaced)}\b", said(ours)) and not any(
            said(ours).startswith(other) for other in [*arguments, "concat", "past", "the batch"]
        ):
            return f"names no argument: {ours}"
        return "refuse"
    for a, b in zip(ours, theirs, strict=True):
        if np.shape(a) != np.shape(b):
            return f"shape {np.shape(a)} and {np.shape(b)}"
        if isinstance(a, np.ndarray) and a.dtype != b.dtype:
            return f"dtype {a.dtype} and {b.dtype}"
        narrow = {np.asarray(value).dtype.name for value in arguments.values()
                  if isinstance(value, np.ndarray)}  # fmt: skip
        tolerance = max(
            TOLERANCE.get(dtype, 1e-12) for dtype in narrow | {np.asarray(a).dtype.name}
        )
        if not np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"values differ by {np.nanmax(np.abs(np.asarray(a, float) - b)):.2g}"
    return "agree"


def cases():
    for title, (name, arguments) in FUNCTIONS.items():
        for kind_of_input, replaced, given in inputs(arguments):
            yield title, name, kind_of_input, replaced, given


def table():
    """Return the table in Markdown: a, the two agree; r, both refuse; the number of places."""
    found = {}
    for title, name, kind_of_input, replaced, given in cases():
        result = verdict(name, given, replaced)
        cell = found.setdefault(kind_of_input, {}).setdefault(title, {"a": 0, "r": 0, "FAULT": 0})
        cell[{"agree": "a", "refuse": "r"}.get(result, "FAULT")] += 1
    rows = ["| input | " + " | ".join(FUNCTIONS) + " |", "|---" * (len(FUNCTIONS) + 1) + "|"]
    for kind_of_input, cells in found.items():
        text = []
        for title in FUNCTIONS:
            cell = cells.get(title, {})
            text.append(" ".join(f"{n}{mark}" for mark, n in cell.items() if n) or "·")
        rows.append(f"| {kind_of_input} | " + " | ".join(text) + " |")
    totals = {mark: sum(c[mark] for row in found.values() for c in row.values())
              for mark in ("a", "r", "FAULT")}  # fmt: skip
    rows.append(
        f"\n{sum(totals.values())} calls: {totals['a']} agree (a), {totals['r']} are refused by "
        f"both in the same words (r), {totals['FAULT']} faults"
    )
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
    sys.exit("FAULT" in table())
