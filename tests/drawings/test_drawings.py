"""The drawings: true to their data, readable, whole in themselves."""

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from gallery import gallery

from mhalib import colours, drawings, load_tokenizer, top_k_filter, top_p_filter
from mhalib.drawings.canvas import NAMES, WIDEST, Panel

ROOT = Path(__file__).parents[2]
GALLERY = gallery()


@pytest.fixture(params=GALLERY)
def drawing(request):
    return GALLERY[request.param]


def figure(drawing):
    return ElementTree.fromstring(drawing._repr_html_())


# ------------------------------------------------------------------------------- all of them
def test_it_is_whole_in_itself(drawing):
    html = drawing._repr_html_()
    assert html == drawing._repr_html_()
    root = figure(drawing)
    assert root.tag == "figure"
    assert not [e for e in root.iter() if "id" in e.attrib or e.tag in ("script", "image", "use")]
    assert not re.search(r"url\(|https?:|@import|NaN|inf\b|None", html)
    known = {f"var(--{name})" for name in NAMES}
    used = {e.get(key) for e in root.iter() for key in ("fill", "stroke")} - {None, "none"}
    assert used <= known


def test_it_is_said_in_words(drawing):
    pictures = figure(drawing).findall(".//svg")
    assert len(pictures) == len(drawing.panels) > 0
    assert len(drawing.alt) > 40
    assert pictures[0].get("aria-label") == drawing.alt
    assert all(p.get("role") == "img" and len(p.get("aria-label")) > 3 for p in pictures)
    assert all(p.find("title").text for p in pictures)


def test_it_is_readable_on_a_phone(drawing):
    for panel in drawing.panels:
        assert panel.width <= WIDEST <= 328  # of the text's column at 360 pixels: never scaled
    sizes = [float(e.get("font-size")) for e in figure(drawing).iter() if e.get("font-size")]
    assert min(sizes) >= 12


def test_no_text_lies_on_another_or_leaves_its_panel(drawing):
    for panel in drawing.panels:
        for box in panel.labels:
            assert 0 <= box.left and box.right <= panel.width, (box, panel.width)
            assert 0 <= box.top and box.bottom <= panel.height, (box, panel.height)
        for a, b in combinations(panel.labels, 2):
            beside = a.right <= b.left or b.right <= a.left
            above = a.bottom <= b.top or b.bottom <= a.top
            assert beside or above, (a, b)


def test_bad_panels_are_refused():
    with pytest.raises(ValueError, match="width must lie in 0 … 320 .* got 321"):
        Panel(321, 10)
    with pytest.raises(ValueError, match="size must be at least 12 .* got 11"):
        Panel(100, 10).text(0, 0, "small", size=11)


# --------------------------------------------------------------------------------- colours
def luminance(colour):
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear, linear @ [0.2126, 0.7152, 0.0722]


def contrast(a, b):
    low, high = sorted((luminance(a)[1], luminance(b)[1]))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    "theme, papers", [(0, ("#ffffff", "#fbfaf7")), (1, ("#15181d", "#181c23"))]
)
def test_colours_stand_out_from_the_paper(theme, papers):
    least = {"edge": 3.0, "plus": 2.9, "minus": 2.9, "road": 0, "paper": 0}  # text needs 4.5
    for name, pair in NAMES.items():
        for paper in papers:
            assert contrast(pair[theme], paper) >= least.get(name, 4.5), (name, paper)


# Machado, Oliveira, Fernandes (2009): full protan-, deuter- and tritanopia.
SEEN = {
    "all": "1 0 0 0 1 0 0 0 1",
    "no red": "0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998",
    "no green": "0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.01182 0.04294 0.968881",
    "no blue": "1.255528 -0.076749 -0.178779 -0.078411 0.930809 0.147602 0.004733 0.691367 0.3039",
}
XYZ = np.array([[0.4339, 0.3762, 0.1899], [0.2127, 0.7152, 0.0722], [0.0178, 0.1095, 0.8727]])


