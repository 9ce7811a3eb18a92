"""What `import mhalib` gives, and what it must not bring along."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import get_overloads

import pytest

import mhalib

PUBLIC = {
    "Ablation", "Config", "Tokenizer", "Trace", "Transformer", "attention", "attention_weights",
    "causal_mask", "cross_entropy", "embed", "feed_forward", "gelu", "gelu_tanh", "generate",
    "greedy", "init_parameters", "layer_norm", "load_model", "load_tokenizer", "log_softmax",
    "merge_heads", "multi_head_attention", "multi_head_trace", "next_token_pairs",
    "padding_mask", "parameter_shapes", "post_norm_block", "pre_norm_block", "relu",
    "repeat_heads", "sample",
    "scores", "show_source", "sinusoidal_positions", "softmax", "split_heads", "tied_logits",
    "top_k_filter", "top_p_filter", "train_bpe",
    "window_mask",
}  # fmt: skip


def run(code):
    """Run `code` in a fresh Python; the library is the one that is tested here."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout


def test_public_names():
    assert set(mhalib.__all__) == PUBLIC


def test_every_public_name_is_there_and_documented():
    for name in mhalib.__all__:
        doc = getattr(mhalib, name).__doc__
        assert doc, name
        assert doc.strip().splitlines()[0].endswith((".", ":", "``")), name


def test_import_needs_numpy_alone():
    code = """
import sys
before = set(sys.modules)
import mhalib
names = {name.split(".")[0] for name in set(sys.modules) - before}
print(*sorted(name for name in names if not name.startswith("_")))
"""
    loaded = set(run(code).split())
    assert {"mhalib", "numpy"} <= loaded
    others = loaded - set(sys.stdlib_module_names) - {"mhalib", "numpy"}
    assert others == set()


def test_a_model_is_read_with_numpy_alone():
    run("""
import sys
for name in ("safetensors", "torch"):
    sys.modules[name] = None  # importing it fails
import mhalib
ids = mhalib.load_tokenizer().encode("I love to study bats")
assert mhalib.load_model().forward(ids).logits.shape == (5, 567)
""")


def test_reading_order_is_the_dependency_order():
    """No module of the NumPy core imports a later one; within `model`, no room a later one."""
    modules = [
        "tokenizer", "embedding", "softmax", "masks", "attention", "heads", "multihead",
        "activations", "layers", "vocab", "sampling",
    ]  # fmt: skip
    rooms = [
        "config",
        "ablation",
        "trace",
        "files",
        "parameters",
        "padding",
        "transformer",
        "shipped",
    ]
    order = [*modules, *(f"model.{room}" for room in rooms)]
    folder = Path(mhalib.__file__).parent
    assert {path.stem for path in (folder / "model").glob("[a-z]*.py")} == set(rooms)
    for i, name in enumerate(order):
        source = (folder / f"{name.replace('.', '/')}.py").read_text("utf-8")
        for later in order[i:]:
            assert f"mhalib.{later} import" not in source, f"{name} imports {later}"


def imported(source):
    """Yield the library's modules that `source` imports when it is loaded."""
    skipped = (ast.FunctionDef, ast.Lambda)
    waiting = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif not isinstance(node, skipped):
            waiting += ast.iter_child_nodes(node)


def test_imports_go_in_no_circle():
    """Neither between modules nor, through a package's `__init__`, back to one of its own."""
    folder = Path(mhalib.__file__).parent
    paths = {}
    for path in folder.rglob("*.py"):
        name = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        paths[name.removesuffix(".__init__")] = path
    graph = {
        module: {
            found
            for name in imported(path.read_text("utf-8"))
            for found in [name if name in paths else name.rpartition(".")[0]]
            if found in paths
        }
        for module, path in paths.items()
    }
    assert graph["mhalib.multihead"] >= {"mhalib.attention", "mhalib._validate"}
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="module 'mhalib' has no attribute 'atention'"):
        mhalib.atention  # noqa: B018


@pytest.mark.parametrize("library", ["mhalib", "mhalib.torch"])
@pytest.mark.parametrize("name", ["attention", "multi_head_attention"])
def test_weights_asked_for_are_in_the_type(library, name):
    """A type checker knows whether one array comes back or two."""
    function = getattr(pytest.importorskip(library), name)
    array = "Tensor" if library == "mhalib.torch" else "Array"
    said = {o.__annotations__["return_weights"]: o.__annotations__["return"]
            for o in get_overloads(function)}  # fmt: skip
    assert said == {"Literal[False]": array, "Literal[True]": f"tuple[{array}, {array}]"}
