"""The book's own extensions, function by function."""

import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from PIL import Image, ImageDraw
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

EXTENSIONS = str(Path(__file__).parents[2] / "_ext")


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(EXTENSIONS)
    yield
    for name in ("api", "book", "weight"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "latex, expected",
    [
        (r"\sqrt{d_k}", r"\sqrt{{\htmlClass{dim dim-d_k}{d_k}}}"),
        (r"d_\text{model}", r"{\htmlClass{dim dim-d_model}{d_\text{model}}}"),
        (r"n \times h", r"{\htmlClass{dim dim-n}{n}} \times {\htmlClass{dim dim-h}{h}}"),
        (r"\sin x", r"\sin x"),  # no n in a command
        (r"\text{n heads}", r"\text{n heads}"),
    ],
)
def test_dimensions_in_formulas(latex, expected):
    from book import colour_math

    assert colour_math(latex) == expected


def test_what_no_style_colours_is_plain_text():
    from book import plain_tokens

    styles = ("a11y-high-contrast-light", "a11y-high-contrast-dark")
    code = "def f(x):  # (n, d_k)\n    return x @ W['Q'] + 1\n"
    html = highlight(code, PythonLexer(), HtmlFormatter(style=styles[0]))
    plain = plain_tokens(*styles).sub(r"\1", html)
    text = [BeautifulSoup(page, "html.parser").get_text() for page in (html, plain)]
    assert text[0] == text[1] and code in text[0]
    classes = re.findall('<span class="([^"]+)">', plain)
    assert set(classes) == {"k", "nf", "c1", "o", "s1", "mi"}
    assert plain_tokens(*styles, "default").pattern != plain_tokens(*styles).pattern


def test_a_title_shows_its_formula_once():
    from book import plain_title

    formula = (
        '<span class="math"><span class="katex"><math><mi>d</mi><mi>k</mi><annotation>'
        r"\sqrt{\htmlClass{dim dim-d_k}{d_k}}</annotation></math><span>dk</span></span></span>"
    )
    assert plain_title(f"4. Divided by {formula} &amp; why") == "4. Divided by √d_k &amp; why"


@pytest.mark.parametrize("address", ["owner", "a/b/c", "https://x/y", "a/b?c", '"/x'])
def test_an_address_that_is_none_is_refused(monkeypatch, address):
    import book

    monkeypatch.setenv("COURSE_REPOSITORY", address)
    with pytest.raises(ValueError, match="owner/name"):
        book._launch_buttons("chapters/01-tokenization")


def test_launch_buttons_only_with_an_address(monkeypatch):
    import book

    monkeypatch.delenv("COURSE_REPOSITORY", raising=False)
    assert book._launch_buttons("chapters/01-tokenization") == []
    monkeypatch.setenv("COURSE_REPOSITORY", "owner/name")
    assert book._launch_buttons("chapters/glossary") == []  # nothing to run there
    (binder,) = book._launch_buttons("chapters/01-tokenization")
    assert binder["url"].endswith("owner/name/main?urlpath=lab/tree/chapters/01-tokenization.ipynb")


def test_a_published_book_offers_its_pdf_and_zip(monkeypatch):
    import book

    monkeypatch.delenv("COURSE_REPOSITORY", raising=False)
    assert book._downloads() == []
    monkeypatch.setenv("COURSE_REPOSITORY", "Owner/name")
    workflow = (Path(EXTENSIONS).parent / ".github/workflows/course.yml").read_text()
    for file in book._downloads():
        address, _, name = file["url"].rpartition("/")
        assert address == "https://owner.github.io/name"
        assert re.search(rf"cp .*_build/{re.escape(name)}.* _build/html", workflow)


def test_the_container_uses_files_that_are_there():
    root = Path(EXTENSIONS).parent
    container = json.loads((root / ".devcontainer/devcontainer.json").read_text())
    used = re.findall(r"\.binder/[\w.]+", container["postCreateCommand"])
    assert len(used) == 2 and all((root / file).is_file() for file in used)


@pytest.mark.parametrize(
    "latex, text",
    [
        (r"\sqrt{d_k}", "√d_k"),
        (r"Q K^\top", "Q Kᵀ"),
        (r"n \times d_\text{model}", "n × d_model"),
        (r"\sigma^2", "σ^2"),
    ],
)
def test_a_formula_where_no_formula_can_stand(latex, text):
    from book import readable

    assert readable(latex) == text


