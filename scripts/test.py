"""The course's whole test: form, types, code, doctests, lessons, book, browser.

    python -m scripts.test [form | types | tests]

All of it, or one part. This is the one place that knows the commands; the Makefile, the workflows
and the README call it. It ends at the first part that fails, with that part's exit code.
"""

import os
import subprocess
import sys
from pathlib import Path

from scripts import browser

ROOT = Path(__file__).resolve().parent.parent
# The longest files first, so that both processes end at the same time.
FILES = "tests/site tests/widgets tests mhalib chapters"
PARTS = {
    "form": ("ruff check .", "ruff format --check ."),
    "types": ("mypy",),
    "tests": (f"pytest -n 2 --dist loadfile --no-loadscope-reorder --nbval {FILES}",),
}


def main(wanted: list[str]) -> int:
    unknown = set(wanted) - PARTS.keys()
    if unknown:
        raise SystemExit(f"parts are {', '.join(PARTS)}; got {', '.join(sorted(unknown))}")
    parts = wanted or list(PARTS)
    if "tests" in parts:
        browser.ensure()
    threads = {"OMP_NUM_THREADS": "1", "PYTHONUTF8": "1", **os.environ}  # two processes, two cores
    for command in (command for part in parts for command in PARTS[part]):
        print(f"$ python -m {command}", flush=True)
        code = subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, env=threads)
        if code.returncode:
            return code.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
