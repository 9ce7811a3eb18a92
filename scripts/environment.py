"""Make the course's environment, .venv, or finish one that was begun.

    python scripts/environment.py

What is there is tried, not taken for whole: an environment whose Python or pip does not run (its
making was interrupted, or its Python is gone) is made again. The file .venv/ready is written last.
This file also runs on an old Python, to say which one is needed.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv"
PYTHON = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
READY = FOLDER / "ready"
SOURCES = ("requirements.txt", "constraints.txt", "pyproject.toml")
NEEDED = (3, 11)  # as pyproject.toml says


def runs(code):
    """Return whether the environment's Python is new enough and runs the code."""
    command = [str(PYTHON), "-c", f"import sys; assert sys.version_info >= {NEEDED}; {code}"]
    try:
        return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def ready():
    """Return whether everything was installed, after the last change of what is wanted."""
    wanted = max((ROOT / name).stat().st_mtime for name in SOURCES)
    return READY.is_file() and READY.stat().st_mtime >= wanted and runs("")


def make():
    """Make the environment anew; where that cannot be done, a sentence says why."""
    name = "{} is Python {}.{}".format(sys.executable, *sys.version_info)
    if sys.version_info < NEEDED:
        raise SystemExit(
            "The course needs Python {}.{} or newer; {}.\n".format(*NEEDED, name)
            + "Name a newer one, such as: make PYTHON=python3.12 site"
        )
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError as error:
        raise SystemExit(
            f"{name} without the module {error.name}, which new environments need.\n"
            "On Debian and Ubuntu: apt-get install python3-venv"
        ) from None
    if FOLDER.exists():
        print(f"{FOLDER} is not whole, perhaps interrupted: it is made again.")
    try:
        venv.create(str(FOLDER), clear=True, with_pip=True, symlinks=os.name != "nt")
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"{FOLDER} could not be made: {error}") from None


def install():
    command = [str(PYTHON), "-m", "pip", "install", "--quiet"]
    command += ["-r", "requirements.txt", "-c", "constraints.txt", "-e", "."]
    if subprocess.run(command, cwd=str(ROOT)).returncode:
        raise SystemExit("pip could not install what the course needs; see above, then try again.")
    # JupyterLab shall not ask for news at its first start
    quiet = ["labextension", "disable", "@jupyterlab/apputils-extension:announcements"]
    subprocess.run([str(PYTHON), "-m", "jupyter", *quiet], stderr=subprocess.DEVNULL)
    READY.touch()


def main():
    if ready():
        return
    if not runs("import pip._internal.cli.main"):
        make()
    print("Installing what the course needs into .venv: a few minutes the first time.", flush=True)
    install()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("\nInterrupted. The same command goes on from here.") from None
