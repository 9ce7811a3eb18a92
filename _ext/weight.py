"""What the built pages do without: style rules no page uses, colours no eye tells apart."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import tinycss2
from PIL import Image
from sphinx.application import Sphinx

NAMES = re.compile(r"[A-Za-z_][\w-]*")
SELECTOR_NAMES = re.compile(r"[.#]([A-Za-z_][\w-]*)")
PICTURE = re.compile(r'(<img\b[^>]*\bsrc="[^"]*_images/[^"/]+)\.png"')
COLOURS = 96


def purge(rules: list[Any], known: set[str]) -> str:
    """A stylesheet without the selectors whose classes or ids occur on no page and in no script."""
    kept = []
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [
                selector
                for selector in tinycss2.serialize(rule.prelude).split(",")
                if known.issuperset(SELECTOR_NAMES.findall(selector))
            ]
            if selectors:
                kept.append(f"{','.join(selectors)}{{{tinycss2.serialize(rule.content).strip()}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports", "layer"):
            inner = rule.content and purge(
                tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True),
                known,
            )
            if inner:
                kept.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inner}}}")
        elif rule.type == "at-rule" and "Awesome" in rule.serialize():
            continue  # the icon font: course.css draws the icons
        else:
            kept.append(rule.serialize())
    return "".join(kept)


def lighten_styles(html: Path) -> None:
    known = {"course-print"}  # of the document that `make pdf` makes of the pages
    for file in (*html.rglob("*.html"), *html.rglob("*.js")):
        known.update(NAMES.findall(file.read_text("utf-8")))
    for sheet in (html / "_static").rglob("*.css"):
        rules = tinycss2.parse_stylesheet(
            sheet.read_text("utf-8"), skip_comments=True, skip_whitespace=True
        )
        sheet.write_text(purge(rules, known), "utf-8")


def name_pictures(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Point to the lighter pictures; those below the fold wait until they come near."""
    if context.get("body"):
        context["body"] = PICTURE.sub(r'\1.webp" loading="lazy"', context["body"])


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
        lighten_styles(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", name_pictures, priority=991)
    app.connect("build-finished", finish, priority=990)  # after all files are there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
