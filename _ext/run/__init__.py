"""Run: the code of the lessons and the exercises work on the page, with Python in a worker.

The build puts Pyodide, its wheels, this checkout's library and the scripts below `_static/run`, so
that the site itself serves all of it. If something cannot be had, the book builds without Run and
says so in one line. `COURSE_RUN=required` makes that an error, `COURSE_RUN=off` leaves Run out.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

from run import fetch, wheel

HERE = Path(__file__).parent
CODE = ("names.py", "errors.py", "kernel.py")  # Python that runs in the worker
SCRIPTS = ("cells.js", "editor.js", "worker.js")
CHECK = re.compile(r"^check\(\s*[\"'](\w+)[\"']", re.M)
BY_HAND = "chapters/by-hand"
MODES = ("", "required", "off")
log = logging.getLogger(__name__)


# ----------------------------------------------------------------------------- what the pages have
@cache
def _cells(path: Path) -> list[nbformat.NotebookNode]:
    return nbformat.read(path, as_version=4).cells


def exercises(app: Sphinx) -> dict[str, dict[str, Any]]:
    """Return what each lesson has, in order: title, exercises (name → cell), number of quizzes."""
    pages = {}
    for page in app.env.toctree_includes.get(app.config.root_doc, []):
        path = Path(app.srcdir) / f"{page}.ipynb"
        if not path.exists():
            continue
        code = [cell for cell in _cells(path) if cell.cell_type == "code"]
        names = {m[1]: cell.id for cell in code if (m := CHECK.search(cell.source))}
        quizzes = app.env.metadata[page]["course_quizzes"]
        title = re.sub(
            r"\\sqrt|[{}]", lambda m: "√" if len(m[0]) > 1 else "", app.env.titles[page].astext()
        )
        pages[page] = {"title": title, "exercises": names, "quizzes": quizzes}
    return pages


def name_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Note the notebook's ids of the code cells; exercises get theirs, and a class, on the page."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":
        return
    ids = []
    for node in doctree.findall(nodes.container):
        if node.get("nb_element") == "cell_code":
            cell = _cells(path)[node["cell_index"]]
            ids.append(cell.id)
            if CHECK.search(cell.source):
                node["ids"].append(f"cell-{cell.id}")
                node["classes"].append("course-exercise")
    quizzes = doctree.findall(
        lambda node: isinstance(node, nodes.Element) and "quiz" in node.get("html", {}).values()
    )
    seen = {"course_cells": ids, "course_quizzes": len(list(quizzes))}
    app.env.metadata[app.env.docname].update(seen)


def sections(app: Sphinx, page: str) -> dict[str, str]:
    """Return the titles of a page's second-level sections by their ids."""
    doctree = app.env.get_doctree(page)
    found = [node for node in doctree.findall(nodes.section) if node.parent.parent is doctree]
    return {node["ids"][0]: node.next_node(nodes.title).astext() for node in found}


def practice(app: Sphinx) -> dict[str, str]:
    """Return the titles of the sections of "By hand" that hold a problem, by id, in order."""
    doctree = app.env.get_doctree(BY_HAND)
    return {
        node["ids"][0]: node.next_node(nodes.title).astext()
        for node in doctree.findall(nodes.section)
        if any(
            isinstance(child, nodes.raw) and 'data-widget="practice"' in child.astext()
            for child in node.children
        )
    }


# --------------------------------------------------------------------------------------- the files
def bundle(npm: Path, source: str, target: Path, setup: dict[str, Any], form: str) -> None:
    """Build one script with esbuild; `SETUP` in it stands for `setup`."""
    options = ["--bundle", "--minify", "--target=es2022", "--charset=utf8", "--log-level=error"]
    options += [f"--format={form}", f"--define:SETUP={json.dumps(setup)}", "--loader:.css=text"]
    esbuild = npm / "esbuild" / "bin" / "esbuild"
    fetch.node(esbuild, source, *options, f"--outfile={target}", cwd=HERE, NODE_PATH=str(npm))


