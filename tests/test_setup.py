"""From nothing to `make test`: a browser is found or got, .venv finished, a path holds spaces."""

import http.server
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import venv
from pathlib import Path

import pytest

from scripts import browser, environment

ROOT = Path(__file__).parents[1]
posix = pytest.mark.skipif(os.name != "posix", reason="stubs are shell scripts")


def stub(folder, name, script="exit 0"):
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A machine with nothing on its PATH, no download to be had, and no Playwright yet."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "browsers"))
    with socket.socket() as nobody:  # bound, but nobody listens
        nobody.bind(("127.0.0.1", 0))
        monkeypatch.setenv(
            "PLAYWRIGHT_DOWNLOAD_HOST", f"http://127.0.0.1:{nobody.getsockname()[1]}"
        )
        monkeypatch.setattr(browser.importlib.util, "find_spec", lambda name: None)
        yield folder


@posix
def test_a_browser_that_does_not_start_is_none(bare):
    stub(bare, "chromium", "echo 'install the snap' >&2; exit 1")
    stub(bare, "google-chrome")
    browser.ensure()
    assert browser.find() == str(bare / "google-chrome")


@posix
def test_a_wrong_name_is_said(bare, monkeypatch):
    stub(bare, "chromium")
    monkeypatch.setenv("CHROMIUM", str(bare / "chrom"))
    with pytest.raises(SystemExit, match="CHROMIUM names .*chrom, which is no program that starts"):
        browser.ensure()


@posix
def test_no_way_to_a_browser_says_what_to_type(bare):
    with pytest.raises(SystemExit, match=r"apt-get install chromium(.|\n)*playwright install"):
        browser.ensure()


@posix
@pytest.mark.parametrize("there", ["chromium-headless-shell", "chromium"])
def test_debian_as_root_gets_the_package(bare, monkeypatch, there):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    log = bare / "log"
    stub(
        bare,
        "apt-get",
        f'echo "$DEBIAN_FRONTEND $*" >> {log}\n'
        f'case "$*" in update) ;; *" {there} "*) echo "#!/bin/sh" > {bare}/{there};'
        f" /bin/chmod +x {bare}/{there} ;; *) exit 100 ;; esac",
    )
    browser.ensure()
    assert browser.find() == str(bare / there)
    asked = log.read_text().splitlines()
    assert asked[0] == "noninteractive update"
    assert asked[-1] == (
        f"noninteractive install -y --no-install-recommends {there} "
        "fonts-dejavu fonts-noto-color-emoji"
    )


def test_a_host_that_is_silent_is_not_waited_for(bare, monkeypatch):
    assert browser.PATIENCE < 1
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and says nothing
        monkeypatch.setenv(
            "PLAYWRIGHT_DOWNLOAD_HOST", f"http://127.0.0.1:{silent.getsockname()[1]}"
        )
        assert not browser.reachable()


