"""ScalingWidget in Python: its values, its checks, its html."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from arrays import assert_array

import mhalib
from mhalib.widgets import ScalingWidget


def state_of(html):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])


def test_weights_are_the_librarys_for_the_queries_and_keys():
    widget = ScalingWidget(d_k=37, n_keys=11, sigma=1.3, scale="sqrt_d_k", seed=5)
    Q, K = widget.queries_and_keys
    assert Q.shape == (32, 37)
    assert K.shape == (11, 37)
    _, expected = mhalib.attention(Q, K, K, return_weights=True)
    assert_array(widget.weights, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("scale", "divisor"),
    [("none", 1), ("sqrt_d_k", 53**0.5), ("d_k", 53), ("sqrt_d_model", (8 * 53) ** 0.5)],
)
def test_scale_divides_the_scores(scale, divisor):
    bare = ScalingWidget(d_k=53, scale="none").scores
    assert_array(ScalingWidget(d_k=53, scale=scale).scores, bare / divisor)


def test_more_features_extend_the_same_queries_and_keys():
    small, large = ScalingWidget(d_k=3, n_keys=5), ScalingWidget(d_k=7, n_keys=11)
    for a, b in zip(small.queries_and_keys, large.queries_and_keys, strict=True):
        assert np.array_equal(a, b[: len(a), :3])


def test_variance_follows_sigma_to_the_fourth_times_d_k():
    said = ScalingWidget(d_k=1024, sigma=1.5, scale="none").statistics
    assert said["theory"] == 1.5**4 * 1024
    assert said["variance"] == pytest.approx(said["theory"], rel=0.1)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"d_k": 0}, ValueError, "d_k must be at least 1, got 0"),
        ({"d_k": 1025}, ValueError, "d_k must be at most 1024, got 1025"),
        ({"d_k": 2.5}, TypeError, "d_k must be an integer, got 2.5"),
        ({"n_keys": True}, TypeError, "n_keys must be an integer, got True"),
        ({"sigma": "wide"}, TypeError, "sigma must be a number, got 'wide'"),
        ({"sigma": float("nan")}, ValueError, "sigma must be finite"),
        ({"sigma": 4}, ValueError, "sigma must lie in 0.05 … 3.0, got 4"),
        ({"scale": "sqrt"}, ValueError, "scale must be one of .*'sqrt_d_k'.*got 'sqrt'"),
        ({"d_q": 3}, TypeError, "ScalingWidget has no value 'd_q'"),
    ],
)
def test_wrong_values_are_refused_by_name(values, error, message):
    with pytest.raises(error, match=message):
        ScalingWidget(**values)


def test_a_refused_value_leaves_the_widget_as_it_was():
    widget = ScalingWidget(d_k=7)
    with pytest.raises(ValueError, match="d_k"):
        widget.d_k = 0
    assert widget.d_k == 7


def test_numpy_scalars_become_python_numbers():
    widget = ScalingWidget(d_k=np.int64(5), sigma=np.float32(0.5), seed=np.uint32(3))
    assert [type(v) for v in (widget.d_k, widget.sigma, widget.seed)] == [int, float, int]


def test_html_is_a_figure_with_state_picture_and_caption():
    widget = ScalingWidget(d_k=512)
    html = widget.html()
    assert html.startswith('<figure class="mhalib-widget" data-widget="scaling">')
    assert state_of(html) == widget.state()
    assert "<svg" in html and 'role="img"' in html
    assert f"largest weight {widget.statistics['largest weight']:.3f}" in html
    assert re.findall(r"\sid=|\son\w+=|style=", html) == []


def test_html_is_the_same_every_time_and_tags_balance():
    assert ScalingWidget(d_k=12).html() == ScalingWidget(d_k=12).html()
    assert ScalingWidget(d_k=12).html() != ScalingWidget(d_k=13).html()
    opened = []

    class Balance(HTMLParser):
        def handle_starttag(self, tag, attrs):
            opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Balance().feed(ScalingWidget().html())
    assert opened == []


def test_text_of_the_author_cannot_end_the_state_or_become_html():
    text = "</script><img src=x onerror=alert(1)>"
    html = ScalingWidget(task=text, caption=text).html()
    assert "<img" not in html
    assert html.count("</script>") == 1
    assert state_of(html)["task"] == text


def test_jupyter_gets_the_live_widget_and_the_figure():
    widget = ScalingWidget()
    data, _ = widget._repr_mimebundle_()
    assert data["text/html"] == widget.html()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert data["text/plain"].startswith("ScalingWidget(d_k=64")


def test_without_anywidget_the_error_says_what_to_install():
    code = "import sys; sys.modules['anywidget'] = None; import mhalib.widgets"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install anywidget" in done.stderr
