"""Python on the page, in Chromium, from the served book: lessons, exercises, odd input.

One worker serves most of this file: to start Python costs more than all the checks together.
"""

import functools
import gzip
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

CHAPTERS = Path(__file__).parents[2] / "chapters"
LESSON, TRAP = "chapters/05-multi-head.html", "split_heads"
PRINTS = "chapters/02-embedding.html"  # its open cells print
RUN_STYLE = Path(__file__).parents[2] / "_static" / "run.css"
SOLUTIONS = Path(__file__).parents[1] / "checks" / "solutions.py"
RUN = """async ([code, name, seconds]) => {
  const items = [];
  const give = (item) => items.push(item);
  const state = await course.python.run({ code, name, give, seconds });
  return { state, items };
}"""
FORGET = "for name in [n for n in globals() if n[0] != '_' and n != 'display']: del globals()[name]"


@pytest.fixture(scope="module")
def run_folder(site):
    folder = site / "_static" / "run"
    if not folder.exists():
        assert os.environ.get("COURSE_RUN") != "required"
        pytest.skip("this book was built without Run: nobody had its files")
    return folder


@pytest.fixture(scope="module")
def worker(run_folder, server, reader):
    """A page with the part behind the buttons; `worker(code)` runs code in its Python."""
    page, complaints = reader(server)
    page.goto(f"{server}/{LESSON}")
    (cells,) = run_folder.glob("*/cells.js")
    page.evaluate(
        """async (base) => {
          const root = new URL("/", location);
          const { start } = await import(new URL("cells.js", base));
          window.course = (await start({ base, root, page: "x", cells: [] })).session;
          await course.python.start();
        }""",
        f"{server}/_static/run/{cells.parent.name}/",
    )

    def run(code, name="cell 1", seconds=None):
        return page.evaluate(RUN, [code, name, seconds or 1e9])

    run.page, run.complaints = page, complaints
    yield run
    assert complaints == []


def text_of(result):
    return "".join(item["text"] for item in result["items"] if item["kind"] == "text")


def test_a_figure_loads_matplotlib_when_it_is_first_drawn(worker):
    assert text_of(worker("import sys\nprint('matplotlib' in sys.modules)")) == "False\n"
    items = worker("from mhalib import plots\nplots.heatmap([[0.0, 1.0]])\nplots.plt.show()")
    assert [item["kind"] for item in items["items"]] == ["png"]


# ---- every exercise, every mistake --------------------------------------------------------------
ANSWERS = (
    SOLUTIONS.read_text("utf-8")
    + """
import json
from mhalib.checks import EXERCISES, check
answers = {}
for exercise in EXERCISES.values():
    for mistake in exercise.mistakes[:FEW]:
        answers[f"{exercise.name}: {mistake.name}"] = check(exercise.name, mistake.wrong).title
for name, functions in SOLUTIONS.items():
    for function in functions[:FEW]:
        if "torch" not in (*function.__code__.co_names, *function.__name__.split("_")):
            answers[function.__name__] = check(name, function).title
print(json.dumps(answers))
"""
)


def test_mistakes_get_their_names_and_solutions_are_correct_as_everywhere(worker):
    """The first of each exercise; `benchmarks/run.py --cells` asks for all."""
    code = ANSWERS.replace("FEW", "1")
    result = worker(code)
    assert result["state"] == "done", result["items"]
    here = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    answers = json.loads(text_of(result))
    assert answers == json.loads(here.stdout)
    assert len(answers) > 45 and list(answers.values()).count("Correct") > 20


def folded_solutions(cells):
    """The code of each folded solution, by the name it defines."""
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    codes = re.findall(r"```python\n(.*?)```", text, re.S)
    return {name: code for code in codes for name in re.findall(r"^def (\w+)\(", code, re.M)}


