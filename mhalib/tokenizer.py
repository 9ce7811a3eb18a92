"""Byte-level byte-pair encoding: text → tokens → ids and back (chapter 1).

Ids 0 … 255 are the bytes; id 256 + r is the pair of ids that merge number r joined.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path

from mhalib import _validate as validate

Pair = tuple[int, int]

# Merges never cross a border between words. A word takes its space along, as in GPT-2; letters,
# digits and other signs are kept apart. White space is spelled out: all runtimes cut alike.
_WORD = re.compile(
    r" ?[^\W\d_]+"  # letters
    r"| ?\d+"
    r"| ?(?:_|[^\w \t\n\r\f\v])+"  # punctuation, emoji, …
    r"|[ \t\n\r\f\v]+(?![^ \t\n\r\f\v])"  # white space, but for the last space before a word
    r"|[ \t\n\r\f\v]"
)


def split_words(text: str) -> list[str]:
    """Cut `text` into the words inside which merges happen; joined, they are `text` again.

    Half a surrogate pair, which no UTF-8 can hold, counts as U+FFFD, as in browsers and tiktoken.

    Raises
    ------
    TypeError
        If `text` is not a string.

    Examples
    --------
    >>> split_words("I love bats.")
    ['I', ' love', ' bats', '.']
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {text!r}")
    return _WORD.findall(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def merge_pair(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replace each occurrence of `pair` in `ids`, from left to right, by `new_id`.

    Examples
    --------
    >>> merge_pair([97, 98, 97, 98, 99], (97, 98), 256)
    [256, 256, 99]
    """
    merged: list[int] = []
    i = 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            merged.append(new_id)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
    return merged


def train_bpe(text: str, n_merges: int) -> list[Pair]:
    """Learn merges from `text`: again and again, join the pair of neighbours seen most often.

    Among pairs seen equally often the one with the smallest ids comes first.

    Parameters
    ----------
    text : str
        The corpus.
    n_merges : int
        How many merges to learn; fewer are learned if nothing is left to join.

    Returns
    -------
    list of pairs of int
        Ids, in the order in which they were learned.

    Raises
    ------
    TypeError, ValueError
        If `text` is not a string, or `n_merges` not an integer of at least 0.

    References
    ----------
    Sennrich, Haddow, Birch (2016), *Neural Machine Translation of Rare Words with Subword
    Units*, §3.2; Radford et al. (2019) for bytes in the place of characters.

    Examples
    --------
    >>> [bytes(pair) for pair in train_bpe("bat bat cat", 1)]
    [b'at']
    """
    n_merges = validate.positive_int("n_merges", n_merges, minimum=0)
    words = {tuple(word.encode()): count for word, count in Counter(split_words(text)).items()}
    merges: list[Pair] = []
    while len(merges) < n_merges:
        counts: Counter[Pair] = Counter()
        for word, count in words.items():
            for pair in pairwise(word):
                counts[pair] += count
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        new_id = 256 + len(merges)
        words = {tuple(merge_pair(word, best, new_id)): count for word, count in words.items()}
        merges.append(best)
    return merges


class Tokenizer:
    """Byte-pair encoding with a fixed list of merges.

    Parameters
    ----------
    merges : list of pairs of int
        Ids in the order in which they were learned (see `train_bpe`).

    Attributes
    ----------
    vocab : list of bytes
        The text of each id.

    Raises
    ------
    TypeError, ValueError
        If a merge is not a pair of ids that are there before it.

    Examples
    --------
    >>> tokenizer = Tokenizer.train("bat bat cat", vocab_size=258)
    >>> tokenizer.encode("bat")
    [257]
    >>> tokenizer.tokens("tab bat")
    [b't', b'a', b'b', b' ', b'bat']
    """

    def __init__(self, merges: Sequence[Pair]) -> None:
        self.merges: list[Pair] = []
        self.vocab = [bytes([i]) for i in range(256)]
        for pair in merges:
            known = validate.int_array("merges", pair, below=len(self.vocab))
            if known.shape != (2,):
                raise ValueError(f"merges must be pairs of earlier ids, got {pair}")
            left, right = map(int, known)
            self.merges.append((left, right))
            self.vocab.append(self.vocab[left] + self.vocab[right])
        self._rank = {pair: rank for rank, pair in enumerate(self.merges)}

    @classmethod
    def train(cls, text: str, vocab_size: int) -> Tokenizer:
        """Learn merges from a text.

        Parameters
        ----------
        text : str
            The corpus.
        vocab_size : int
            How many tokens there shall be; 256 of them are the bytes.

        Returns
        -------
        Tokenizer
            With fewer tokens if nothing is left to join.

        Raises
        ------
        TypeError, ValueError
            If `text` is not a string, or `vocab_size` not an integer of at least 256.
        """
        return cls(train_bpe(text, validate.positive_int("vocab_size", vocab_size, 256) - 256))

    @property
    def vocab_size(self) -> int:
        return len(self.vocab)

    def merge_steps(self, text: str) -> Iterator[list[int]]:
        """Yield the ids of a text as bytes, then after each merge, the earliest-learned first.

        Parameters
        ----------
        text : str
            Any text.

        Yields
        ------
        list of int
            The ids so far; the last ones are those of `encode`.
        """
        words = [list(word.encode()) for word in split_words(text)]
        yield list(chain.from_iterable(words))
        while (rank := self._next_merge(words)) is not None:
            words = [merge_pair(word, self.merges[rank], 256 + rank) for word in words]
            yield list(chain.from_iterable(words))

    def _next_merge(self, words: Iterable[Sequence[int]]) -> int | None:
        pairs = (pair for word in words for pair in pairwise(word))
        return min((self._rank[pair] for pair in pairs if pair in self._rank), default=None)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text.

        Parameters
        ----------
        text : str
            Any text: what was never merged stays bytes.

        Returns
        -------
        list of int
            One id for each token.
        """
        ids: list[int] = []
        for text_word in split_words(text):
            word = list(text_word.encode())
            while (rank := self._next_merge([word])) is not None:
                word = merge_pair(word, self.merges[rank], 256 + rank)
            ids += word
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids.

        Parameters
        ----------
        ids : list of int
            Tokens.

        Returns
        -------
        str
            Bytes that are not valid UTF-8 become U+FFFD.

        Raises
        ------
        TypeError, ValueError
            If `ids` are not a row of tokens.
        """
        known = validate.int_array("ids", ids, below=self.vocab_size)
        if known.ndim != 1:
            raise ValueError(f"ids must be a flat sequence of integers, got {ids!r}")
        return b"".join(self.vocab[i] for i in known).decode("utf-8", errors="replace")

    def tokens(self, text: str) -> list[bytes]:
        """Return the pieces of a text.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        list of bytes
            One piece for each id of `encode`.
        """
        return [self.vocab[i] for i in self.encode(text)]

    def save(self, path: str | Path) -> None:
        """Write the merges as JSON.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        Path(path).write_text(json.dumps({"type": "BPE", "merges": self.merges}) + "\n", "utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Read what `save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Tokenizer
            The same as the one that was saved.

        Raises
        ------
        OSError, ValueError
            If there is no such file, or it holds no merges.
        """
        try:
            merges = json.loads(Path(path).read_text("utf-8"))["merges"]
            return cls(merges)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"{path} is not a saved Tokenizer: {error}") from error
