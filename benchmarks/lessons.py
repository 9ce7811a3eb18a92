"""How long the lessons are: screens, open code, pictures, minutes.

    python benchmarks/lessons.py [_build/html]

A screen is 1280 × 800 pixels. The open road goes from the title to the quiz, everything folded as
a reader finds it; the page has the quiz and the exercises, too. Open lines are the lines of code
that are not folded, exercises not counted. Pictures are drawings and figures; widgets stand apart.
"""

import re
import sys
from pathlib import Path

import nbformat
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
import lessons as script  # noqa: E402

from scripts.browser import launch  # noqa: E402

READY = """async () => {
  await document.fonts.ready;
  for (const image of document.images) image.loading = "eager";
  await Promise.all([...document.images].map((image) => image.decode().catch(() => 0)));
}"""
SCREENS = """() => {
  const article = document.querySelector("article.bd-article");
  const quiz = document.querySelector("#quiz");
  const top = article.getBoundingClientRect().top, whole = article.getBoundingClientRect();
  return [(quiz ? quiz.getBoundingClientRect().top : whole.bottom) - top, whole.height];
}"""


def code(notebook: nbformat.NotebookNode) -> tuple[int, int, int, int]:
    """Open lines, folded cells, pictures, widgets."""
    lines = folded = pictures = widgets = 0
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        outputs = [str(output.get("data", {})) for output in cell.outputs]
        widget = any("data-widget=" in output for output in outputs)
        widgets += widget
        pictures += sum("image/png" in o or ("<svg" in o and not widget) for o in outputs)
        if script.BENCH.match(cell.source):
            folded += 1
        elif "check(" not in cell.source:
            lines += len(re.findall(r"^.*\S", cell.source, re.M))
    return lines, folded, pictures, widgets


def main() -> None:
    html = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "_build" / "html"
    print("| lesson | road, screens | page, screens | open lines | folded cells | pictures |"
          " widgets | reading, min | doing, min |")  # fmt: skip
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        for path in sorted((ROOT / "chapters").glob("*.ipynb")):
            page.goto((html / "chapters" / f"{path.stem}.html").resolve().as_uri())
            page.evaluate(READY)
            road, whole = (pixels / 800 for pixels in page.evaluate(SCREENS))
            notebook = nbformat.read(path, as_version=4)
            cells = " | ".join(map(str, (*code(notebook), *script.minutes(notebook))))
            print(f"| {path.stem} | {road:.1f} | {whole:.1f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