@pytest.mark.parametrize("path", sorted(CHAPTERS.glob("0*.ipynb")), ids=lambda path: path.stem)
def test_the_lessons_own_solutions_are_correct(worker, path):
    """Each exercise, with only the cells above that it takes names from, as "Check" does it."""
    cells = nbformat.read(path, as_version=4).cells
    solutions = folded_solutions(cells)
    codes = [cell.source for cell in cells if cell.cell_type == "code"]
    stubs = {
        i: m[1]
        for i, code in enumerate(codes)
        if (m := re.search(r"^check\(.*?, (\w+)", code, re.M))
    }
    for i, name in stubs.items():
        call = re.search(r"^check\(.*", codes[i], re.M)[0]
        imports = "\n".join(re.findall(r"^(?:from|import) .*", codes[i], re.M))
        codes[i] = f"{imports}\n{solutions[name]}\n{call}"
    for i in stubs:
        above = [re.sub(r"^check\(.*", "", code, flags=re.M) if k in stubs and k != i else code
                 for k, code in enumerate(codes)]  # fmt: skip
        needed = worker.page.evaluate("([codes, i]) => course.python.plan(codes, i)", [above, i])
        worker(FORGET)
        for k in needed:
            assert worker(above[k])["state"] in ("done", "torch")
        (item,) = (item for item in worker(codes[i])["items"] if item["kind"] == "html")
        assert item["ok"], (codes[i], item["text"])


# ---- every cell ---------------------------------------------------------------------------------
# In the browser some cells take many seconds: the weekly run sets COURSE_RUN_CELLS to "all".
QUICK = {"03-single-head"}
NOTEBOOKS = [
    path
    for path in sorted(CHAPTERS.glob("*.ipynb"))
    if path.stem in QUICK or os.environ.get("COURSE_RUN_CELLS") == "all"
]
# What prints something else in a browser, and why.
OTHER = {
    'errstate(over="raise")': "WebAssembly has no floating-point exceptions: no overflow is seen",
}
ONLY_TORCH = {"conventions", "08-train-it-yourself"}  # most of their cells need it
DRAW_NOTHING = """
from mhalib import plots
plots.plt.show = lambda: plots.plt.close("all")
"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_prints_what_is_stored(worker, path):
    """The browser as a further runtime: what needs no PyTorch gives the stored text and values."""
    worker(FORGET)
    worker(DRAW_NOTHING)
    wrong, torch = [], []
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    for cell in cells:
        if any(part in cell.source for part in OTHER):
            continue
        result = worker(cell.source)
        stored = "".join(o.text for o in cell.outputs if o.output_type == "stream")
        shown = [o.data for o in cell.outputs if "text/html" in o.get("data", {})]
        values = [data["text/plain"] for data in shown]  # of the library's own classes
        got = [item["text"] for item in result["items"] if item["kind"] == "html"]
        if result["state"] == "torch":
            torch.append(cell.id)
        elif (result["state"], text_of(result), got) != ("done", stored, values):
            wrong.append((cell.id, result["items"]))
    assert wrong == []
    assert len(torch) < len(cells) / 2 or path.stem in ONLY_TORCH, torch


# ---- what a reader may do to it, in the browser's Python ----------------------------------------
def test_too_deep_and_too_large_are_errors_like_others(worker):
    (item,) = worker("def f(n):\n    return f(n + 1)\n\nf(0)")["items"]
    assert item["title"] == "RecursionError" and "calls itself" in item["text"]
    (item,) = worker("import numpy as np\nnp.ones(10**12)")["items"]
    assert "too big" in item["text"] or "dimension" in item["text"]
    assert item["line"] == 2
    (item,) = worker("a = []\nwhile True:\n    a.append(bytearray(50_000_000))")["items"]
    assert item["title"] == "MemoryError" and "more memory than a page has" in item["text"]
    assert text_of(worker("del a\nprint(6 * 7)")) == "42\n"


def test_output_without_end_and_input(worker):
    result = worker("while True: print('again and again')")
    assert result["state"] == "failed" and "never ends" in result["items"][-1]["text"]
    (item,) = worker("input('name? ')")["items"]
    assert "Write the value into the code" in item["text"]


def test_a_loop_without_end_is_ended_and_the_next_run_starts_anew(worker):
    result = worker("x = 1\nwhile True: pass", seconds=1)
    assert result == {"state": "hung", "items": []}
    (item,) = worker("x")["items"]
    assert item["title"] == "NameError"


# ---- a reader's way -----------------------------------------------------------------------------
TRAP_CODE = """from mhalib.checks import check