def write(app: Sphinx, npm: Path, wheels: Path) -> None:
    """Write all that Run needs below the book's `_static/run`."""
    out = Path(app.outdir) / "_static" / "run"
    shutil.rmtree(out, ignore_errors=True)
    lock = json.loads((npm / "pyodide" / "pyodide-lock.json").read_text("utf-8"))
    packages = fetch.packages(lock)
    runtime = out / f"pyodide-{lock['info']['version']}"
    runtime.mkdir(parents=True)
    for name in fetch.CORE:
        shutil.copyfile(npm / "pyodide" / name, runtime / name)
    for package in packages.values():
        shutil.copyfile(wheels / package["file_name"], runtime / package["file_name"])
        package["depends"] = [name for name in package["depends"] if name in packages]
    lock["packages"] = packages
    (runtime / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")

    library, models = wheel.packed(wheel.contents()), wheel.packed(wheel.models())
    digest = hashlib.sha256(library + models)
    for path in sorted(
        (*HERE.glob("*.js"), *HERE.glob("*.css"), *HERE.glob("*.json"), *map(HERE.joinpath, CODE))
    ):
        digest.update(path.read_bytes())
    edition = digest.hexdigest()[:12]
    course = out / edition
    course.mkdir()
    file = "{}-{}-py3-none-any.whl".format(*wheel.project())
    (course / file).write_bytes(library)
    (course / "models.zip").write_bytes(models)
    for name in CODE:
        shutil.copyfile(HERE / name, course / name)
    base = [*fetch.CORE, "pyodide-lock.json", packages["numpy"]["file_name"], *CODE, file]
    setup = {
        "folder": edition,
        "folders": [edition, runtime.name],
        "runtime": f"../{runtime.name}/",
        "library": base[-1],
        "code": CODE,
        "base": base[2:],  # the two scripts are not counted as they come
        "packages": fetch.PACKAGES,
        "files": {name: package["file_name"] for name, package in packages.items()},
        "sizes": {
            path.name: path.stat().st_size for path in (*runtime.iterdir(), *course.iterdir())
        },
    }
    lessons = exercises(app)
    setup["cells"] = {page: app.env.metadata[page]["course_cells"] for page in lessons}
    for name in SCRIPTS:
        bundle(npm, name, course / name, setup, "iife" if name == "worker.js" else "esm")
    small = {"folder": edition, "exercises": {p: len(v["exercises"]) for p, v in lessons.items()}}
    titles = {page: {**v, "sections": sections(app, page)} for page, v in lessons.items()}
    bundle(npm, "page.js", out / "page.js", small, "iife")
    progress = {"lessons": titles, "practice": {"page": BY_HAND, "problems": practice(app)}}
    bundle(npm, "progress.js", out / "progress.js", progress, "iife")
    # at the root, for a service worker has to do with what is below it only
    bundle(npm, "offline.js", Path(app.outdir) / "course-offline.js", setup, "iife")


# --------------------------------------------------------------------------------------- the build
def begin(app: Sphinx) -> None:
    """Get the files, and put the scripts on the pages if they are there."""
    mode = os.environ.get("COURSE_RUN", "")
    if mode not in MODES:
        raise ExtensionError(f"COURSE_RUN must be one of {MODES}, got {mode!r}")
    app.course_run = None
    if app.builder.format != "html" or mode == "off":
        return
    try:
        app.course_run = fetch.everything()
    except fetch.Unavailable as reason:
        if mode == "required":
            raise ExtensionError(f"Run: {reason}") from reason
        log.info("The book is built without Run: %s", reason)
        return
    app.add_js_file("run/page.js", priority=902, defer="defer")


def prepare_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    if not app.course_run:
        return
    body = context.get("body") or ""  # here, not in the doctree, which is kept for later builds
    context["body"] = body.replace(" course-exercise", " course-exercise run-exercise")
    if pagename == "chapters/progress":
        app.add_js_file("run/progress.js", priority=903, defer="defer")


def finish(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and getattr(app, "course_run", None):
        write(app, *app.course_run)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", begin)
    app.connect("doctree-read", name_cells)
    app.connect("html-page-context", prepare_page)
    app.connect("build-finished", finish)
    return {"env_version": 2, "parallel_read_safe": True, "parallel_write_safe": True}