def cielab(linear):
    x, y, z = np.cbrt(np.clip(XYZ @ np.clip(linear, 0, 1), 1e-4, 1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("eye", SEEN)
def test_relations_differ_for_every_eye(theme, eye):
    points = {
        name: cielab(np.array(SEEN[eye].split(), float).reshape(3, 3) @ luminance(pair[theme])[0])
        for name, pair in colours.RELATIONS.items()
    }
    for a, b in combinations(points, 2):
        assert np.linalg.norm(points[a] - points[b]) > 19.5, (a, b)


def test_every_relation_has_a_colour():
    from mhalib.language import RELATIONS

    assert tuple(colours.RELATIONS) == RELATIONS


def test_the_site_has_the_same_colours_of_dimensions():
    css = (ROOT / "_static" / "every-page.css").read_text("utf-8")
    light, dark = css.index(":root {"), css.index('html[data-theme="dark"] {')
    for name, pair in colours.DIMENSIONS.items():
        for start, colour in zip((light, dark), pair):
            rules = css[start : css.index("}", start)]
            assert f"--c-{name}: {colour};" in rules, (name, colour)


# ----------------------------------------------------------------------------- one by one
def paths(drawing, stroke):
    return [e for e in figure(drawing).iter("path") if e.get("stroke") == f"var(--{stroke})"]


def test_an_arc_is_as_wide_as_its_weight():
    tokens, row = ["I", " like", " bats", " now"], [0.5, 0.25, 0.25, 0.0]
    drawing = drawings.arcs(tokens, row, 2)
    widths = [float(path.get("stroke-width")) for path in paths(drawing, "accent")]
    assert widths == [7.0, 3.5, 3.5]
    assert drawing.alt.startswith("“bats” takes 0.50 from “I”; 0.25 from “like”")
    with pytest.raises(ValueError, match=r"weights must have shape \(4,\), got \(3,\)"):
        drawings.arcs(tokens, row[:3], 2)
    with pytest.raises(ValueError, match="query must lie in 0 … 3, got 4"):
        drawings.arcs(tokens, row, 4)


def test_the_map_marks_the_lesson():
    marks = {
        lesson: [
            e
            for e in figure(drawings.here(lesson)).iter("rect")
            if e.get("fill") == "var(--accent)"
        ]
        for lesson in range(9)
    }
    assert [len(found) for found in marks.values()] == [0] + 8 * [1]
    # lesson 4 lies inside 3, and 3 inside 5
    inner, middle, outer = (
        [float(marks[lesson][0].get(key)) for key in ("x", "y", "width", "height")]
        for lesson in (4, 3, 5)
    )
    for small, large in ((inner, middle), (middle, outer)):
        assert large[0] < small[0] and small[0] + small[2] < large[0] + large[2]
        assert large[1] < small[1] and small[1] + small[3] < large[1] + large[3]
    with pytest.raises(ValueError, match="lesson must be one of 0 … 8, got 9"):
        drawings.here(9)


def test_a_heads_rectangles_have_its_shapes():
    panels = figure(GALLERY["head"]).findall(".//svg")
    n, d_k, d_model = 13, 16, 64
    sizes = [
        {(float(r.get("width")), float(r.get("height"))) for r in panel.iter("rect")}
        for panel in panels
    ]
    two = {(2.0 * w, 2.0 * h) for w, h in ((d_model, n), (d_k, d_model), (d_k, n))}
    assert sizes[0] == two
    assert sizes[1] == {(5.5 * w, 5.5 * h) for w, h in ((d_k, n), (n, d_k), (n, n))}
    assert sizes[2] == {(5.5 * n, 5.5 * n)}
    assert sizes[3] == {(5.5 * w, 5.5 * h) for w, h in ((n, n), (d_k, n))}


def test_arcs_of_relations_follow_the_grammar():
    found = figure(GALLERY["relations"])
    drawn = [e.get("stroke") for e in found.iter("path") if e.get("stroke-width") == "2"]
    count = {name: drawn.count(f"var(--rel-{name})") for name in colours.RELATIONS}
    assert count == {
        "topic": 1, "agreement": 1, "coreference": 3, "recall": 2, "list": 3, "both": 2
    }  # fmt: skip
    assert "“key” decides “is” (agreement)" in GALLERY["relations"].alt


def texts(panel):
    return ["".join(e.itertext()).replace("\u200b", "") for e in panel.iter("text")]


def test_the_trap_shows_what_a_bare_reshape_reads():
    _, right, wrong = (texts(p)[2:] for p in figure(drawings.reshape_trap()).findall(".//svg"))
    first = [int(t) for t in right[:12:2]]
    assert first == [0, 1, 2, 3, 4, 5]
    assert [int(t) for t in wrong[:12:2]] == [0, 0, 1, 1, 2, 2]  # the known mistake's tokens
    assert "reads the tokens 0, 0, 1, 1, 2, 2" in drawings.reshape_trap().alt


@pytest.mark.parametrize("n_heads, d_v", [(4, 16), (2, 8), (8, 8)])
def test_blocks_of_heads_have_their_shapes(n_heads, d_v):
    one, many = figure(drawings.output_blocks(13, n_heads, d_v, 64)).findall(".//svg")
    side = min(112 / 64, 112 / (n_heads * d_v))
    for panel in (one, many):
        for head in range(n_heads):
            sizes = {
                (float(r.get("width")), float(r.get("height")))
                for r in panel.iter("rect")
                if r.get("stroke") == f"var(--head-{head})"
            }
            assert (round(side * d_v, 1), round(side * 13, 1)) in sizes
            assert (round(side * 64, 1), round(side * d_v, 1)) in sizes
    for drawing in (
        drawings.output_blocks(13, n_heads, d_v),
        drawings.split_merge(13, n_heads, d_v),
    ):
        test_no_text_lies_on_another_or_leaves_its_panel(drawing)
    with pytest.raises(ValueError, match="n_heads must be at most 8, got 9"):
        drawings.split_merge(13, 9)


def test_the_stream_is_interrupted_by_post_norm_only():
    """On the road stand the sums, and the norms of one of the two."""
    for panel, on_the_road in zip(figure(drawings.block()).findall(".//svg"), (2, 0)):
        road = next(r for r in panel.iter("rect") if r.get("fill") == "var(--road)")
        middle = float(road.get("x")) + float(road.get("width")) / 2
        boxes = [r for r in panel.iter("rect") if r.get("fill") == "var(--paper)"]
        over = [
            float(r.get("x")) < middle < float(r.get("x")) + float(r.get("width")) for r in boxes
        ]
        assert sum(over) == on_the_road
        assert texts(panel).count("norm") == 2
        assert {float(c.get("cx")) for c in panel.iter("circle")} == {middle}


def test_induction_draws_the_two_weights():
    lower, upper = np.eye(4), np.eye(4)
    lower[2] = [0.0, 0.75, 0.25, 0.0]
    upper[3] = [0.0, 0.0, 0.5, 0.5]
    drawing = drawings.induction(["Say", " red", " blue", " red"], lower, upper, 3)
    assert [float(p.get("stroke-width")) for p in paths(drawing, "head-0")] == [9.0]
    assert [float(p.get("stroke-width")) for p in paths(drawing, "head-1")] == [6.0]
    assert "“blue” takes 0.75 from “red”" in drawing.alt
    with pytest.raises(ValueError, match=r"lower must have shape \(4, 4\), got \(3, 3\)"):
        drawings.induction(["a", "b", "c", "d"], np.eye(3), upper, 3)


def test_a_road_follows_the_weights_back():
    lower, upper = np.eye(3), np.eye(3)
    lower[1] = [0.6, 0.4, 0]
    upper[2] = [0, 0.5, 0.5]
    drawing = drawings.road(["a", "b", "c"], [lower, upper], 2)
    told = drawing.alt.partition(": ")[2].split("; ")
    assert told == [
        "layer 0: “c” to “c” 1.00", "layer 0: “b” to “b” 0.40", "layer 0: “a” to “b” 0.60",
        "layer 1: “c” to “c” 0.50", "layer 1: “b” to “c” 0.50.",
    ]  # fmt: skip
    assert [float(p.get("stroke-width")) for p in paths(drawing, "head-1")] == [6.0, 6.0]
    assert len(paths(drawings.road(["a", "b", "c"], [lower, upper], 2, least=0.55), "head-0")) == 1


def test_each_attention_of_the_paper_has_its_cells():
    panel = figure(drawings.encoder_decoder(5, 4)).find(".//svg")
    cells = [r for r in panel.iter("rect") if r.get("fill-opacity")]
    count = {c: sum(r.get("fill") == f"var(--{c})" for r in cells) for c in "kqv"}
    assert count == {"k": 5 * 5, "q": 4 * 5 // 2, "v": 4 * 5}


def test_clock_hands_are_the_encoding():
    fast, slow = figure(drawings.clock_hands(64, (0, 8), 6)).findall(".//svg")
    for panel, pair in ((fast, 0), (slow, 8)):
        centres = [(float(c.get("cx")), float(c.get("cy"))) for c in panel.iter("circle")]
        tips = [e.get("d") for e in panel.iter("path") if e.get("fill") == "var(--accent)"]
        for position, ((cx, cy), d) in enumerate(zip(centres, tips)):
            x, y = map(float, d[1:].split("L")[0].split())
            angle = np.arctan2(x - cx, cy - y)  # clockwise from upright
            turn = position * 10000 ** (-2 * pair / 64)
            assert np.isclose(np.cos(angle - turn), 1, atol=1e-4), (pair, position)
    assert len(centres) == 6
    with pytest.raises(ValueError, match="pairs must lie in 0 … 31, got 32"):
        drawings.clock_hands(64, (32,))


@pytest.mark.parametrize("word", [" cats", " baseball", "bats", "é", "x", " Anna"])
def test_a_merge_tree_is_what_the_tokenizer_does(word):
    tokenizer = load_tokenizer()
    drawing = drawings.merge_tree(tokenizer, word)
    ids = tokenizer.encode(word)
    assert f"{len(word.encode())} bytes become {len(ids)} token" in drawing.caption
    steps = len(list(tokenizer.merge_steps(word))) - 1
    assert drawing.alt.count(" makes ") == steps
    for pieces in tokenizer.merge_steps(word):  # at the bottom bytes, at a joint the new id
        assert set(map(str, pieces)) <= {t.text for t in figure(drawing).iter("text")}
    boxes = list(figure(drawing).iter("rect"))
    assert sum(b.get("stroke") == "var(--accent)" for b in boxes) == len(ids)
    test_no_text_lies_on_another_or_leaves_its_panel(drawing)
    with pytest.raises(ValueError, match="word must have 1 to 10 bytes, got 0"):
        drawings.merge_tree(tokenizer, "")


@pytest.mark.parametrize("token_id", [0, 5, 566])
def test_one_hot_has_one_one(token_id):
    E = np.random.default_rng(0).normal(size=(567, 64))
    drawing = drawings.one_hot(E, token_id, "bats")
    (panel,) = drawing.panels
    assert [box.words for box in panel.labels].count("1") == 1
    assert sum(r.get("fill") == "var(--accent)" for r in figure(drawing).iter("rect")) == 1
    test_no_text_lies_on_another_or_leaves_its_panel(drawing)
    with pytest.raises(ValueError, match="token_id must lie in 0 … 566, got 567"):
        drawings.one_hot(E, 567)


def test_scores_spread_with_the_root_of_d_k():
    alt = GALLERY["histograms"].alt
    found = {
        int(d): (float(spread), float(weight))
        for d, spread, weight in re.findall(
            r"d_k = (\d+): spread ([\d.]+), .* ([\d.]+)(?:;|\.$)", alt.replace("; ", ";\n")
        )
    }
    assert found.keys() == {4, 64, 1024}
    for d, (spread, _) in found.items():
        assert np.isclose(spread, d**0.5, rtol=0.1)
    assert found[4][1] < 0.7 < found[64][1] <= found[1024][1]


def test_of_the_cache_one_row_is_new():
    for panel, size in zip(figure(drawings.cache(6)).findall(".//svg"), (5, 6)):
        cells = [r for r in panel.iter("rect") if r.get("fill-opacity")]
        new = [r for r in cells if r.get("fill") == "var(--q)"]
        assert len(new) == size and len({r.get("y") for r in new}) == 1
        assert len(cells) == size * (size + 1) // 2


def test_a_label_is_the_next_token():
    drawing = drawings.shifted_labels(["a", "b", "c", "d"])
    assert drawing.alt == "“a” has the label “b”; “b” has the label “c”; “c” has the label “d”."
    cells = [r for r in figure(drawing).iter("rect") if r.get("fill") == "var(--k)"]
    assert len(cells) == 1 + 2 + 3


def test_cuts_keep_what_the_library_keeps():
    shares = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}
    logits = np.log(list(shares.values()))
    for k, p in ((1, 0.3), (2, 0.7), (3, 0.65), (4, 0.95), (9, 1.0)):
        circles = list(figure(drawings.cuts({"x": shares}, k, p)).iter("circle"))
        kept = {c: sum(e.get("fill") == f"var(--{c})" for e in circles) for c in "qv"}
        assert kept["q"] == np.isfinite(top_k_filter(logits, min(k, 4))).sum()
        assert kept["v"] == np.isfinite(top_p_filter(logits, p)).sum(), p


def test_a_ladder_is_true_to_its_losses():
    rungs = {"first": 4.0, "second": (1.0, 2.0), "third": 0.8}
    drawing = drawings.ladder(rungs, best=0.5)
    bars = [float(r.get("width")) for r in figure(drawing).iter("rect")]
    assert np.allclose(bars, [256, 64, 64, 51.2], atol=0.1)
    assert "second: 1.00–2.00" in drawing.alt and "best possible is 0.50" in drawing.alt
    half = drawings.ladder(rungs, best=0.5, until="second")
    assert [float(r.get("width")) for r in figure(half).iter("rect")] == bars[:3]
    with pytest.raises(ValueError, match="third must be at least best = 0.9"):
        drawings.ladder(rungs, best=0.9)
    with pytest.raises(ValueError, match="until must be one of first, second, third; got 'none'"):
        drawings.ladder(rungs, best=0.5, until="none")