@posix
def test_a_download_that_fails_is_followed_by_words(bare, monkeypatch):
    class Answers(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.send_error(404)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", f"http://127.0.0.1:{server.server_port}")
        browser.ensure()  # nothing to stop for: Playwright, once it is there, may get it
        monkeypatch.setattr(browser.importlib.util, "find_spec", lambda name: name)
        log = bare / "log"
        python = stub(bare, "python", f'echo "$*" >> {log}; exit 1')
        monkeypatch.setattr(sys, "executable", str(python))
        with pytest.raises(SystemExit, match="The tests need a Chromium"):
            browser.ensure()
        assert log.read_text() == "-m playwright install chromium\n"
        server.shutdown()


@posix
def test_a_long_folder_for_temporary_files_is_too_long_for_chromium(monkeypatch):
    for length in (59, 60, 200):
        monkeypatch.setattr(tempfile, "tempdir", "/" + "x" * (length - 1))
        whole = browser.short_folder() + "/org.chromium.Chromium.q8CmsW/SingletonSocket"
        assert len(whole) <= 104


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """An environment to be made in a folder whose name holds a space; pip is not asked."""
    folder = tmp_path / "a course" / ".venv"
    installed = []
    monkeypatch.setattr(
        environment, "PYTHON", folder / environment.PYTHON.relative_to(ROOT / ".venv")
    )
    monkeypatch.setattr(environment, "FOLDER", folder)
    monkeypatch.setattr(environment, "READY", folder / "ready")
    monkeypatch.setattr(environment, "install", lambda: installed.append(folder))
    folder.parent.mkdir()
    return folder, installed


def test_what_is_not_whole_is_made_again(begun, monkeypatch, capsys):
    folder, installed = begun
    made = []
    monkeypatch.setattr(venv, "create", lambda path, **how: made.append((path, how["clear"])))
    venv.EnvBuilder(symlinks=os.name != "nt").create(folder)  # as Ctrl+C leaves it: without pip
    assert environment.runs("") and not environment.ready()
    environment.main()
    assert made == [(str(folder), True)] and installed == [folder]
    assert "is not whole" in capsys.readouterr().out
    environment.READY.touch()
    assert environment.ready()
    environment.main()
    assert len(installed) == 1
    environment.PYTHON.unlink()  # all was ready, but its Python is gone
    environment.main()
    assert len(made) == 2


def test_a_python_that_is_too_old_is_said(begun, monkeypatch):
    monkeypatch.setattr(environment, "NEEDED", (3, 99))
    with pytest.raises(
        SystemExit, match=r"needs Python 3.99 or newer; .* is Python 3.*\n.*PYTHON="
    ):
        environment.main()
    assert begun == (environment.FOLDER, [])
    assert not environment.FOLDER.exists()


def test_a_python_without_ensurepip_is_said(begun, monkeypatch):
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(SystemExit, match="without the module ensurepip.*\n.*python3-venv"):
        environment.main()
    assert not environment.FOLDER.exists()


def test_the_needed_python_stands_in_pyproject():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert 'requires-python = ">={}.{}"'.format(*environment.NEEDED) in text


@posix
def test_every_target_runs_where_the_path_has_a_space(tmp_path):
    """The Makefile's commands, each by a stub that writes down where and how it was called."""
    home = tmp_path / "my course"
    tools = home / ".venv" / "bin"
    tools.mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", home)
    for name in ("python", "jupyter", "jupyter-book"):
        stub(tools, name, f'echo "$PWD|{name} $*" >> log')
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.M)
    assert {"site", "test", "widgets", "pdf"} <= set(targets)
    for target in targets:
        command = ["make", target, "PYTHON=.venv/bin/python"]
        done = subprocess.run(command, cwd=home, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), target
    places, calls = zip(*(line.split("|") for line in (home / "log").read_text().splitlines()))
    assert set(places) == {str(home)}
    assert {"python -m scripts.test", "python scripts/widgets.py"} <= set(calls)
    assert calls.index("python scripts/browser.py") < calls.index("python -m scripts.test")


def tracked(*patterns):
    return sorted(file for pattern in patterns for file in ROOT.glob(pattern))


def test_the_test_command_stands_once():
    files = tracked(
        "Makefile", "*.md", "chapters/*.md", ".ci/*", ".github/workflows/*", "scripts/*.py"
    )
    assert len(files) > 10
    knows = [file.name for file in files if "--no-loadscope-reorder" in file.read_text("utf-8")]
    assert knows == ["test.py"]
    assert (ROOT / ".ci" / "run").read_text().endswith("exec env COURSE_RUN=required make test\n")


def test_no_file_reaches_another_by_its_path():
    own = Path(__file__)
    files = [f for f in tracked("tests/**/*.py", "scripts/*.py", "benchmarks/*.py") if f != own]
    assert len(files) > 40
    assert [f.name for f in files if "run_path(" in f.read_text("utf-8")] == []