def my_split_heads(X, n_heads):
    *batch, n, width = X.shape
    return X.reshape(*batch, n_heads, n, width // n_heads)


check("split_heads", my_split_heads)"""
RIGHT_CODE = TRAP_CODE.replace(
    "(*batch, n_heads, n, width // n_heads)",
    "(*batch, n, n_heads, width // n_heads).swapaxes(-2, -3)",
)


@pytest.fixture(scope="module")
def home(run_folder, server, reader):
    """One reader's browser, and a page in it."""
    page, complaints = reader(server, viewport={"width": 1280, "height": 800})
    refused = lambda r: r.status >= 400 and complaints.append(f"{r.status}: {r.url}")  # noqa: E731
    page.context.on("response", refused)
    yield page
    assert complaints == []


def exercise(page):
    return page.locator(".cell.run-exercise", has_text=f'"{TRAP}"')


def printing(page):
    """The first cell that is not folded and whose output is text."""
    return page.locator("div.cell:not(.tag_hide-input):has(> .cell_output .stream)").first


def write(page, cell, code):
    cell.locator(".run-edit, .cm-content").first.click()
    cell.locator(".cm-focused").wait_for()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)


def test_from_the_first_page_to_a_solved_exercise_and_back_another_day(home, server):
    page = home
    page.goto(f"{server}/index.html")
    page.locator("nav.bd-links a", has_text="5. ").first.click()
    cell = exercise(page)
    write(page, cell, TRAP_CODE)
    page.keyboard.press("Shift+Enter")
    answer = cell.locator(".run-output .mhalib-check")
    answer.locator("text=reshaped before transposing").wait_for()
    page.locator(".run-voice", has_text="reshaped before transposing").wait_for()
    assert page.locator(".run-mark").count() == 0
    write(page, cell, RIGHT_CODE)
    cell.locator(".run-run").click()
    answer.locator("text=Correct").wait_for()
    mark = f"1/{page.locator('.run-exercise').count()}"
    assert page.locator("nav.bd-links .run-mark").inner_text().strip() == mark

    page.goto("about:blank")  # and another day
    page.goto(f"{server}/{LESSON}")
    exercise(page).locator(".cm-content").wait_for()
    lines = exercise(page).locator(".cm-line").all_inner_texts()
    assert "\n".join(line.rstrip("\n") for line in lines) == RIGHT_CODE
    assert page.locator("nav.bd-links .run-mark").inner_text().strip() == mark
    page.goto(f"{server}/chapters/progress.html")
    page.locator("#course-progress", has_text="1 of ").wait_for()
    assert page.locator(".progress-done").inner_text() == f"{TRAP} ✓ solved"


def test_progress_goes_out_as_a_notebook_in_again_and_away(home, server, tmp_path):
    page = home
    page.goto(f"{server}/chapters/progress.html")
    with page.expect_download() as download:
        page.locator("button", has_text="Export").click()
    file = tmp_path / "my-progress.ipynb"
    download.value.save_as(file)
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    names = {}
    for cell in notebook.cells:  # it runs in Jupyter, where the same grader finds the same
        if cell.cell_type == "code":
            exec(cell.source.replace("\ncheck(", "\nlast = check("), names)
    assert names["last"].ok

    page.evaluate("localStorage.setItem('mhalib:/chapters/a.html:scaling', '{}')")  # of a widget
    page.locator("button", has_text="Forget everything").click()
    page.locator("button", has_text="Yes, forget").click()
    page.locator("#course-progress", has_text="0 of ").wait_for()
    left = page.evaluate("Object.keys(localStorage).filter((key) => key !== 'mode')")
    assert not [key for key in left if key.startswith(("course/", "mhalib:"))]
    page.locator("input[type=file]").set_input_files(file)
    page.locator(".progress-told", has_text="Read:").wait_for()
    assert page.locator(".progress-done").inner_text() == f"{TRAP} ✓ solved"
    bad = tmp_path / "other.ipynb"
    bad.write_text('{"cells": []}')
    page.locator("input[type=file]").set_input_files(bad)
    page.locator(".progress-told", has_text="Nothing was changed").wait_for()


def test_progress_counts_what_was_solved_by_hand(home, server, tmp_path):
    page, done = home, ".progress-done:has-text('One score')"
    page.goto(f"{server}/chapters/by-hand.html#by-hand-score")
    problem = page.locator("#one-score figure")
    figure = problem.locator(".mhalib-live")
    figure.wait_for()
    state = json.loads(problem.locator("> script").text_content())
    for cell, right in zip(
        figure.locator(".mh-check input").all(), state["problems"][0]["right"], strict=True
    ):
        cell.fill(str(right))
        cell.press("Enter")
    solved = figure.locator(".mh-label", has_text="solved: 1")
    expect(solved).to_be_visible()
    page.goto(f"{server}/chapters/progress.html")
    assert page.locator(done).inner_text() == "One score ✓ 1 solved"
    with page.expect_download() as download:
        page.locator("button", has_text="Export").click()
    file = tmp_path / "my-progress.ipynb"
    download.value.save_as(file)
    page.locator("button", has_text="Forget everything").click()
    page.locator("button", has_text="Yes, forget").click()
    expect(page.locator(done)).to_have_count(0)
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(done)).to_have_text("One score ✓ 1 solved")
    page.goto(f"{server}/chapters/by-hand.html#by-hand-score")
    page.mouse.wheel(0, 1)
    expect(solved).to_be_visible()


