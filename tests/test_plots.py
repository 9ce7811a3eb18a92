"""The figures show the numbers they are given, in their places, masked cells as masked."""

import builtins
import importlib
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from mhalib import plots
from mhalib.colours import RELATIONS

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def written(ax):
    return {text.get_position(): text.get_text() for text in ax.texts}


def test_heatmap_writes_each_value_in_its_cell():
    A = np.array([[0.25, 0.5, 0.0], [1.0, 0.125, 0.75]])
    ax = plots.heatmap(A, ["a", "b"], ["x", "y", "z"], decimals=3)
    expected = {(j, i): f"{A[i, j]:.3f}" for i in range(2) for j in range(3)}
    assert written(ax) == expected
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x", "y", "z"]


def test_heatmap_hatches_masked_cells_and_writes_nothing_there():
    mask = np.array([[True, False, False], [True, True, False]])
    ax = plots.heatmap(np.full((2, 3), np.nan), mask=mask)
    assert not written(ax)  # NaN is not written, masked or not
    ax = plots.heatmap([[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]], mask=mask)
    assert set(written(ax)) == {(0, 0), (0, 1), (1, 1)}
    hatched = {(p.get_x() + 0.5, p.get_y() + 0.5) for p in ax.patches if p.get_hatch()}
    assert hatched == {(1, 0), (2, 0), (2, 1)}


def test_heatmap_puts_zero_in_the_middle_when_signs_differ():
    image = plots.heatmap([[-1.0, 3.0]]).images[0]
    assert (image.norm.vmin, image.norm.vmax) == (-3.0, 3.0)
    image = plots.heatmap([[1.0, 3.0]]).images[0]
    assert (image.norm.vmin, image.norm.vmax) == (0.0, 3.0)


def test_both_colour_maps_can_be_read_in_greyscale():
    for name in (plots.SHARES, plots.SIGNED):
        red, green, blue, _ = plt.get_cmap(name)(np.linspace(0, 1, 11)).T
        steps = np.diff(0.299 * red + 0.587 * green + 0.114 * blue)
        assert (steps > 0).all() or (steps < 0).all(), name


def test_series_differ_in_more_than_colour():
    ax = plots.lines([1, 2, 3], {"a": [1, 2, 3], "b": [3, 2, 1]}, references={"optimum": 0.5})
    a, b, optimum = ax.get_lines()
    np.testing.assert_array_equal(b.get_ydata(), [3, 2, 1])
    assert a.get_linestyle() != b.get_linestyle() and a.get_marker() != b.get_marker()
    assert optimum.get_ydata()[0] == 0.5
    ax = plots.bars(["x", "y"], {"a": [1, 2], "b": [3, 4]}, decimals=1)
    assert [bar.get_width() for bar in ax.patches] == [1, 2, 3, 4]
    assert ax.patches[0].get_hatch() != ax.patches[2].get_hatch()
    assert [text.get_text() for text in ax.texts] == ["1.0", "2.0", "3.0", "4.0"]


def test_scatter_words_writes_each_word_at_its_point():
    points = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    ax = plots.scatter_words(points, ["a", "b", "c"], groups=["g", "k", "g"], strong={"b"})
    assert {t.get_text(): t.xy for t in ax.texts} == {"a": (0, 1), "b": (2, 3), "c": (4, 5)}
    assert [t.get_weight() for t in ax.texts] == ["normal", "bold", "normal"]


def test_text_stands_out_from_the_white_ground():
    for colour in (plots.INK, plots.QUIET, *plots.COLOURS):
        channels = np.array(to_rgb(colour))
        linear = np.where(channels > 0.04045, ((channels + 0.055) / 1.055) ** 2.4, channels / 12.92)
        contrast = 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05)
        assert contrast > 4.5, colour


@pytest.mark.parametrize("token", ["$$", "$x$", "a$b$c", "$\\frac$", "x^2", 7])
def test_tokens_are_text_and_no_formulas(token):
    """On every axis and beside every point, whatever the token is."""
    axes = [
        plots.heatmap([[1.0, 2.0]], [token], [token, "b"]),
        plots.bars([token, "b"], [1, 2]),
        plots.scatter_words(
            [[0, 0], [1, 1]], [token, "b"], groups=[str(token), "g"],
            paths={f"{token} path": [[0, 0], [1, 1]]},
            regions={f"{token} region": [[0, 0], [1, 1], [0, 1]]},
        ),
    ]  # fmt: skip
    for ax in axes:
        ax.figure.canvas.draw()  # here a formula would be read
        texts = [*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts]
        texts += ax.get_legend().get_texts() if ax.get_legend() else []
        shown = [text for text in texts if str(token) in text.get_text()]
        assert shown
        assert not any(text.get_parse_math() for text in shown if "$" in text.get_text())


def test_a_boolean_matrix_is_zeros_and_ones():
    assert written(plots.heatmap(np.array([[True, False]]), decimals=0)) == {
        (0, 0): "1",
        (1, 0): "0",
    }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.heatmap(np.zeros((2, 3, 5))), r"A must have shape .*\(2, 3, 5\)"),
        (
            lambda: plots.heatmap(np.zeros((2, 3)), rows=["a"]),
            "rows must hold 2 names, as many as A has rows, got 1",
        ),
        (lambda: plots.scatter_words(np.zeros((2, 3)), ["a", "b"]), r"points .*\(2, 2\)"),
    ],
)
def test_wrong_shapes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *args):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args)

    monkeypatch.delitem(sys.modules, "mhalib.plots")
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match="python -m pip install matplotlib"):
        importlib.import_module("mhalib.plots")


def test_a_relation_has_its_colour_in_every_figure():
    own = {name: to_rgb(pair[0]) for name, pair in RELATIONS.items()}
    names = ["topic", "list", "all"]
    drawn = plots.lines([1, 2], {name: [1, 2] for name in names}).get_lines()
    lines = [to_rgb(line.get_color()) for line in drawn]
    bars = [to_rgb(bar.get_facecolor()) for bar in plots.bars(names, [1, 2, 3]).patches]
    words = plots.scatter_words([[0, 0], [1, 1]], ["a", "b"], groups=names[:2]).collections
    usual = to_rgb(plots.COLOURS[0])
    assert lines == [own["topic"], own["list"], to_rgb(plots.COLOURS[2])]
    assert bars == [own["topic"], own["list"], usual]
    assert [to_rgb(w.get_facecolor()[0]) for w in words] == lines[:2]
    both = plots.bars(names, {"one head": [1, 2, 3], "list": [1, 2, 3]}).patches
    assert {to_rgb(bar.get_facecolor()) for bar in both} == {usual, own["list"]}
