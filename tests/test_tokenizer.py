"""mhalib.tokenizer: training, encoding, decoding, files."""

import json

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from mhalib import Tokenizer, language, load_tokenizer, train_bpe
from mhalib.tokenizer import merge_pair, split_words

CORPUS = (
    "There are so many bats I can choose at the baseball store. "
    "I love to study bats that live inside a cave. " * 3
)
tokenizer = Tokenizer.train(CORPUS, vocab_size=300)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))  # all of Unicode but lone surrogates
# What both know: Python and tiktoken follow other versions of Unicode, so no unassigned characters.
WORDS = st.sampled_from(["bats ", " cave", "  ", "\n", "don't", " 12", "\ud800", "\ud83e\udd87"])
KNOWN_TEXT = st.lists(st.characters(exclude_categories=["Cn"]) | WORDS).map("".join)
ODD = [
    "",
    " ",
    "  ",
    "\t\n",
    "a\u00a0b",
    "\u2028\u3000",
    "🦇 ⚾",
    "👩‍👩‍👧",
    "é",
    "e\u0301",
    "½²",
    "٣٤ ४५",
    "_a_",
    "I'm",
    "\x00",
    "नमस्ते",
    "  two  spaces  ",
    "x\r\n\r\ny ",
    "\U0010ffff",
]


class TestTraining:
    def test_by_hand(self):
        # "aab aab ab": inside words, (a, b) 3 times, (a, a) twice; then (a, ab) twice
        merges = train_bpe("aab aab ab", 2)
        assert merges == [(97, 98), (97, 256)]

    def test_ties_take_the_smallest_pair(self):
        assert train_bpe("zy ab", 1) == [(32, 97)]  # the bytes of " a" come before "ab" and "zy"

    def test_does_not_depend_on_the_order_of_the_words(self):
        words = CORPUS.split()
        backward = " ".join(reversed(words))
        assert train_bpe(" " + " ".join(words), 30) == train_bpe(" " + backward, 30)

    def test_stops_when_nothing_is_left(self):
        assert train_bpe("ab ab", 99) == [(97, 98), (32, 256)]
        assert train_bpe("", 5) == []

    def test_overlapping_pairs_merge_from_the_left(self):
        assert merge_pair([97, 97, 97], (97, 97), 256) == [256, 97]

    def test_merges_stay_inside_words(self):
        for token in tokenizer.vocab[256:]:
            assert b" " not in token[1:]

    @pytest.mark.parametrize(
        "call, error, message",
        [
            (lambda: train_bpe("a", -1), ValueError, "n_merges must be at least 0, got -1"),
            (
                lambda: Tokenizer.train("a", 255),
                ValueError,
                "vocab_size must be at least 256, got 255",
            ),
            (lambda: Tokenizer([(97, 256)]), ValueError, "merges must lie in 0 … 255, got 256"),
            (lambda: Tokenizer([(97, 98, 99)]), ValueError, "merges must be pairs"),
            (lambda: tokenizer.decode([300]), ValueError, "ids must lie in 0 … 299, got 300"),
            (lambda: tokenizer.decode([1.5]), TypeError, "ids must hold integers"),
            (lambda: tokenizer.decode(5), ValueError, "ids must be a flat sequence .*, got 5"),
            (lambda: tokenizer.decode([[5]]), ValueError, "ids must be a flat sequence"),
            (lambda: tokenizer.encode(5), TypeError, "text must be a string, got 5"),
            (lambda: tokenizer.encode(b"a"), TypeError, "text must be a string, got b'a'"),
        ],
    )
    def test_errors(self, call, error, message):
        with pytest.raises(error, match=message):
            call()


