"""One evaluation set, its sample for pages, counted words, and the ladder."""

import numpy as np
import pytest
from arrays import assert_array

from mhalib import evaluation, language, load_model, load_tokenizer
from mhalib.evaluation import NGram, best_possible, evaluate, evaluation_sample, evaluation_texts
from mhalib.language import RELATIONS


def test_the_sample_says_what_all_texts_say():
    sample = evaluation_sample()
    assert len(sample) == 32
    assert set(sample) <= set(evaluation_texts())
    model = load_model()
    whole = evaluate(model, evaluation_texts())
    for ours, all_texts in (
        (language.optimum(sample), best_possible()),
        (evaluate(model, sample), whole),
    ):
        assert ours["all"].loss == pytest.approx(all_texts["all"].loss, abs=0.0015)
        for relation in RELATIONS:
            assert ours[relation].n >= 3
            assert ours[relation].loss == pytest.approx(all_texts[relation].loss, abs=0.015)


def test_counts_by_hand():
    """a b | a b | a c, with V = 3: the frequencies are (2, 1) of 3 predicted words."""
    counted = NGram(2, [[0, 1], [0, 1], [0, 2]], vocab_size=3)
    often = (np.array([0, 2, 1]) + 1 / 3) / 4
    assert_array(counted([]), often)
    assert_array(counted([2]), often, name="never seen: what is known without it")
    assert_array(counted([1, 0]), (np.array([0, 2, 1]) + often) / 4)
    longer = NGram(2, [[0, 1, 2], [3, 1, 0]], vocab_size=4)
    assert longer([0, 1]).argmax() == 2
    assert longer([3, 1]).argmax() == 0
    assert longer([3, 3, 3, 1]) == pytest.approx(longer([3, 1]))


def test_counted_words_sum_to_one_and_none_is_impossible():
    counted = evaluation.count_words(200)
    the, bats = (load_tokenizer().encode(word)[0] for word in (" the", " bats"))
    for before in ([], [the], [bats, the], [the, bats, the]):
        p = counted(before)
        assert p.sum() == pytest.approx(1) and p.min() > 0


def test_scores_of_counts_are_means_over_the_words():
    texts, counted = evaluation_texts(20), evaluation.count_words(300)
    losses = []
    for text in texts:
        ids = load_tokenizer().encode(str(text))
        losses += [-np.log(counted(ids[:i][-1:])[ids[i]]) for i in range(1, len(ids))]
    scores = evaluation.ngram_scores(counted, 1, texts)
    assert scores["all"].loss == pytest.approx(np.mean(losses))
    assert scores["all"].n == len(losses)


def test_each_rung_of_the_ladder_is_lower():
    rungs = evaluation.ladder()
    assert [rung.name for rung in rungs][:4] == [
        "knows nothing", "how often a word comes", "the word before", "two words before"
    ]  # fmt: skip
    for higher, lower in zip(rungs, rungs[1:]):
        assert lower.highest < higher.lowest
    by_name = {rung.name: rung for rung in rungs}
    assert by_name["knows nothing"].loss == pytest.approx(np.log(567))
    assert by_name["best possible"].loss == best_possible()["all"].loss
    assert by_name["one layer, one head"].runs == 3
    main = evaluate(load_model(), evaluation_texts())["all"].loss
    assert by_name["the course's model"].loss == pytest.approx(main, abs=1e-4)


def test_the_optimum_that_is_stored_is_that_of_the_set():
    stored = evaluation.load_experiments()["optimum"]
    for name, score in best_possible().items():
        assert stored[name]["loss"] == pytest.approx(score.loss, abs=1e-4), name
