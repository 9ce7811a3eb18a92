"""The widgets around the model in Python: values of the library, checks, html."""

import json
import re

import numpy as np
import pytest
import traitlets
from arrays import assert_array

import mhalib
from mhalib import widgets
from mhalib.widgets import (
    EmbeddingWidget,
    LayersWidget,
    MachineWidget,
    MultiHeadWidget,
    SingleHeadWidget,
    TokenizerWidget,
    VocabHeadWidget,
)

AROUND_A_MODEL = [
    EmbeddingWidget,
    LayersWidget,
    MachineWidget,
    MultiHeadWidget,
    SingleHeadWidget,
    VocabHeadWidget,
]


@pytest.fixture(scope="module")
def own_model():
    config = mhalib.Config(vocab_size=567, d_model=6, n_heads=3, n_layers=2, norm="pre")
    return mhalib.Transformer(config, mhalib.init_parameters(config, np.random.default_rng(7)))


@pytest.mark.parametrize("name", widgets.__all__)
def test_html_is_deterministic_and_holds_the_state(name):
    widget = getattr(widgets, name)
    html = widget().html()
    assert html == widget().html()
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])
    assert state == widget().state()
    assert len(html) < 40_000
    assert re.findall(r"\sid=|\son\w+=|style=", html) == []


WITHOUT_TEXT = {"ByHandWidget", "PracticeWidget", "ScalingWidget"}


@pytest.mark.parametrize("name", [n for n in widgets.__all__ if n not in WITHOUT_TEXT])
@pytest.mark.parametrize("text", ["", "<b>bats</b> & “bats”", "🦇"])
def test_any_text_makes_a_picture(name, text):
    widget = getattr(widgets, name)(text=text)
    assert "<b>" not in widget.html()
    assert widget.state()["text"] == text


@pytest.mark.parametrize("widget", AROUND_A_MODEL)
def test_takes_a_model_of_ones_own(widget, own_model):
    own = widget(model=own_model)
    assert own.transformer is own_model
    assert own.state()["model"] is None
    assert own.trace.X.shape == (13, 6)
    assert widget().state()["model"] == "main"
    sent = []
    own.send = lambda content, buffers: sent.append((content, buffers))
    own._handle_custom_msg({"ask": "model"}, [])
    [(content, [data])] = sent
    assert np.frombuffer(data).size == own_model.n_parameters
    assert content["number"] == own._model
    saved = {k: v for k, v in own.get_state().items() if k not in ("_esm", "_css")}
    assert len(json.dumps(saved, default=repr)) < 20_000  # no weights in what is saved


@pytest.mark.parametrize("widget", AROUND_A_MODEL)
def test_refuses_what_is_no_model(widget, own_model):
    with pytest.raises(TypeError, match=r"model must be a name or a Transformer, got int"):
        widget(model=7)
    with pytest.raises(ValueError, match="name must be one of"):
        widget(model="mein")
    many = mhalib.Tokenizer([(97, 97), *((256 + i, 97) for i in range(400))])
    with pytest.raises(ValueError, match="tokenizer has 657 tokens, the model knows 567"):
        widget(model=own_model, tokenizer=many)