def test_a_cell_runs_after_those_above_and_can_be_edited_by_keyboard_alone(home, server):
    page = home
    page.goto(f"{server}/{PRINTS}")
    cell = printing(page)
    stored = cell.locator(".cell_output").first.inner_text()
    run, edit = cell.locator(".run-run"), cell.locator(".run-edit")
    run.focus()
    page.keyboard.press("Enter")
    cell.locator(".run-label", has_text="Your run").wait_for()
    assert cell.locator(".run-text").inner_text().strip() == stored.strip()
    assert not cell.locator(".cell_output").first.is_visible()
    edit.focus()
    page.keyboard.press("Enter")
    editor = cell.locator(".cm-content")
    editor.wait_for()
    assert "Escape leaves the editor" in editor.get_attribute("aria-label")
    page.keyboard.press("Control+Home")
    page.keyboard.type("6/2\n")  # "/" is the theme's search elsewhere
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("\n\n<b>bold</b>")
    page.keyboard.press("Escape")
    assert run.evaluate("(button) => button === document.activeElement")
    page.keyboard.press("Enter")
    cell.locator(".run-error", has_text="SyntaxError").wait_for()
    assert cell.locator(".run-bad-line").inner_text() == "<b>bold</b>"
    assert cell.locator(".run-output b").count() == 0
    cell.locator("button", has_text="Back to the original").click()
    assert cell.locator(".cell_output").first.is_visible()
    assert not cell.locator(".run-output").is_visible() and editor.count() == 0
    cell.locator("button", has_text="Undo").click()  # nothing is lost
    assert "bold" in cell.locator(".cm-content").inner_text()
    cell.locator("button", has_text="Back to the original").click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_while_it_is_used(home, scheme):
    page = home
    page.emulate_media(color_scheme=scheme)
    page.evaluate("(mode) => (document.documentElement.dataset.theme = mode)", scheme)
    cell = printing(page)
    if not cell.locator(".cm-content").count():
        write(page, cell, "print('seen')\n1 / 0")
        page.keyboard.press("Shift+Enter")
        cell.locator(".run-error").wait_for()
    options = {"resultTypes": ["violations"], "preload": False}  # no files fetched by axe itself
    if scheme == "dark":
        options["runOnly"] = ["color-contrast", "link-in-text-block"]
    context = [".cell:has(.run-output)", ".run-exercise"]
    result = Axe().run(page, context=context, options=options)
    assert result.violations_count == 0, result.generate_report()


