"""The language: its labels are the truth, and its probabilities are exact."""

import json
from collections import Counter, defaultdict

import numpy as np
import pytest

from mhalib import grammar, language
from mhalib.language import RELATIONS, corpus, next_word_distribution, parse
from mhalib.model import WEIGHTS, load_tokenizer
from mhalib.tokenizer import Tokenizer
from mhalib.widgets.grammar import tabulate

SHOP = "There are so many bats I can choose at the baseball store."
CAVE = "I love to study bats that live inside a cave."


@pytest.fixture(scope="module")
def texts():
    return corpus(6000, seed=11)


@pytest.mark.parametrize(("sentence", "word"), [(SHOP, "baseball"), (CAVE, "cave")])
def test_the_running_sentences_are_texts_of_the_language(sentence, word):
    text = parse(sentence)
    assert str(text) == sentence
    at = text.words.index(word)
    assert text.relations[at] == "topic"
    assert [text.words[i] for i in text.sources[at]] == ["bats"]


def test_bats_mean_different_things_in_the_two_sentences():
    shop = next_word_distribution("There are so many bats I can choose at the")
    cave = next_word_distribution("I love to study bats that live inside a")
    assert shop == pytest.approx({"baseball": 0.8, "toy": 0.2})
    assert cave == pytest.approx({"cave": 0.8, "zoo": 0.2})


def test_the_probability_of_a_prefix_is_summed_over_the_forms_that_fit():
    # By hand: "I" starts a half of "home" (0.12) and of "recall" (0.16), so that after it
    # "see" has 0.16 / 0.28 · 1/2 and "love" 0.12 / 0.28 · 1/3.
    after = next_word_distribution(["I"])
    assert after["see"] == pytest.approx(0.16 / 0.28 / 2)
    assert after["love"] == pytest.approx(0.12 / 0.28 / 3)
    # After two of at most three nouns comes the verb, half of the time.
    after = next_word_distribution("The lamp near the houses")
    assert after["is"] == pytest.approx(0.5)
    assert after["beside"] == pytest.approx(0.5 / 2)  # but no second "near"


def test_a_form_that_made_the_prefix_likelier_weighs_more(monkeypatch):
    # One form draws "red" or "blue", then says "box"; the other always says "red door".
    (_, box), (_, red_door) = *grammar._expand("box"), *grammar._expand("red door")
    forms = [
        grammar.Form("either", 0.5, (grammar._draw("", ("red", "blue")), *box)),
        grammar.Form("red", 0.5, red_door),
    ]
    monkeypatch.setattr(language, "FORMS", forms)
    assert next_word_distribution("red") == pytest.approx({"box": 1 / 3, "door": 2 / 3})


def test_exact_probabilities_agree_with_counts(texts):
    followers = defaultdict(Counter)
    for text in texts:
        for i, word in enumerate(text.words):
            followers[text.words[:i]][word] += 1
    often = {prefix: counts for prefix, counts in followers.items() if counts.total() >= 100}
    assert len(often) > 40
    for prefix, counts in often.items():
        exact, n = next_word_distribution(prefix), counts.total()
        assert counts.keys() <= exact.keys()
        for word, p in exact.items():
            assert abs(counts[word] - n * p) <= 5 * np.sqrt(n * p * (1 - p)) + 1e-9, (prefix, word)


def test_each_distribution_sums_to_one(texts):
    for text in texts[:60]:
        for i in range(len(text.words)):
            exact = next_word_distribution(text.words[:i])
            assert sum(exact.values()) == pytest.approx(1, abs=1e-12)
            assert min(exact.values()) > 0
            assert text.words[i] in exact
        assert next_word_distribution(text.words) == {}


GIRLS = ("Anna", "Mary", "Emma", "Kate")


def _expected(relation: str, word: str, sources: list[str]) -> bool:
    """Say, by other means than the grammar's, if `word` fits the words that decide it."""
    if relation == "agreement":
        return word == ("are" if sources[0].endswith("s") else "is")
    if relation == "coreference":
        return (sources[-1] in GIRLS) == (word in ("she", "her"))
    if relation in ("recall", "list"):
        return [word] == sources
    if relation == "both":
        subject, model = sources
        stem = {"d": "bark", "c": "purr", "b": "sing", "f": "jump", "h": "run"}[model[0]]
        stem = "swim" if model.startswith("duck") else stem
        return word == stem + "s" * (not subject.endswith("s"))
    places = {"baseball", "cave"} if sources == ["bats"] else {"computer", "barn"}
    return sources[0] not in ("bats", "mice") or word in places | {"toy", "zoo"}


def test_labels_name_the_words_that_decide(texts):
    seen = Counter()
    for text in texts:
        assert len(text.words) == len(text.relations) == len(text.sources)
        for i, (word, relation) in enumerate(zip(text.words, text.relations, strict=True)):
            sources = text.sources[i]
            assert bool(sources) == (relation is not None)
            assert all(source < i for source in sources)
            if relation:
                seen[relation] += 1
                assert _expected(relation, word, [text.words[s] for s in sources]), str(text)
    assert seen.keys() == set(RELATIONS)


