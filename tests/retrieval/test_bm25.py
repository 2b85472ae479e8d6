"""BM25 from postings."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi
from ultan.retrieval.bm25 import BM25, LEAST_IDF

_WORD = st.sampled_from("alpha beta gamma delta epsilon zeta".split())
_ENTRY = st.lists(_WORD, max_size=8)
_CORPUS = st.lists(_ENTRY, min_size=1, max_size=12)


def index_of(corpus: list[list[str]]) -> BM25:
    return BM25.empty().changed({row: Counter(words) for row, words in enumerate(corpus)})


def reference(corpus: list[list[str]], question: list[str]) -> np.ndarray:
    """rank-bm25, with the one deviation: no word weighs less than LEAST_IDF."""
    okapi = BM25Okapi(corpus)
    okapi.idf = {word: max(weight, LEAST_IDF) for word, weight in okapi.idf.items()}
    return np.asarray(okapi.get_scores(question))


@given(_CORPUS.filter(lambda corpus: any(corpus)), st.lists(_WORD, max_size=6))
def test_scores_are_those_of_rank_bm25(corpus: list[list[str]], question: list[str]) -> None:
    assert index_of(corpus).scores(question) == pytest.approx(reference(corpus, question))


def test_words_rarer_than_the_floor_have_exactly_rank_bm25s_weight() -> None:
    corpus = [["alpha", "beta"], ["beta"], ["beta", "gamma"], ["delta"], ["zeta"]]
    expected = BM25Okapi(corpus).get_scores(["alpha", "gamma", "gamma"])
    assert index_of(corpus).scores(["alpha", "gamma", "gamma"]) == pytest.approx(expected)


@given(_CORPUS, st.lists(st.tuples(st.integers(0, 14), st.none() | _ENTRY), max_size=12))
@settings(max_examples=150)
def test_changing_one_entry_after_the_other_is_as_good_as_building_anew(
    corpus: list[list[str]], changes: list[tuple[int, list[str] | None]]
) -> None:
    index, expected = index_of(corpus), dict(enumerate(corpus))
    for row, words in changes:
        index = index.changed({row: None if words is None else Counter(words)})
        if words is None:
            expected.pop(row, None)
        else:
            expected[row] = words
    built = BM25.empty().changed({row: Counter(words) for row, words in expected.items()})
    question = ["alpha", "zeta", "zeta"]
    found = index.scores(question)
    assert index.entries == len(expected)
    assert found[: len(built.lengths)] == pytest.approx(built.scores(question))
    assert not found[len(built.lengths) :].any()


def test_an_index_does_not_change_when_the_next_one_is_made() -> None:
    first = index_of([["alpha"], ["beta"], ["gamma"]])
    before = first.scores(["alpha", "beta", "delta"]).copy()
    second = first.changed({0: None, 1: {"delta": 3}, 5: {"alpha": 1}})
    assert np.array_equal(first.scores(["alpha", "beta", "delta"]), before)
    assert second.scores(["alpha"])[5] > 0
    assert second.scores(["alpha"])[0] == 0


@pytest.mark.parametrize("others", [[], [["beta"]], [["alpha", "beta"]], [[]]])
def test_an_exact_hit_in_a_tiny_library_has_a_positive_score(others: list[list[str]]) -> None:
    scores = index_of([["alpha", "gamma"], *others]).scores(["gamma"])
    assert scores[0] > 0
    assert scores[0] == scores.max()


@pytest.mark.parametrize("corpus", [[], [[]], [[], []]])
def test_a_library_without_words_scores_nothing(corpus: list[list[str]]) -> None:
    index = index_of(corpus)
    assert not index.scores(["alpha"]).any()
    assert index.matches(["alpha"], list(range(len(corpus)))).shape == (1, len(corpus))


def test_matches_tell_which_rows_hold_a_word() -> None:
    index = index_of([["alpha", "alpha"], ["beta"], ["alpha", "beta"]])
    held = index.matches(["alpha", "nowhere", "beta"], [2, 0])
    assert (held > 0).tolist() == [[True, True], [False, False], [True, False]]
    assert index.holders("alpha") == 2
    assert index.holders("nowhere") == 0
