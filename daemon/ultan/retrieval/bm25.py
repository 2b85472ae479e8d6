"""Okapi BM25 from postings: the formula and parameters of rank-bm25's BM25Okapi, changed one entry at a time.

    score(d, q) = sum over q of idf(t) * f * (k1 + 1) / (f + k1 * (1 - b + b * |d| / mean |d|))
    idf(t) = ln((N - n + 0.5) / (n + 0.5)), or 0.25 of the mean idf where that is negative

with f how often t stands in d, N the entries, n those that hold t; k1 = 1.5, b = 0.75. One deviation: no
word weighs less than LEAST_IDF. In a library of two, rank-bm25 gives a word of one entry the weight 0 and a
word of both a negative one, which would erase an exact hit.

An index is never changed: `changed` returns another one that shares what stayed the same, so that a reader
keeps a consistent view while the library changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

K1 = 1.5
B = 0.75
EPSILON = 0.25
LEAST_IDF = 0.1

Rows = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_NOWHERE: Rows = np.zeros((2, 0), dtype=np.int32)
_NO_WORDS: Rows = np.zeros(0, dtype=np.int32)


class BM25:
    """Postings over row numbers; a row may be empty.

    vocabulary: token -> number, only ever appended to. postings[number]: int32[2, holders], the rows
    (ascending) and how often each holds the token. words[row]: the numbers of its tokens. lengths:
    float64[rows], in tokens. taken: bool[rows], whether a row is an entry.
    """

    def __init__(
        self,
        vocabulary: dict[str, int],
        postings: list[Rows],
        words: list[Rows],
        lengths: Floats,
        taken: Flags,
    ) -> None:
        self.vocabulary = vocabulary
        self.postings = postings
        self.words = words
        self.lengths = lengths
        self.taken = taken
        self.entries = int(taken.sum())
        self.mean_length = float(lengths.sum()) / self.entries if self.entries else 0.0
        self._negative: float | None = None

    @classmethod
    def empty(cls) -> BM25:
        return cls({}, [], [], np.zeros(0), np.zeros(0, dtype=bool))

    def holders(self, token: str) -> int:
        """How many entries hold a token."""
        posting = self._posting(token)
        return 0 if posting is None else posting.shape[1]

    def idf(self, holders: int) -> float:
        """The weight of a token that this many entries hold."""
        found = math.log((self.entries - holders + 0.5) / (holders + 0.5))
        return max(found if found >= 0 else self._instead_of_negative(), LEAST_IDF)

    def scores(self, tokens: Sequence[str]) -> Floats:
        """float64[rows]: the score of every row; a token that stands twice counts twice, as in rank-bm25."""
        found = np.zeros(len(self.lengths))
        for token in tokens:
            posting = self._posting(token)
            if posting is not None:
                found[posting[0]] += self.idf(posting.shape[1]) * self._saturated(posting)
        return found

    def matches(self, tokens: Sequence[str], rows: Sequence[int]) -> Floats:
        """float64[tokens, rows]: how much of a token a row holds, saturated, without weight; 0 for none."""
        found = np.zeros((len(tokens), len(rows)))
        wanted = np.asarray(rows, dtype=np.int32)
        for place, token in enumerate(tokens):
            posting = self._posting(token)
            if posting is None or not len(wanted):
                continue
            at = np.minimum(np.searchsorted(posting[0], wanted), posting.shape[1] - 1)
            held = posting[0][at] == wanted
            found[place] = np.where(held, self._saturated(posting[:, at]), 0.0)
        return found

    def changed(self, rows: Mapping[int, Mapping[str, int] | None]) -> BM25:
        """The index with these rows replaced by entries of these token counts (None: no entry)."""
        size = max([len(self.words), *(row + 1 for row in rows)])
        postings = list(self.postings)
        words = self.words + [_NO_WORDS] * (size - len(self.words))
        lengths, taken = np.zeros(size), np.zeros(size, dtype=bool)
        lengths[: len(self.lengths)], taken[: len(self.taken)] = self.lengths, self.taken
        leave: dict[int, list[int]] = {}
        enter: dict[int, list[tuple[int, int]]] = {}
        for row, counts in sorted(rows.items()):
            for number in words[row].tolist():
                leave.setdefault(number, []).append(row)
            numbers = []
            for token, times in (counts or {}).items():
                number = self.vocabulary.setdefault(token, len(self.vocabulary))
                enter.setdefault(number, []).append((row, times))
                numbers.append(number)
            words[row] = np.array(numbers, dtype=np.int32)
            lengths[row] = sum((counts or {}).values())
            taken[row] = counts is not None
        postings += [_NOWHERE] * (len(self.vocabulary) - len(postings))
        for number in leave.keys() | enter.keys():
            postings[number] = _merged(postings[number], leave.get(number, []), enter.get(number, []))
        return BM25(self.vocabulary, postings, words, lengths, taken)

    def _posting(self, token: str) -> Rows | None:
        number = self.vocabulary.get(token)
        # A token that a later index appended is none of this one's.
        if number is None or number >= len(self.postings):
            return None
        posting = self.postings[number]
        return posting if posting.shape[1] else None

    def _saturated(self, posting: Rows) -> Floats:
        times = posting[1].astype(np.float64)
        norms: Floats = K1 * (1 - B + B * self.lengths[posting[0]] / self.mean_length)
        found: Floats = times * (K1 + 1) / (times + norms)
        return found

    def _instead_of_negative(self) -> float:
        if self._negative is None:
            holders = np.array([posting.shape[1] for posting in self.postings], dtype=np.float64)
            holders = holders[holders > 0]
            self._negative = EPSILON * float(np.log((self.entries - holders + 0.5) / (holders + 0.5)).mean())
        return self._negative


def _merged(posting: Rows, leave: list[int], enter: list[tuple[int, int]]) -> Rows:
    """A posting without the rows that leave and with those that enter, still ascending."""
    if leave:
        posting = posting[:, ~np.isin(posting[0], leave)]
    if not enter:
        return posting
    added = np.array(enter, dtype=np.int32).T
    if not posting.shape[1]:
        return np.ascontiguousarray(added)
    both = np.concatenate([posting, added], axis=1)
    return both[:, np.argsort(both[0], kind="stable")] if added[0, 0] < posting[0, -1] else both
