"""Where the files of Run come from, and what the build does when they do not come."""

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from run import begin, fetch, wheel
from sphinx.errors import ExtensionError

GOOD = {name: f"wheel of {name}".encode() for names in fetch.PACKAGES.values() for name in names}
LOCK = {
    "info": {"version": "0"},
    "packages": {
        name: {"file_name": f"{name}.whl", "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in GOOD.items()
    },
}


def source(files, asked):
    def answer(version, names):
        asked.append(names)
        for name in names:
            if name in files:
                yield name, files[name]

    return answer


def dead(version, names):
    raise OSError("no route to host")
    yield


def test_a_wheel_is_taken_from_whoever_has_the_right_bytes(tmp_path):
    right = {f"{name}.whl": data for name, data in GOOD.items()}
    wrong = {name: data + b"!" for name, data in right.items()}
    half = dict(list(right.items())[:3])
    asked = []
    sources = (dead, source(wrong, []), source(half, asked), source(right, asked))
    fetch.wheels(LOCK, tmp_path, sources)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == right
    assert len(asked[0]) == len(GOOD) and len(asked[1]) == len(GOOD) - 3  # only what is missing
    fetch.wheels(LOCK, tmp_path, (dead,))  # now the folder has all; nobody is asked
    (tmp_path / "numpy.whl").write_bytes(b"changed")
    with pytest.raises(fetch.Unavailable, match="no source has numpy.whl"):
        fetch.wheels(LOCK, tmp_path, (dead, source(wrong, [])))


def test_a_wrong_file_is_never_left_behind(tmp_path):
    with pytest.raises(fetch.Unavailable):
        fetch.wheels(LOCK, tmp_path, (source({"numpy.whl": b"other"}, []),))
    assert not list(tmp_path.iterdir())


def app(builder="html"):
    added = []
    return SimpleNamespace(
        builder=SimpleNamespace(format=builder),
        add_css_file=lambda *args, **options: added.append(args),
        add_js_file=lambda *args, **options: added.append(args),
        added=added,
    )


def unavailable():
    raise fetch.Unavailable("no source has numpy.whl")


def test_without_a_source_the_book_builds_without_run_and_says_so(monkeypatch, caplog):
    monkeypatch.setattr(fetch, "everything", unavailable)
    monkeypatch.delenv("COURSE_RUN", raising=False)
    said = []
    monkeypatch.setattr("run.log", SimpleNamespace(info=lambda text, *a: said.append(text % a)))
    book = app()
    begin(book)
    assert book.course_run is None and not book.added
    assert said == ["The book is built without Run: no source has numpy.whl"]


def test_the_strict_switch_makes_that_an_error(monkeypatch):
    monkeypatch.setattr(fetch, "everything", unavailable)
    monkeypatch.setenv("COURSE_RUN", "required")
    with pytest.raises(ExtensionError, match="no source has numpy.whl"):
        begin(app())
    monkeypatch.setenv("COURSE_RUN", "yes")
    with pytest.raises(ExtensionError, match="COURSE_RUN must be one of"):
        begin(app())


def test_npm_that_does_not_answer_is_unavailable(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    with pytest.raises(fetch.Unavailable):
        fetch.everything()


def test_those_who_build_for_others_require_run():
    root = wheel.ROOT
    assert "COURSE_RUN=required" in (root / ".ci" / "run").read_text()
    workflow = (root / ".github" / "workflows" / "course.yml").read_text()
    assert "COURSE_RUN: required" in workflow.partition("publish:")[2]


def test_the_wheel_is_the_same_each_time_and_grades_without_torch(tmp_path):
    data = wheel.packed(wheel.contents())
    assert data == wheel.packed(wheel.contents())
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert not [name for name in names if "torch/" in name or "static/" in name]
    assert "mhalib/weights/main.safetensors" in names
    assert not set(names) & set(wheel.models()) and len(wheel.models()) == 4
    zipfile.ZipFile(io.BytesIO(data)).extractall(tmp_path)
    # what is not there in a browser must not be needed
    code = (
        "import sys\n"
        "for name in ('torch', 'safetensors', 'matplotlib'): sys.modules[name] = None\n"
        "import mhalib\nfrom mhalib.checks import check\n"
        f"assert mhalib.__file__.startswith({str(tmp_path)!r})\n"
        "mhalib.load_model('main').forward([1, 2])\n"
        "print(check('split_heads', mhalib.split_heads).title)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert run.stdout == "Correct\n", run.stderr


@pytest.mark.parametrize("file", ["exchange.test.js", "python.test.js"])
def test_in_node(file):
    test = fetch.node("--test", file, cwd=Path(__file__).parent)
    assert "fail 0" in test