def test_one_stylesheet_holds_what_pages_use_and_all_of_the_books_own(tmp_path):
    from weight import OWN, build_stylesheet

    assert "book.css" not in OWN  # what is made has no source of its name
    (tmp_path / "index.html").write_text('<p class="used">the word unused is no class</p>')
    (tmp_path / "_static" / "theme").mkdir(parents=True)
    (tmp_path / "_static" / "late.js").write_text('part.className = "made";')
    (tmp_path / "_static" / "theme" / "theme.css").write_text(
        ".used, .unused { color: red } .made { color: green } .unused > p { color: blue }"
        '.used { background: url("dot.svg") } .used::after { content: url(data:,) }'
        'html[data-theme="dark"] p { color: white } @media all { .unused { top: 0 } }'
        ".used:has(p), .used > .made { left: 0 } .made:not(:has(.used)) { right: 0 }"
    )
    (tmp_path / "_static" / "own.css").write_text(".later {\n  color: red;\n}\n")
    build_stylesheet(tmp_path / "_static", tmp_path, ["theme/theme.css", "+own.css"])
    text = (tmp_path / "_static" / "book.css").read_text()
    assert "unused" not in text and "@media" not in text and ":has(" not in text
    assert ".used>.made{left:0}" in text
    for kept in (".used{color:red}", ".made{", "[data-theme=dark] p", ".later{color:red}"):
        assert kept in text, text
    assert "url(theme/dot.svg)" in text and "url(data:,)" in text


def test_pictures_get_lighter_and_stay_the_same_to_the_eye(tmp_path):
    from weight import lighten_pictures

    (tmp_path / "_images").mkdir()
    picture = Image.new("RGB", (97, 53), "white")
    ImageDraw.Draw(picture).rectangle((11, 7, 61, 41), fill=(31, 59, 115))
    picture.save(tmp_path / "_images" / "figure.png")
    lighten_pictures(tmp_path)
    (only,) = (tmp_path / "_images").iterdir()
    lighter = Image.open(only).convert("RGB")
    assert only.name == "figure.webp"
    assert lighter.size == (97, 53)
    assert lighter.getpixel((30, 20)) == (31, 59, 115)
    assert lighter.getpixel((90, 50)) == (255, 255, 255)


def test_a_docstring_becomes_sections():
    from api import described

    parts = [
        part.astext()
        for part in described(
            "Sum it.\n\nParameters\n----------\nx : array (n,)\n    The `numbers`.\n\n"
            "Raises\n------\nTypeError\n    If not.\n\nNotes\n-----\nQuick."
        )
    ]
    assert parts == ["Sum it.", "Parameters", "x, array (n,): The numbers.", "Raises",
                     "TypeError: If not.", "Notes", "Quick."]  # fmt: skip
    (table,) = described("=== ====\na   one\nbc  two\n=== ====")
    assert [item.astext() for item in table] == ["a: one", "bc: two"]


def test_a_signature_names_functions_without_their_address():
    from api import signature

    def call(x, activation=len, choose=test_a_docstring_becomes_sections, kind=int):
        pass

    assert "0x" not in signature(call, "call")
    assert "choose=test_a_docstring_becomes_sections, kind=int" in signature(call, "call")


@pytest.mark.skipif(os.name != "posix", reason="elsewhere KaTeX is asked over a port")
def test_katex_may_take_its_time(tmp_path, monkeypatch):
    """The socket's file is there before anybody listens; asking again is no wait per formula."""
    import book

    late = tmp_path / "late.py"
    late.write_text(
        "import socket, sys, time\n"
        "server = socket.socket(socket.AF_UNIX)\n"
        "server.bind(sys.argv[1])\n"
        "time.sleep(0.5)\n"
        "server.listen()\n"
        "server.accept()[0].sendall(b'here')\n"
    )
    server = book.katex.KaTeXServer
    monkeypatch.setattr(server, "build_command", lambda socket: [sys.executable, late, socket])
    deep = tmp_path / ("d" * 120)  # a socket's address holds 104 bytes
    deep.mkdir()
    process, sock = book.start_katex(server, deep, timeout=30)
    with process, sock:
        assert sock.recv(4) == b"here"
        process.communicate()
    monkeypatch.setattr(server, "build_command", lambda socket: [sys.executable, "-c", ""])
    (tmp_path / "nobody").mkdir()
    with pytest.raises(book.katex.KaTeXError, match="did not came up"):
        book.start_katex(server, tmp_path / "nobody", timeout=0.1)


def test_a_drawing_on_a_page_and_what_it_cannot_draw():
    from docutils.core import publish_string
    from docutils.parsers.rst import directives
    from drawing import Draw

    from mhalib.drawings import here

    directives.register_directive("drawing", Draw)

    def page(text):
        quiet = {"report_level": 5, "halt_level": 5, "output_encoding": "unicode"}
        return publish_string(text, writer_name="html5", settings_overrides=quiet)

    assert here(3)._repr_html_() in page(".. drawing:: here\n\n   lesson: 3\n")
    loud = {"report_level": 5, "halt_level": 3, "traceback": True}
    for text in (".. drawing:: here\n\n   lesson: 9\n", ".. drawing:: nothing\n"):
        with pytest.raises(Exception, match="lesson must be one of|no attribute 'nothing'"):
            publish_string(text, writer_name="html5", settings_overrides=loud)


def test_a_build_in_which_nothing_was_out_of_date_keeps_the_stylesheet(tmp_path):
    from weight import one_stylesheet

    sheet = tmp_path / "_static" / "book.css"
    sheet.parent.mkdir()
    sheet.write_text("p{margin:0}")  # of the build before; Sphinx copies no sheet for this one
    one_stylesheet(SimpleNamespace(outdir=tmp_path))
    assert sheet.read_text() == "p{margin:0}"
