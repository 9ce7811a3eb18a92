"""What the page tests of the widgets share: waiting, and the field of the sentence."""

from playwright.sync_api import expect

expect.set_options(timeout=60_000)
LONG = " ".join(["bats cave"] * 16)  # 32 tokens


def ready(page):
    """Wait for the live widgets, and for the losses by relation if they have them."""
    page.mouse.move(1, 1)  # a reader's first sign
    for figure in reversed(page.locator("figure[data-live]").all()):
        figure.scroll_into_view_if_needed()  # they come alive when they come near
        figure.locator(".mhalib-live > *").nth(1).wait_for()
    expect(page.get_by_text("measuring …", exact=True)).to_have_count(0)
    return page


def typed(page):
    return page.get_by_label("your sentence").or_(page.get_by_label("your text")).first


def read_out(page):
    """What is said of the chosen item: the readout, or what an older widget speaks at once."""
    return page.locator("figure :is(.mh-readout, [aria-live=polite])").all_inner_texts()


def choose(page, name, value):
    """Choose a value by its segment."""
    page.locator(f"[name^=mh-{name}-][value='{value}']").first.check()


def overlaps(page):
    """Pairs of words in the pictures that lie over each other; slanted ones do not count."""
    return page.evaluate(
        """() => {
            const shown = [...document.querySelectorAll("figure.mhalib-widget .mh-plane text")]
                .filter((e) => e.textContent && !e.getAttribute("transform"))
                .map((e) => [e.textContent, e.getBoundingClientRect()]);
            const cross = ([, p], [, q]) =>
                Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1 &&
                Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 3;
            return shown.flatMap((a, i) =>
                shown.slice(i + 1).filter((b) => cross(a, b)).map((b) => [a[0], b[0]]));
        }"""
    )


def texts(found):
    """What all of `found` say, when the first of them is there: tables are drawn a frame later."""
    found.first.wait_for()
    return found.all_inner_texts()