@pytest.mark.parametrize(
    ("widget", "values"),
    [
        (TokenizerWidget, {"step": np.int64(3)}),
        (EmbeddingWidget, {"word": np.int32(300), "n": np.uint8(7), "words": np.arange(300, 311)}),
        (SingleHeadWidget, {"layer": np.int64(2), "padding": np.array([5, 3])}),
        (MultiHeadWidget, {"heads_off": np.array([[1, 2], [0, 3]]), "causal": np.bool_(False)}),
        (LayersWidget, {"position": np.int16(2), "depth": np.int64(1)}),
        (VocabHeadWidget, {"temperature": np.float32(0.5), "generated": np.array([301, 302])}),
        (MachineWidget, {"off": np.array(["scale", "mask"]), "head": np.int64(3)}),
        (widgets.ScalingWidget, {"sigma": np.float64(0.5), "seed": np.uint32(9)}),
    ],
)
def test_numpys_values_are_taken_watched_and_linked(widget, values):
    first, second, seen = widget(), widget(), []
    for name, value in values.items():
        first.observe(lambda change: seen.append(change.name), name)
        link = traitlets.link((first, name), (second, name))
        setattr(first, name, value)
        assert getattr(second, name) == getattr(first, name)
        link.unlink()
    assert seen == list(values)
    json.dumps(first.state(), allow_nan=False)  # plain Python values only
    given = widget(**values)
    assert given.state() == first.state()
    assert given.html() == first.html()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: SingleHeadWidget(layer=3), ValueError, r"layer must lie in 0 … 2, got 3"),
        (lambda: SingleHeadWidget(head=4), ValueError, r"head must lie in 0 … 3, got 4"),
        (lambda: MultiHeadWidget(layer=3), ValueError, r"layer must lie in 0 … 2, got 3"),
        (lambda: MachineWidget(head=4), ValueError, r"head must lie in 0 … 3, got 4"),
        (lambda: SingleHeadWidget(mask="left"), ValueError, "mask must be one of"),
        (lambda: SingleHeadWidget(padding=3), TypeError, "padding must be a list of positions"),
        (lambda: SingleHeadWidget(padding=[-1]), ValueError, "at least 0, got -1"),
        (lambda: SingleHeadWidget(text=b"bats"), TypeError, "text must be a text, got b'bats'"),
        (lambda: SingleHeadWidget(text="x" * 401), ValueError, "at most 400 characters, got 401"),
        (lambda: TokenizerWidget(text="x" * 201), ValueError, "at most 200 characters, got 201"),
        (lambda: MultiHeadWidget(heads_off=[(0, 1, 2)]), TypeError, "list of pairs"),
        (lambda: MultiHeadWidget(causal="yes"), TypeError, "causal must be True or False"),
        (lambda: MultiHeadWidget(n_heads=3), ValueError, "n_heads: trained models exist for"),
        (lambda: EmbeddingWidget(word=" baseball bats"), ValueError, "word must be a single token"),
        (lambda: VocabHeadWidget(temperature=0), ValueError, "temperature must lie in 0.1 … 3.0"),
        (lambda: VocabHeadWidget(generated="ab"), TypeError, "generated must be a list of ids"),
        (lambda: LayersWidget(norm="none"), ValueError, "norm must be one of|norm: trained"),
        (lambda: MachineWidget(off=["head"]), ValueError, "off: 'head' is none of scale"),
        (lambda: MachineWidget(off=["heads.0.9"]), ValueError, "head must lie in 0 … 3"),
        (lambda: MachineWidget(off="scale"), TypeError, "off must be a list of names"),
    ],
)
def test_wrong_values_are_refused_by_name(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_single_head_equals_the_trace_of_the_model():
    for layer, head in [(0, 0), (2, 3)]:
        widget = SingleHeadWidget(layer=layer, head=head)
        attention = widget.trace.layers[layer].attention
        assert_array(widget.weights, attention.weights[head], atol=1e-12)
        assert_array(widget.output, attention.heads[head], atol=1e-12)


@pytest.mark.parametrize("weights_from", ["trained", "random"])
def test_single_head_goes_on_to_the_stream(weights_from):
    widget = SingleHeadWidget(layer=1, head=2, weights_from=weights_from)
    assert_array(widget.correction, widget.output @ widget.W_O)
    assert_array(widget.sum, widget.X + widget.correction)
    heads = [SingleHeadWidget(layer=1, head=h).correction for h in range(4)]
    assert_array(sum(heads), widget.trace.layers[1].attention.O, atol=1e-12)


@pytest.mark.parametrize("n_heads", [1, 2, 8])
def test_multi_head_chooses_the_model_trained_with_so_many_heads(n_heads):
    widget = MultiHeadWidget()
    widget.n_heads = n_heads
    assert widget.weights.shape == (n_heads, 13, 13)
    assert widget.state()["model"] == "main"  # what a page loads first
    chosen = MultiHeadWidget(n_heads=n_heads)
    assert chosen.state()["model"] == f"layers3-heads{n_heads}"
    assert chosen.full_loss == widget.full_loss


def test_single_head_padding_gets_no_weight():
    widget = SingleHeadWidget(mask="padding", padding=np.array([3, 1, 3]))
    assert widget.padding == [1, 3]
    assert (widget.weights[:, [1, 3]] == 0).all()
    assert (widget.weights[:, [0, 2]] > 0).all()


def test_multi_head_takes_heads_out_of_the_model():
    widget = MultiHeadWidget(heads_off=[(1, 1)])
    off = mhalib.Ablation(heads=[(1, 1)])
    expected = widget.transformer.forward(widget.ids, ablate=off)
    assert np.array_equal(widget.trace.logits, expected.logits)
    assert widget.loss == mhalib.cross_entropy(expected.logits[:-1], widget.ids[1:])
    assert widget.relation_losses.keys() >= {"topic", "agreement", "recall", "both"}


def test_layers_change_reaches_later_tokens_only():
    widget = LayersWidget(position=4)
    moved = widget.changes > 0
    assert moved[0].tolist() == [i == 4 for i in range(13)]
    assert not moved[:, :4].any()
    assert moved[1:, 4:].all()


def test_layers_compares_the_two_bats():
    widget = LayersWidget()
    assert widget.tokens[widget.position] == " bats"
    assert widget.cosines[0] == pytest.approx(1)  # same row of E, same position
    assert widget.cosines[-1] < 0.5
    widget.text = "There are so many mice I can choose at the baseball store."
    assert widget.cosines is None


def test_vocab_head_knows_the_exact_probabilities():
    widget = VocabHeadWidget()
    assert widget.exact == {"baseball": 0.8, "toy": 0.2}
    widget.text = "Bats eat fruit."
    assert widget.exact is None


def test_vocab_head_sampling_controls():
    widget = VocabHeadWidget(top_k=3, temperature=0.5)
    logits = mhalib.top_k_filter(widget.logits / 0.5, 3)
    assert np.array_equal(widget.sampling_probabilities, mhalib.softmax(logits))
    assert (widget.sampling_probabilities > 0).sum() == 3
    widget = VocabHeadWidget(text="There", temperature=0.1)
    assert widget.write(20).endswith(".")


def test_machine_takes_out_what_is_named():
    widget = MachineWidget(off=["ffn.1", "W_O.0", "layers.2", "heads.0.3", "norm"])
    expected = mhalib.Ablation(norm=True, ffn=[1], W_O=[0], layers=[2], heads=[(0, 3)])
    assert widget.ablation == expected
    assert widget.value == widget.trace.probabilities[9].max()


def test_machine_follows_a_number_of_the_trace():
    widget = MachineWidget(off=["heads.0.2", "scale"], follow="layers.1.Q.2.9.5")
    assert widget.value == widget.trace.flat()["layers.1.Q"][2, 9, 5]
    widget.follow = "layers.1.P.2"
    with pytest.raises(ValueError, match=r"the trace has no 'layers.1.P'"):
        _ = widget.value
    parts = {"layers": [], "W_O": [], "ffn": [], "heads": [(0, 2)]}
    assert widget.ablation == mhalib.Ablation(scale=True, **parts)


def test_embedding_neighbours_are_nearest():
    widget = EmbeddingWidget(word=" bats")
    names = [name for name, _ in widget.neighbours]
    cosines = [c for _, c in widget.neighbours]
    assert {" mice", " cranes", " seals"} <= set(names)
    assert cosines == sorted(cosines, reverse=True)
    assert widget.plane.shape == (len(widget.words), 2)


def test_layers_chooses_the_model_trained_with_the_norm():
    widget = LayersWidget()
    widget.norm = "pre"
    assert widget.transformer.config.norm == "pre"
    widget.norm = "post"
    assert widget.transformer.config.norm == "post"


@pytest.mark.parametrize(
    ("widget", "name", "value", "error"),
    [
        (MultiHeadWidget, "n_heads", 3, ValueError),
        (LayersWidget, "norm", "none", ValueError),
        (SingleHeadWidget, "layer", 9, ValueError),
        (widgets.OwnHeadWidget, "n_heads", 8, ValueError),
        (widgets.OwnHeadWidget, "values", {"Q.0": 1}, ValueError),
        (MachineWidget, "off", ["heads.0.9"], ValueError),
        (SingleHeadWidget, "heads", 2, AttributeError),
    ],
)
def test_a_refused_value_leaves_the_widget_as_it_was(widget, name, value, error):
    one = widget()
    before = one.state(), one.transformer, one._model
    with pytest.raises(error, match=f"{name}|ablate"):
        setattr(one, name, value)
    assert (one.state(), one.transformer, one._model) == before


@pytest.mark.parametrize("widget", AROUND_A_MODEL)
def test_a_tokenizer_without_a_merge_and_a_model_of_one_layer_work_by_default(widget):
    config = mhalib.Config(vocab_size=256, d_model=6, n_heads=1, n_layers=1)
    model = mhalib.Transformer(config, mhalib.init_parameters(config, np.random.default_rng(7)))
    own = widget(model=model, tokenizer=mhalib.Tokenizer([]))
    assert own.html()
    repr(own)


def test_a_model_that_does_not_fit_is_not_taken(own_model):
    widget = SingleHeadWidget(layer=2, head=3)
    before = widget.transformer, widget.state(), widget._model
    config = mhalib.Config(vocab_size=9, d_model=6, n_heads=1, n_layers=1)
    small = mhalib.Transformer(config, mhalib.init_parameters(config, np.random.default_rng(7)))
    with pytest.raises(ValueError, match="the model knows 9"):
        widget.use(small)
    assert (widget.transformer, widget.state(), widget._model) == before
    widget.use(own_model)
    assert (widget.layer, widget.head) == (1, 2)  # the last that it has
    assert widget.weights.shape == (13, 13)


@pytest.mark.parametrize("name", widgets.__all__)
def test_every_value_says_its_limits(name):
    widget = getattr(widgets, name)()
    free = {"task", "caption", "evaluation", "landing", "lessons"}
    free |= {name for name, trait in widget.traits().items() if trait.read_only}
    assert set(widget.traits(state=True)) - free == set(widget.limits)


def test_in_jupyter_the_picture_is_an_output_of_its_own(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **more: shown.append(data))
    widget = SingleHeadWidget()
    widget._ipython_display_()
    picture, live = shown
    assert picture["text/html"].startswith(widget.html())
    assert "Run this cell to make it live." in picture["text/html"]
    assert list(live) == ["application/vnd.jupyter.widget-view+json"]
