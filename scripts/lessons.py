"""Run the lessons and store their outputs, the same bytes on every machine.

    python scripts/lessons.py [--check] [NOTEBOOK …]

Without arguments: every notebook of `chapters/`. With --check nothing runs; the notebooks that
are not in the stored form are listed, and the exit code is 1 if there are any.
"""

import argparse
import hashlib
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
VALID_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# A stored widget view would make a page look for a kernel; without it the static picture shows.
# What a bench cell is for, in its first line; folded, the line is all that is seen of its code.
# Of an aside or of the library's source the output is folded, too.
BENCH = re.compile(r"# ((?:Check|Figure|Table|Experiment|Set-up|Aside|Source): .*)")
WHOLE = ("Aside", "Source")
FOLDS = ("bench", "hide-input", "hide-cell")
TRANSIENT_OUTPUTS = ("application/vnd.jupyter.widget-view+json",)


def normalise(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove what differs from run to run: times, states of widgets, counts, random ids."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: set[str] = set()
    count = 0
    for cell in notebook.cells:
        cell.id = _stable_id(cell, seen)
        cell.metadata.pop("execution", None)
        cell.metadata.pop("ExecuteTime", None)
        if cell.cell_type != "code":
            continue
        _fold(cell)
        if cell.source.strip():
            count += 1
        cell.execution_count = count if cell.source.strip() else None
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
            for kind in TRANSIENT_OUTPUTS:
                output.get("data", {}).pop(kind, None)
        cell.outputs = [output for output in cell.outputs if output.get("data", True)]
    return notebook


def _fold(cell: nbformat.NotebookNode) -> None:
    """Fold a cell of the bench: under its first line on the site, in JupyterLab, in VS Code."""
    tags = [tag for tag in cell.metadata.get("tags", []) if tag not in FOLDS]
    if line := BENCH.match(cell.source):
        whole = line[1].startswith(WHOLE)
        cell.metadata.tags = [*tags, "bench", "hide-cell" if whole else "hide-input"]
        cell.metadata.jupyter = {"source_hidden": True}
        if whole:
            cell.metadata.jupyter.outputs_hidden = True
        prompts = {"code_prompt_show": line[1], "code_prompt_hide": line[1]}
        cell.metadata.mystnb = {**cell.metadata.get("mystnb", {}), **prompts}
        return
    if "bench" not in cell.metadata.get("tags", []):
        return
    cell.metadata.pop("jupyter", None)
    mystnb = cell.metadata.get("mystnb", {})
    for name in ("code_prompt_show", "code_prompt_hide"):
        mystnb.pop(name, None)
    for name, rest in (("tags", tags), ("mystnb", mystnb)):
        if rest:
            cell.metadata[name] = rest
        else:
            cell.metadata.pop(name, None)


def minutes(notebook: nbformat.NotebookNode) -> tuple[int, int]:
    """How long reading and doing take, to five minutes.

    Reading: 180 words of text a minute, 10 open lines of code, half a minute a figure, table or
    experiment that is open. Doing: a minute a question of
    the quiz, two for a prediction, a widget or an exercise in words, eight for one in code, with a
    check or without.
    """
    reading = doing = 0.0
    checks = coded = 0
    exercises = False
    for cell in notebook.cells:
        if cell.cell_type == "code":
            if "check(" in cell.source:
                checks += 1
            elif any('data-widget="' in str(o.get("data", "")) for o in cell.outputs):
                doing += 2
            elif line := BENCH.match(cell.source):
                seen = cell.outputs and not line[1].startswith(WHOLE) and not exercises
                reading += 0.5 * bool(seen)
            else:
                reading += len(re.findall(r"^.*\S", cell.source, re.M)) / 10
            continue
        text = re.sub(r"^<details>.*?^</details>", "", cell.source, flags=re.M | re.S)
        exercises = exercises or text.startswith("## Exercises")
        if not exercises:
            reading += len(text.split()) / 180
        doing += len(re.findall(r"^\*\*Question \d", text, re.M))
        doing += 2 * len(re.findall(r"^> \*\*Predict\*\*$", text, re.M))
        doing += 2 * len(re.findall(r"^\*\*\d\. (?!Build|Use)", text, re.M))
        coded += len(re.findall(r"^\*\*\d\. (?:Build|Use)", text, re.M))
    doing += 8 * max(checks, coded)
    return 5 * round(reading / 5), 5 * round(doing / 5)


def _stable_id(cell: nbformat.NotebookNode, seen: set[str]) -> str:
    """Keep a good id; else make one from the text, so that a rerun makes the same one."""
    name = cell.get("id", "")
    if not VALID_ID.fullmatch(name) or name in seen:
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        name = next(i for i in (digest, *(f"{digest}-{k}" for k in range(2, 999))) if i not in seen)
    seen.add(name)
    return name


def text_of(notebook: nbformat.NotebookNode) -> str:
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="run nothing, list what is stale")
    parser.add_argument("notebooks", nargs="*", type=Path)
    args = parser.parse_args()
    stale = []
    for path in args.notebooks or sorted((ROOT / "chapters").glob("**/*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        if args.check:
            if text_of(normalise(notebook)) != path.read_text("utf-8"):
                stale.append(path)
            continue
        print(path, flush=True)
        resources = {"metadata": {"path": str(path.parent)}}
        NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            resources=resources,
            record_timing=False,
            coalesce_streams=True,
        ).execute()
        path.write_text(text_of(normalise(notebook)), "utf-8", newline="\n")
    for path in stale:
        print(f"not in its stored form: {path}")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