class TestCoding:
    def test_lowest_rank_first(self):
        ranked = Tokenizer([(98, 99), (97, 98)])
        assert ranked.encode("abc") == [97, 256]

    def test_each_step_is_one_merge(self):
        steps = list(Tokenizer.train("bat bat cat", 258).merge_steps("bat cat"))
        assert [len(ids) for ids in steps] == [7, 5, 4]
        assert steps[-1] == Tokenizer.train("bat bat cat", 258).encode("bat cat")

    def test_without_merges_the_ids_are_the_bytes(self):
        assert Tokenizer([]).encode("é🦇") == list("é🦇".encode())

    @pytest.mark.parametrize("text", ODD)
    def test_odd_text_round_trip(self, text):
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert b"".join(tokenizer.tokens(text)) == text.encode()
        assert "".join(split_words(text)) == text

    @given(ANY_TEXT)
    def test_any_text_round_trip(self, text):
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert "".join(split_words(text)) == text

    @given(st.lists(st.sampled_from(CORPUS.split() + ["\n", "  ", "🦇", "caves"])))
    def test_the_last_step_is_the_code(self, words):
        text = " ".join(words)
        *_, last = tokenizer.merge_steps(text)
        assert last == tokenizer.encode(text)

    @given(st.lists(st.integers(0, 299)))
    def test_any_ids_decode(self, ids):
        assert isinstance(tokenizer.decode(ids), str)

    def test_broken_utf8_shows(self):
        assert tokenizer.decode([0xF0, 0x9F]) == "\ufffd"

    def test_a_word_takes_the_space_before_it(self):
        assert split_words("I love  bats, 12!") == ["I", " love", " ", " bats", ",", " 12", "!"]


class TestFiles:
    def test_round_trip(self, tmp_path):
        tokenizer.save(tmp_path / "t.json")
        loaded = Tokenizer.load(tmp_path / "t.json")
        assert loaded.merges == tokenizer.merges
        assert loaded.vocab == tokenizer.vocab

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b"[]",
            b"null",
            b'{"merges": 3}',
            b'{"merges": [[97]]}',
            b'{"merges": [[97, 999]]}',
            b'{"merges": [["a", "b"]]}',
            b'{"vocab": []}',
            b"\xff\xfe",
        ],
    )
    def test_foreign_files(self, tmp_path, content):
        path = tmp_path / "t.json"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"t\.json is not a saved Tokenizer"):
            Tokenizer.load(path)

    def test_truncated(self, tmp_path):
        path = tmp_path / "t.json"
        tokenizer.save(path)
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(ValueError, match="is not a saved Tokenizer"):
            Tokenizer.load(path)

    def test_missing(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            Tokenizer.load(tmp_path / "none.json")

    def test_is_plain_json(self, tmp_path):
        tokenizer.save(tmp_path / "t.json")
        assert json.loads((tmp_path / "t.json").read_text("utf-8"))["merges"][0] == list(
            tokenizer.merges[0]
        )


def as_tiktoken(ours):
    """Build tiktoken's Encoding from our merges: another implementation, by other people."""
    space = r" \t\n\r\f\v"
    words = (
        r" ?[\p{L}\p{Nl}\p{No}]+| ?\p{Nd}+"
        rf"| ?(?:_|[^\p{{L}}\p{{N}}_{space}])+|[{space}]+(?![^{space}])|[{space}]"
    )
    ranks = {token: rank for rank, token in enumerate(ours.vocab)}
    assert len(ranks) == ours.vocab_size
    return tiktoken.Encoding("course", pat_str=words, mergeable_ranks=ranks, special_tokens={})


class TestTiktoken:
    trained = load_tokenizer()
    theirs = as_tiktoken(trained)

    @pytest.mark.parametrize("text", [*ODD, "a\ud800", "\udd87\ud83e", "\ud83e\udd87", CORPUS])
    def test_odd_texts(self, text):
        assert self.trained.encode(text) == self.theirs.encode(text)

    @given(KNOWN_TEXT)
    def test_any_text(self, text):
        ids = self.trained.encode(text)
        assert ids == self.theirs.encode(text, disallowed_special=())
        assert self.trained.decode(ids) == self.theirs.decode(ids)

    def test_texts_of_the_language(self):
        for text in map(str, language.corpus(500, seed=3)):
            assert self.trained.encode(text) == self.theirs.encode(text)


def test_half_a_surrogate_pair_is_the_replacement_character():
    assert tokenizer.encode("a\ud800b") == tokenizer.encode("a\ufffdb")
    assert tokenizer.encode("\ud83e\udd87") == tokenizer.encode("🦇")  # both halves: a bat
    assert train_bpe("a\ud800a\ud800", 1) == train_bpe("a\ufffda\ufffd", 1)
