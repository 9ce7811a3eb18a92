"""The extension `run` and its kernel, as the build and the worker have them."""

import sys
from pathlib import Path

import pytest

EXT = Path(__file__).parents[2] / "_ext"
sys.path.insert(0, str(EXT))


@pytest.fixture
def ran(kernel_module, monkeypatch):
    """Return a function that runs cells; it gives the last state and all items."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])

    def run(*codes, quiet=False, loaded=("matplotlib", "widgets")):
        items = []
        kernel = kernel_module.Kernel(items.append)
        kernel.loaded.update(loaded)
        for i, code in enumerate(codes, 1):
            result = kernel.run(code, f"cell {i}", quiet)
        return result["state"], items

    return run