def test_a_phone_has_room_for_it(home):
    page = home
    page.set_viewport_size({"width": 360, "height": 740})
    page.add_style_tag(content="article section { content-visibility: visible !important; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for button in page.locator(".run-run").all()[:3]:
        box = button.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360 and box["height"] >= 24
    covered = """() => [...document.querySelectorAll("details + .run-run")].filter((run) => {
      const title = document.createRange();
      const titles = [...run.previousElementSibling.querySelectorAll("summary > *")];
      title.selectNodeContents(titles.find((e) => e.checkVisibility()));
      const { left, top, bottom } = run.getBoundingClientRect();
      return [...title.getClientRects()].some((box) =>
        box.width && box.right > left && box.bottom > top && box.top < bottom);
    }).length"""
    assert page.locator(".cell > details + .run-run").count() and page.evaluate(covered) == 0
    page.set_viewport_size({"width": 1280, "height": 800})


def test_what_is_typed_in_one_tab_comes_to_the_other_and_survives_there(home, server):
    page = home
    page.goto(f"{server}/{PRINTS}")
    other = page.context.new_page()
    other.goto(f"{server}/{PRINTS}")
    write(other, printing(other), "print('from the other tab')")
    first = printing(page).locator(".cm-content")
    first.wait_for()  # this page has the editor, for the cell was edited in it
    assert first.inner_text().strip() == "print('from the other tab')"
    other.close()


def test_python_is_there_without_network_once_it_was_used(home, server):
    page = home
    page.context.set_offline(True)
    try:
        page.goto(f"{server}/{LESSON}")
        exercise(page).locator(".run-run").click()
        exercise(page).locator(".run-output .mhalib-check").wait_for()
    finally:
        page.context.set_offline(False)


def test_a_new_edition_takes_the_place_of_the_old_one_and_keeps_python(
    site, run_folder, reader, tmp_path
):
    """What is published anew: the course's own folder has another name, Python's has not."""
    book, asked = tmp_path / "book", []
    shutil.copytree(site, book, copy_function=os.link)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=book)
    ) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{served.server_port}"
        page, complaints = reader(address)

        def visit():
            page.goto(f"{address}/{LESSON}")
            exercise(page).locator(".run-run").click()
            exercise(page).locator(".run-output .mhalib-check").wait_for()
            return page.evaluate(
                """async () => {
                  const cache = await caches.open("course-python");
                  const paths = (await cache.keys()).map((kept) => new URL(kept.url).pathname);
                  return [...new Set(paths.map((path) => path.split("/")[3]))].sort();
                }"""
            )

        runtime = next(folder.name for folder in run_folder.glob("pyodide-*"))
        (old,) = (folder.name for folder in run_folder.iterdir() if (folder / "cells.js").exists())
        assert visit() == sorted([old, runtime])

        new, run = "0123456789ab", book / "_static" / "run"
        (run / old).rename(run / new)
        for file in (book / "course-offline.js", run / "page.js", *(run / new).glob("*.js")):
            text = file.read_text("utf-8").replace(old, new)
            file.unlink()  # a link to the file of the site
            file.write_text(text, "utf-8")
        asked.clear()
        visit()
        page.wait_for_function(
            """async ([before, after]) => {
              const cache = await caches.open("course-python");
              const names = (await cache.keys()).map((kept) => kept.url).join();
              return names.includes(after) && !names.includes(before);
            }""",
            arg=[old, new],
        )
        assert not [path for path in asked if runtime in path]
        page.context.close()
        served.shutdown()
    assert complaints == []


def test_a_cell_with_a_widget_puts_the_live_widget_there(home, server):
    page = home
    page.goto(f"{server}/chapters/machine.html")
    cell = page.locator("div.cell", has_text="MachineWidget(").first
    cell.locator(".run-run").click()
    cell.locator(".run-output figure .mhalib-live").first.wait_for()


# ---- where it cannot run, and where it must not be seen -----------------------------------------
def test_from_a_folder_it_says_what_to_do(site, run_folder, reader):
    page, complaints = reader(site.as_uri())
    page.goto(f"{site.as_uri()}/{LESSON}")
    page.locator(".run-run").first.click()
    assert "python -m http.server" in page.locator(".run-note").inner_text()
    assert complaints == []


def test_without_script_and_on_paper_nothing_of_it_shows(server, run_folder, reader):
    page, _ = reader(server, java_script_enabled=False)
    page.goto(f"{server}/{LESSON}")
    assert page.locator(".run-run").count() == 0 and page.locator(".cell").count() > 20
    page, _ = reader(server)
    page.goto(f"{server}/{LESSON}")
    page.emulate_media(media="print")
    assert not any(button.is_visible() for button in page.locator(".run-run, .run-edit").all())


def test_a_page_that_is_only_read_grows_by_less_than_three_kilobytes(site, run_folder, pages):
    def packed(data):
        return len(gzip.compress(data, 9))

    style = re.sub(r"/\*.*?\*/|\s+", " ", RUN_STYLE.read_text("utf-8"), flags=re.S)
    files = packed((run_folder / "page.js").read_bytes()) + packed(style.encode())
    added = r' id="cell-[^"]*"| (course|run)-exercise|<script[^>]*run/page[^>]*>'
    for name in pages:
        html = (site / name).read_text("utf-8")
        without = re.sub(added, "", html)
        assert files + packed(html.encode()) - packed(without.encode()) < 3000, name


def test_an_exercise_needs_less_than_ten_megabytes(run_folder):
    (library,) = run_folder.glob("*/mhalib-*.whl")
    core = ["pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"]
    (runtime,) = run_folder.glob("pyodide-*")
    files = [library, *(runtime / name for name in core), *runtime.glob("numpy-*")]
    files += [
        library.with_name(name)
        for name in ("cells.js", "worker.js", "kernel.py", "names.py", "errors.py")
    ]
    assert sum(len(gzip.compress(file.read_bytes(), 6)) for file in files) < 10_000_000
