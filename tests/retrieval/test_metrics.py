"""The figures of an evaluation."""

from __future__ import annotations

import pytest
from ultan.retrieval.metrics import Outcome, figures

OUTCOMES = [
    Outcome("keyword", {"a": 2, "b": 1}, ("a", "x")),
    Outcome("keyword", {"a": 2, "b": 2, "c": 2, "d": 2}, ("a", "b", "x")),
    Outcome("paraphrase", {"a": 2}, ()),
    Outcome("negative-easy", {}, ()),
    Outcome("negative-hard", {}, ("x",)),
]


def test_figures_of_a_small_run_are_those_computed_by_hand() -> None:
    found = figures(OUTCOMES)
    recall = (1 + 2 / 3 + 0) / 3
    assert found["recall_at_3"] == pytest.approx(recall)
    assert found["silence"] == 0.5
    assert found["prime_score"] == pytest.approx(2 * recall * 0.5 / (recall + 0.5))
    assert (found["silence_easy"], found["silence_hard"]) == (1.0, 0.0)
    assert found["precision_at_3_all"] == 0.5
    assert found["precision_at_3_positives"] == 3 / 5
    assert found["hit_at_1_any"] == found["hit_at_1_grade_2"] == pytest.approx(2 / 3)
    assert found["mute_on_positives"] == pytest.approx(1 / 3)
    assert (found["queries"], found["positives"], found["negatives"]) == (5, 3, 2)
    first = 3 / (3 + 1 / 1.5849625)
    second = (3 + 3 / 1.5849625) / (3 + 3 / 1.5849625 + 3 / 2)
    assert found["ndcg_at_3"] == pytest.approx((first + second) / 3)
    kinds = found["by_kind"]
    assert isinstance(kinds, dict)
    assert kinds["negative-hard"] == {
        "queries": 1,
        "recall_at_3": None,
        "false_surface_rate": 1.0,
        "false_entries_per_query": 1.0,
    }
    assert found["prime_score_low"] <= found["prime_score"] <= found["prime_score_high"]


def test_a_run_of_nothing_has_figures() -> None:
    assert figures([])["prime_score"] == 0.0
