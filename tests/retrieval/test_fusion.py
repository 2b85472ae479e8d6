"""Making one ranking of two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.retrieval.fusion import min_max, reciprocal_rank_fusion, weighted_sum
from ultan.retrieval.stages import best


def test_reciprocal_ranks_add_up_and_ties_keep_their_order() -> None:
    found = reciprocal_rank_fusion([np.array([3.0, 2.0, 1.0]), np.array([1.0, 1.0, 5.0])])
    assert found == pytest.approx([1 / 61 + 1 / 62, 1 / 62 + 1 / 63, 1 / 63 + 1 / 61])
    assert len(reciprocal_rank_fusion([])) == 0


def test_a_flat_leg_adds_nothing_to_a_weighted_sum() -> None:
    found = weighted_sum([np.array([2.0, 4.0, 3.0]), np.array([7.0, 7.0, 7.0])], [0.6, 0.4])
    assert found == pytest.approx([0.0, 0.6, 0.3])
    assert len(weighted_sum([], [])) == 0
    assert len(min_max(np.zeros(0))) == 0


@given(st.lists(st.floats(-1e6, 1e6), max_size=60), st.integers(1, 8))
def test_the_best_are_the_best_in_order(values: list[float], size: int) -> None:
    scores = np.array(values)
    expected = sorted(range(len(values)), key=lambda place: (-values[place], place))[:size]
    assert best(scores, size).tolist() == expected
