"""What the shipped main model knows, and that removal and attention are measured rightly."""

import numpy as np
import pytest
from arrays import assert_array

from mhalib import analysis, language
from mhalib.analysis import attention_to_sources, entropy, jacobian_norm, what_heads_do
from mhalib.evaluation import evaluate, evaluation_texts
from mhalib.language import RELATIONS, parse
from mhalib.model import Ablation, Config, Transformer, init_parameters, load_model, load_tokenizer
from mhalib.softmax import log_softmax

N_TEXTS = 203  # more than two batches


@pytest.fixture(scope="module")
def texts():
    return evaluation_texts(N_TEXTS)


@pytest.fixture(scope="module")
def main_model():
    return load_model("main", np.float32)


@pytest.fixture(scope="module")
def small():
    config = Config(load_tokenizer().vocab_size, d_model=6, n_heads=3, n_layers=2, d_ff=11)
    return Transformer(config, init_parameters(config, np.random.default_rng(4)))


def test_the_main_model_comes_close_to_the_optimum(main_model, texts):
    scores, best = evaluate(main_model, texts), language.optimum(texts)
    assert scores["all"].loss <= 1.03 * best["all"].loss
    for relation in RELATIONS:
        assert scores[relation].accuracy >= 0.98 * best[relation].accuracy, relation


@pytest.mark.parametrize(
    ("prefix", "right"),
    [
        ("There are so many bats I can choose at the", ("baseball", "toy")),
        ("I love to study bats that live inside a", ("cave", "zoo")),
    ],
)
def test_bats_go_on_with_their_own_topic(main_model, prefix, right):
    tokenizer = load_tokenizer()
    p = main_model.forward(tokenizer.encode(prefix)).probabilities[-1]
    own = sum(p[tokenizer.vocab.index(b" " + word.encode())] for word in right)
    assert own > 0.99
    for word, exact in language.next_word_distribution(prefix).items():
        assert p[tokenizer.vocab.index(b" " + word.encode())] == pytest.approx(exact, abs=0.06)


def test_evaluate_is_the_mean_over_the_texts_one_by_one(small, texts):
    tokenizer, losses = load_tokenizer(), []
    for text in texts:
        ids = tokenizer.encode(str(text))
        p = log_softmax(small.forward(ids).logits)
        losses += [-p[i, ids[i + 1]] for i in range(len(ids) - 1)]
    score = evaluate(small, texts)["all"]
    assert score.n == len(losses)
    assert score.loss == pytest.approx(np.mean(losses), rel=1e-12)


def test_padding_stays_unseen_without_the_causal_mask(small):
    short = parse("Say red blue gold, then say red blue gold.")
    long = parse("The old dog that met the cats and the frog and copied the birds now sings.")
    ablate = Ablation(mask=True)
    alone = evaluate(small, [short], ablate)["list"]
    assert evaluate(small, [short, long], ablate)["list"].loss == pytest.approx(alone.loss)


def test_mean_head_outputs_by_hand(small, texts):
    outputs = []
    for text in texts[:N_TEXTS]:
        trace = small.forward(load_tokenizer().encode(str(text)))
        outputs.append(trace.layers[1].attention.heads[2])  # (n, d_v)
    means = analysis.mean_head_outputs(small, texts)
    assert means.keys() == {(i, j) for i in range(2) for j in range(3)}
    assert_array(means[1, 2], np.concatenate(outputs).mean(0), rtol=1e-10)


def test_attention_to_sources_by_hand(small):
    both = parse("The dog that met the cats and copied the birds now sings.")
    both_ids = load_tokenizer().encode(str(both))
    weights = small.forward(both_ids).layers[1].attention.weights
    measured = attention_to_sources(small, [both])
    assert measured.keys() == {"both: ending", "both: stem"}
    # "sings" is predicted from "now" (10) and decided by "dog" (1) and "birds" (9)
    assert_array(measured["both: ending"][1], weights[:, 10, 1], rtol=1e-10)
    assert_array(measured["both: stem"][1], weights[:, 10, 9], rtol=1e-10)


def test_attention_to_several_sources_is_added(small):
    text = parse("When Anna saw Tom, she sold her book.")
    weights = small.forward(load_tokenizer().encode(str(text))).layers[0].attention.weights
    she = weights[:, 4, 1]
    her = weights[:, 6, 1] + weights[:, 6, 5]
    measured = attention_to_sources(small, [text])["coreference"][0]
    assert_array(measured, (she + her) / 2, rtol=1e-10)


def test_what_heads_do_measures_each_removal(small, texts):
    some = texts[:40]
    rows = {(row["layer"], row["head"]): row for row in what_heads_do(small, some)}
    assert list(rows) == [(i, j) for i in range(2) for j in (0, 1, 2, None)]
    intact, means = evaluate(small, some), analysis.mean_head_outputs(small, some)

    def rise(ablate):
        return evaluate(small, some, ablate)["list"].loss - intact["list"].loss

    assert rows[1, 2]["zero"]["list"] == rise(Ablation(heads=[(1, 2)])) != 0
    assert rows[0, 1]["mean"]["list"] == rise(Ablation(heads={(0, 1): means[0, 1]})) != 0
    assert rows[0, None]["zero"]["list"] == rise(Ablation(heads=[(0, j) for j in range(3)]))
    assert rows[1, None]["skip"]["list"] == rise(Ablation(layers=[1])) != 0
    assert rows[0, None]["ffn"]["list"] == rise(Ablation(ffn=[0])) != 0


def test_recall_and_lists_hang_on_one_head(main_model, texts):
    rows = what_heads_do(main_model, texts[:100])
    heads = [row for row in rows if row["head"] is not None and row["layer"] > 0]
    recall = max(heads, key=lambda row: row["mean"]["recall"])
    assert recall is max(heads, key=lambda row: row["mean"]["list"])
    assert recall is max(heads, key=lambda row: row["attention"]["recall"])
    assert recall["mean"]["recall"] > 1
    assert recall["attention"]["recall"] > 0.8


def test_the_table_has_a_row_per_part(small, texts):
    rows = what_heads_do(small, texts[:20])
    lines = analysis.table(rows, "skip").splitlines()
    assert len(lines) == 2 + 2
    assert lines[2].startswith("| layer 0 | ")
    assert f"{rows[-1]['skip']['all']:.3f}" in lines[3]
    assert analysis.table(rows, "attention").splitlines()[2].startswith("| layer 0, head 0 |")


def test_the_experiments_are_tabled_with_their_spread():
    def run(name, seed, loss, right):
        score = {"loss": loss, "accuracy": right}
        return {"name": name, "seed": seed, "scores": {"all": score, "recall": score}}

    runs = [run("a", 0, 0.5, 0.25), run("a", 1, 1.5, 0.75), run("b", 0, 2.0, 1.0)]
    first, second = analysis.experiment_table({"runs": runs}).splitlines()[2:]
    assert first.startswith("| a | 2 | 1.000 (0.50 … 1.50) |")
    assert "| 0.500 (0.25 … 0.75) |" in first
    assert second.startswith("| b | 1 | 2.000 |")


def test_statistics_of_rows_known_by_hand():
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 0.0, 0.0]])
    assert_array(entropy(rows), [np.log(4), 0], atol=1e-15)
    jacobians = [np.linalg.norm(np.diag(p) - np.outer(p, p)) for p in rows]
    assert_array(jacobian_norm(rows), jacobians, atol=1e-15)
