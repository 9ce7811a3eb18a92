"""The quizzes: what the build refuses, what a page holds, and how a question is answered."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup

EXTENSIONS = str(Path(__file__).parents[2] / "_ext")
LESSONS = [*range(9), "5b", "6b", "6c"]
GOOD = ("1. $n$", "2. $n^2$", "1. Wrong. It meets itself, too.", "2. Right. $n$ meet $n$.")


def source(options=GOOD[:2], reasons=GOOD[2:], question="How many scores?", number=1):
    fold = ["<details><summary>Answers</summary>", "", *reasons, "", "</details>"]
    return "\n".join([f"**Question {number}.** {question}", "", *options, "", *fold, ""])


SEVERAL = source(
    ["1. one", "2. two", "3. three"],
    ["1. Wrong. One.", "2. Right. Two.", "3. Right. Three."],
    "Which are prime?",
)
BAD = {
    "needs at least two options": source(options=["1. $n$"], reasons=GOOD[3:]),
    'none of its reasons begins with "Right."': source(reasons=["1. Wrong. So.", "2. Wrong. So."]),
    "has 2 options and 1 reasons": source(reasons=GOOD[2:3]),
    "option 1 has a verdict and no reason": source(reasons=["1. Wrong.", "2. Right. So."]),
    'reason 1 must begin with "Right." or "Wrong."': source(
        reasons=["1. No. So.", "2. Right. So."]
    ),
    "option 1 must be one paragraph": source(options=["1. $n$", "", "   more", "", "2. $n^2$"]),
    "needs a text, a numbered list of options and one of reasons": source(reasons=[]),
    "needs a question before its options": source(question=""),
    "is called question 1": source(),
}
BAD = {
    why: text.replace("Question 1", f"Question {i}") if i < len(BAD) else text
    for i, (why, text) in enumerate(BAD.items(), 1)
}


@pytest.fixture(scope="module")
def small_book(tmp_path_factory):
    """Build pages with bad questions, good ones, none. Return the folder and the run."""
    folder = tmp_path_factory.mktemp("small_book")
    (folder / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {EXTENSIONS!r})\n"
        "extensions = ['myst_parser', 'quiz']\n"
        "myst_enable_extensions = ['colon_fence', 'dollarmath']\n"
    )
    toctree = "```{toctree}\nbad\nseveral\nnone\n```\n\n"
    (folder / "index.md").write_text(f"# Good\n\n{toctree}{source()}")
    (folder / "bad.md").write_text("# Bad\n\n" + "\n".join(BAD.values()))
    (folder / "several.md").write_text(f"# Several\n\n{SEVERAL}")
    (folder / "none.md").write_text("# None\n")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "--no-color"]
    command += [folder, folder / "html"]
    return folder, subprocess.run(command, capture_output=True, text=True)


def test_a_bad_question_fails_the_build_and_names_its_place(small_book):
    folder, run = small_book
    assert run.returncode == 1
    told = re.findall(r"bad\.md:(\d+): ERROR: (question \d of bad): (.*)", run.stderr)
    lines = (folder / "bad.md").read_text().split("\n")
    places = [i for i, line in enumerate(lines, 1) if line.startswith("**Question")]
    assert [(int(line), question) for line, question, _ in told] == [
        (place, f"question {i} of bad") for i, place in enumerate(places, 1)
    ]
    assert all(why.startswith(reason) for reason, (*_, why) in zip(BAD, told, strict=True))


def test_a_good_question_is_built_without_a_complaint(small_book):
    folder, run = small_book
    assert "index.md" not in run.stderr
    assert 'class="quiz"' in (folder / "html" / "index.html").read_text("utf-8")
    for name, loads in (("index", True), ("none", False)):
        assert ("quiz.js" in (folder / "html" / f"{name}.html").read_text("utf-8")) == loads


def lesson(site, number):
    (page,) = (site / "chapters").glob(f"0{number}-*.html")
    return page, BeautifulSoup(page.read_text("utf-8"), "html.parser")


@pytest.mark.parametrize("number", LESSONS)
def test_each_lesson_has_its_questions_with_a_reason_for_each_option(site, number):
    page, soup = lesson(site, number)
    questions = soup.select("section#quiz > .quiz")
    assert 3 <= len(questions) <= 6
    assert page.read_text("utf-8").count("/quiz.js") == 1
    names = []
    for question in questions:
        inputs = question.select("fieldset > ol > li > label > input")
        verdicts = question.select("details > ol > li > strong:first-child")
        assert len(inputs) == len(verdicts) == len(question.select("details li")) >= 2
        right = [verdict["class"] == ["quiz-right"] for verdict in verdicts]
        for verdict, is_right in zip(verdicts, right, strict=True):
            assert verdict.get_text() == ("✓ Right." if is_right else "✗ Wrong.")
            assert len(verdict.parent.get_text().split()) > 5
        kind = "checkbox" if sum(right) > 1 else "radio"
        assert {field["type"] for field in inputs} == {kind}
        assert ("Choose all" in question.legend.get_text()) == (kind == "checkbox")
        assert not question.select("legend a, label a")
        names += {field["name"] for field in inputs}
    assert len(names) == len(set(names)) == len(questions)


def test_only_pages_with_a_quiz_load_its_script(site, pages):
    for name in pages:
        text = (site / name).read_text("utf-8")
        assert ('class="quiz"' in text) == ("quiz.js" in text), name


@pytest.mark.parametrize("protocol", ["http", "file"])
def test_a_question_is_answered_with_the_keyboard_alone(protocol, site, server, reader):
    address = server if protocol == "http" else site.as_uri()
    page, complaints = reader(address)
    requests = []
    page.goto(f"{address}/{lesson(site, 8)[0].relative_to(site)}")
    page.wait_for_selector("html[data-ready]")
    page.on("request", lambda request: requests.append(request.url))
    stored = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
    before = page.evaluate(stored)
    quiz = page.locator(".quiz").nth(1)  # one right answer, the first
    told, marks = quiz.get_by_role("status"), quiz.locator("label > strong")
    choices, check = quiz.get_by_role("radio"), quiz.get_by_role("button", name="Check")

    choices.first.focus()
    page.keyboard.press("Tab")
    assert check.evaluate("el => getComputedStyle(el).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert told.inner_text() == "Choose an answer first."

    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")  # chooses, and reveals nothing yet
    assert told.inner_text() == ""
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert told.inner_text().startswith("✗ Wrong. It makes sense, too much of it")
    assert marks.all_inner_texts() == ["", "✗ wrong", ""]

    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowUp")  # another try
    assert told.inner_text() == ""
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert told.inner_text().startswith("✓ Right. Row")
    assert marks.all_inner_texts() == ["✓ right", "✗ wrong", ""]

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Start again
    assert told.inner_text() == ""
    assert marks.all_inner_texts() == ["", "", ""]
    assert choices.first.evaluate("el => el === document.activeElement && !el.checked")
    assert quiz.get_by_role("radio", checked=True).count() == 0
    assert complaints == []
    late = ("/_images/", "favicon")  # the page's own pictures, as they come into view
    assert [url for url in requests if not any(name in url for name in late)] == []
    assert page.evaluate(stored) == before


def test_several_right_answers(small_book, reader):
    address = (small_book[0] / "html").as_uri()
    page, complaints = reader(address)
    page.goto(f"{address}/several.html")
    quiz = page.locator(".quiz")
    told, check = quiz.get_by_role("status"), quiz.get_by_role("button", name="Check")
    first, second, third = quiz.get_by_role("checkbox").all()
    second.check()
    check.click()
    assert told.inner_text() == "Right, but not all of them.\n\n2. ✓ Right. Two."
    first.check()
    check.click()
    assert told.inner_text().startswith("Not all of these are right.\n\n1. ✗ Wrong. One.")
    first.uncheck()
    third.check()
    check.click()
    assert told.inner_text() == "All found.\n\n2. ✓ Right. Two.\n\n3. ✓ Right. Three."
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_an_answered_quiz(scheme, site, server, reader):
    page, _ = reader(server, color_scheme=scheme)
    page.goto(f"{server}/{lesson(site, 1)[0].relative_to(site)}")
    for quiz in page.locator(".quiz").all():
        quiz.locator("input").first.check()
        quiz.get_by_role("button", name="Check").click()
        quiz.locator("summary").click()
    result = Axe().run(page, context=".quiz")
    assert result.violations_count == 0, result.generate_report()
    ids = page.locator("[id]").evaluate_all("all => all.map((el) => el.id)")
    assert len(ids) == len(set(ids))


def test_without_script_and_on_paper_the_reasons_can_be_read(site, server, reader):
    address = f"{server}/{lesson(site, 8)[0].relative_to(site)}"
    page, _ = reader(server, java_script_enabled=False)
    page.goto(address)
    quiz = page.locator(".quiz").first
    assert quiz.locator("button").count() == 0
    assert not quiz.locator("details li").first.is_visible()
    quiz.locator("summary").click()
    assert quiz.locator("details li").first.is_visible()

    page, _ = reader(server)
    page.goto(address)
    page.emulate_media(media="print")
    quiz = page.locator(".quiz").first
    assert quiz.locator("details li").first.bounding_box()["height"] > 10
    assert not quiz.get_by_role("button", name="Check").is_visible()