def test_recall_pairs_stand_side_by_side(texts):
    recalls = [t for t in texts if "recall" in t.relations][:50]
    for text in recalls:
        for i, relation in enumerate(text.relations):
            if relation == "recall":
                assert text.words[text.sources[i][0] - 1] == text.words[i - 1]


def test_both_has_animals_of_either_number_between_the_two_that_decide(texts):
    between = Counter()
    for text in texts:
        if "both" in text.relations:
            subject, model = text.sources[text.relations.index("both")]
            for word in text.words[subject + 1 : model]:
                if word in grammar.SINGULAR or word in grammar.PLURAL:
                    between[word.endswith("s"), text.words[subject].endswith("s")] += 1
    assert len(between) == 4  # so neither the nearest nor any noun tells the number
    assert min(between.values()) > 200


def test_parse_gives_the_labels_the_sampler_gave(texts):
    for text in texts[:200]:
        assert parse(str(text)) == text


def test_every_word_is_one_token(texts):
    tokenizer = load_tokenizer()
    words = {word for text in texts for word in text.words}
    assert 100 < len(words) < 200
    for text in texts[:1500]:
        assert [t.decode() for t in tokenizer.tokens(str(text))] == language.pieces(text.words)
    vocabulary = set(tokenizer.vocab)
    for piece in {piece for text in texts for piece in language.pieces(text.words)}:
        assert piece.encode() in vocabulary


def test_the_shipped_tokenizer_is_the_one_the_recipe_gives(tmp_path):
    language.train_tokenizer().save(tmp_path / "tokenizer.json")
    shipped = (WEIGHTS / "tokenizer.json").read_text("utf-8")
    assert (tmp_path / "tokenizer.json").read_text("utf-8") == shipped


def test_encode_batch_pads_on_the_right():
    tokenizer = load_tokenizer()
    batch = [parse(CAVE), parse(SHOP)]
    ids, lengths = language.encode_batch(batch, tokenizer)
    assert ids.shape == (2, 13)
    assert lengths.tolist() == [11, 13]
    assert ids[0, :11].tolist() == tokenizer.encode(CAVE)
    assert ids[0, 11:].tolist() == [0, 0]
    assert ids[1].tolist() == tokenizer.encode(SHOP)


def test_encode_batch_refuses_a_tokenizer_that_cuts_words():
    with pytest.raises(ValueError, match="' love'"):
        language.encode_batch([parse(CAVE)], Tokenizer([]))


def test_optimum_by_hand():
    best = language.optimum([parse(CAVE)])
    # "cave" has probability 0.8; the free words are drawn from 3 verbs, 3 more, 4 ways to go on
    assert best["topic"] == (1, pytest.approx(-np.log(0.8)), 1.0)
    love, study, bats = 0.12 / 0.28 / 3, 1 / 3, 0.5 / 6
    assert best["all"].n == 10
    assert best["all"].loss * 10 == pytest.approx(-np.log([love, study, bats, 0.8]).sum())
    assert best["free"].n == 9


def test_no_predictor_expects_better_than_the_optimum(texts):
    best = language.optimum(texts[:300])
    for relation in ("coreference", "recall", "list", "both"):
        assert best[relation].loss == pytest.approx(0, abs=1e-12)
        assert best[relation].accuracy == 1
    entropy = -(0.8 * np.log(0.8) + 0.2 * np.log(0.2))
    assert best["topic"].loss == pytest.approx(entropy, abs=0.2)


def test_a_seed_gives_the_same_texts():
    assert corpus(20, seed=3) == corpus(20, seed=3)
    assert corpus(20, seed=3) != corpus(20, seed=4)


@pytest.mark.parametrize("relation", RELATIONS)
def test_sample_can_be_asked_for_a_relation(relation):
    rng = np.random.default_rng(5)
    assert all(relation in language.sample(rng, relation).relations for _ in range(20))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"relation must be one of .*topic.* got 'rhyme'"):
        language.sample(np.random.default_rng(0), "rhyme")
    with pytest.raises(ValueError, match="'moon' cannot stand after 'I love to'"):
        next_word_distribution("I love to moon")
    with pytest.raises(ValueError, match="whole sentence"):
        parse("I love to study")
    with pytest.raises(ValueError, match="the sentence is over"):
        parse(CAVE + " I")
    with pytest.raises(TypeError, match="n must be an integer"):
        corpus(1.5)


def test_slots_are_data_that_a_page_can_read():
    """Nothing in a slot is code, and its JSON says the same as the slot."""
    for form in grammar.FORMS:
        for slot in form.slots:
            assert not any(callable(value) for value in vars(slot).values())
            assert (slot.table is None) == bool(slot.words)
            for distribution in (slot.table or {}).values():
                assert sum(distribution.values()) == pytest.approx(1)
    json.dumps(tabulate())
