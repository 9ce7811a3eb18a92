"""Training: seeded, resumable to the same result, scored against the optimum."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mhalib import language, runs, training  # noqa: E402
from mhalib.evaluation import evaluate, evaluation_texts, load_experiments  # noqa: E402
from mhalib.model import GRID, Transformer, load_model, load_tokenizer  # noqa: E402
from mhalib.recipes import EXPERIMENTS, RECIPES, Recipe  # noqa: E402
from mhalib.training import train  # noqa: E402

TINY = Recipe("a tiny model", {"n_layers": 1, "n_heads": 3, "d_model": 6}, steps=7, batch=5)
STEPS_OF_CURVE = [3, 6, 7]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def few_texts(monkeypatch):
    """Score on few texts, so that the tests are quick."""
    for module in (training, runs):
        monkeypatch.setattr(
            module, "evaluation_texts", lambda n=0, relation=None: evaluation_texts(20, relation)
        )


def scores_of(curve):
    return [(point["step"], point["scores"]) for point in curve]


def same_parameters(a: Transformer, b: Transformer) -> bool:
    return all((a.parameters[name] == b.parameters[name]).all() for name in a.parameters)


def test_a_resumed_run_ends_as_if_it_had_never_stopped(tmp_path, monkeypatch):
    whole, whole_curve = train(TINY, seed=2, every=3, progress=False)
    draw = language.corpus

    def interrupted(n, seed, relation=None):
        if seed == (2, 4):
            raise KeyboardInterrupt
        return draw(n, seed, relation)

    checkpoint = tmp_path / "tiny.checkpoint"
    monkeypatch.setattr(language, "corpus", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(TINY, seed=2, every=3, progress=False, checkpoint=checkpoint)
    steps_drawn = []
    monkeypatch.setattr(
        language, "corpus", lambda n, seed, relation=None: steps_drawn.append(seed) or draw(n, seed)
    )
    resumed, curve = train(TINY, seed=2, every=3, progress=False, checkpoint=checkpoint)
    assert steps_drawn[-4:] == [(2, 3), (2, 4), (2, 5), (2, 6)]  # not from the start
    assert (2, 0) not in steps_drawn
    assert same_parameters(resumed, whole)
    assert scores_of(curve) == scores_of(whole_curve)
    assert [point["step"] for point in curve] == STEPS_OF_CURVE


def test_a_seed_gives_the_same_model_and_another_seed_another():
    one, again, other = (train(TINY, seed, progress=False)[0] for seed in (1, 1, 5))
    assert same_parameters(one, again)
    assert not same_parameters(one, other)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    checkpoint = tmp_path / "tiny.checkpoint"
    train(TINY, seed=2, progress=False, checkpoint=checkpoint)
    with pytest.raises(ValueError, match="belongs to another run"):
        train(TINY, seed=3, progress=False, checkpoint=checkpoint)
    with pytest.raises(ValueError, match="belongs to another run"):
        train(replace(TINY, steps=11), seed=2, progress=False, checkpoint=checkpoint)


def test_training_lowers_the_loss():
    recipe = replace(TINY, steps=60, batch=16, warm_up=5, peak=0.05)
    _, curve = train(recipe, every=10, progress=False)
    losses = [point["scores"]["all"]["loss"] for point in curve]
    assert losses[-1] < 0.8 * losses[0]


def test_the_learning_rate_rises_to_its_peak_and_falls_to_zero():
    rates = [Recipe("", steps=10, warm_up=4, peak=0.2).learning_rate(s) for s in range(1, 11)]
    assert rates == pytest.approx(
        [0.05, 0.1, 0.15, 0.2, *(0.2 * left / 7 for left in (6, 5, 4, 3, 2, 1))]
    )


def test_each_token_is_scored_on_the_one_after_it_and_padding_on_nothing():
    texts = [language.parse("Say red blue gold, then say red blue gold.")]
    texts += [language.parse("When Anna met Tom, she lost her key.")]
    tokenizer = load_tokenizer()
    ids, targets = training._batch(texts, tokenizer)
    logits, words = training._predictions(lambda ids: ids[..., None].double(), ids, targets)
    first, second = (tokenizer.encode(str(text)) for text in texts)
    assert logits[:, 0].tolist() == first[:-1] + second[:-1]
    assert words.tolist() == first[1:] + second[1:]
    _, words = training._predictions(
        lambda ids: ids[..., None], *training._batch(texts, tokenizer, "coreference")
    )
    assert tokenizer.decode(words.tolist()) == " she her"


def test_the_curve_and_the_numpy_evaluation_agree():
    model, curve = train(TINY, seed=2, progress=False)
    numpy = evaluate(model, evaluation_texts(20))
    assert curve[-1]["scores"].keys() == numpy.keys()
    for name, score in numpy.items():
        assert curve[-1]["scores"][name] == pytest.approx(score._asdict(), rel=1e-5), name


def test_a_recipe_can_be_about_one_relation_only():
    recipe = replace(TINY, relation="topic", batch=16, steps=60, warm_up=5, peak=0.05)
    model, curve = train(recipe, every=60, progress=False)
    assert curve[-1]["scores"].keys() == {"topic"}
    texts = evaluation_texts(20, "topic")
    assert curve[-1]["scores"]["topic"]["n"] == len(texts) == 20
    scores = evaluate(model, texts)
    assert curve[-1]["scores"]["topic"]["loss"] == pytest.approx(scores["topic"].loss, rel=1e-5)
    assert scores["topic"].loss < 3 < 5 < scores["free"].loss  # the other words were not learned


def test_the_command_trains_saves_and_writes_a_card(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(RECIPES, "main", TINY)
    training.main(["--steps", "4", "--seed", "3", "--out", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {
        "main-seed3.safetensors",
        "main-seed3.curve.json",
        "main-seed3.md",
    }
    model = Transformer.load(tmp_path / "main-seed3.safetensors")
    assert model.config == TINY.config()
    trained, _ = train(replace(TINY, steps=4), 3, progress=False)
    for name, array in trained.parameters.items():
        assert (model.parameters[name] == np.rint(array / GRID) * GRID).all()
    card = (tmp_path / "main-seed3.md").read_text("utf-8")
    assert "python -m mhalib.training main --seed 3 --steps 4" in card
    assert f"{evaluate(model, evaluation_texts(20))['all'].loss:.4f}" in card
    assert card in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [["--steps", "0"], ["--steps", "-1"], ["--steps", "many"],
                                   ["--seed", "-1"], ["--threads", "0"]])  # fmt: skip
def test_a_command_that_is_refused_changes_nothing(tmp_path, monkeypatch, capsys, wrong):
    monkeypatch.setitem(RECIPES, "main", TINY)
    training.main(["--out", str(tmp_path)])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(SystemExit):
        training.main([*wrong, "--out", str(tmp_path)])
    assert f"argument {wrong[0]}: expected" in capsys.readouterr().err
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        replace(TINY, steps=0)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_weights_are_replaced_only_when_all_else_has_worked(tmp_path, monkeypatch):
    monkeypatch.setitem(RECIPES, "main", TINY)
    training.main(["--out", str(tmp_path)])
    path = tmp_path / "main.safetensors"
    before = path.read_bytes()

    def broken(*_):
        assert path.read_bytes() == before  # also while it is measured
        raise RuntimeError("while measuring")

    monkeypatch.setattr(runs, "measure", broken)
    with pytest.raises(RuntimeError, match="while measuring"):
        training.main(["--steps", "3", "--out", str(tmp_path)])
    assert path.read_bytes() == before


def test_the_command_evaluates_a_shipped_model(capsys):
    training.main(["--evaluate"])
    texts = evaluation_texts(20)
    s, best = evaluate(load_model(), texts)["all"], language.optimum(texts)["all"]
    row = f"| all | {s.loss:.4f} | {best.loss:.4f} | {s.accuracy:.4f} | {best.accuracy:.4f} |"
    assert row in capsys.readouterr().out


def test_experiments_are_gathered(tmp_path, monkeypatch):
    monkeypatch.setitem(RECIPES, "layers3-heads4", replace(TINY, steps=2))
    for module in (training, runs):
        monkeypatch.setattr(module, "EXPERIMENTS", [("layers3-heads4", s) for s in (0, 1)])
    training.main(["--experiments", "--out", str(tmp_path)])
    stored = json.loads((tmp_path / "experiments.json").read_text("utf-8"))
    assert [(run["name"], run["seed"]) for run in stored["runs"]] == training.EXPERIMENTS
    texts = evaluation_texts(20)
    assert stored["optimum"]["all"]["loss"] == round(language.optimum(texts)["all"].loss, 4)
    model = Transformer.load(tmp_path / "layers3-heads4-seed1.safetensors")
    run = stored["runs"][1]
    assert run["scores"]["topic"]["loss"] == pytest.approx(
        evaluate(model, texts)["topic"].loss, abs=1e-3
    )
    assert run["curve"]["step"] == [2]
    assert [row["head"] for row in run["heads"]] == [0, 1, 2, None]


def test_head_counts_are_compared_at_equal_parameters():
    tokens = load_tokenizer().vocab_size
    for n in (1, 3):
        shapes = [RECIPES[f"layers{n}-heads{h}"].config() for h in (1, 2, 4, 8)]
        assert {c.d_k * c.n_heads for c in shapes} == {64}
        assert {replace(c, n_heads=1, d_k=64, d_v=64) for c in shapes} == {shapes[0]}
        assert shapes[0].vocab_size == tokens
    for name in ("layers1-heads2", "both-heads8"):
        assert [seed for other, seed in EXPERIMENTS if other == name] == [0, 1, 2]


def test_the_shipped_experiments_are_those_of_the_recipes():
    runs = {(run["name"], run["seed"]): run for run in load_experiments()["runs"]}
    assert set(runs) == {("main", 0), *EXPERIMENTS}
    for (name, _), run in runs.items():
        assert run["steps"] == RECIPES[name].steps
        assert run["config"] == asdict(RECIPES[name].config())
    # The comparison of 1, 2, 4 and 8 heads is one at equal parameters.
    for n in (1, 3):
        names = [f"layers{n}-heads{h}" for h in (1, 2, 4, 8)]
        assert len({runs[name, 0]["n_parameters"] for name in names}) == 1
        assert {(name, seed) for name in names for seed in range(3)} <= set(runs)
