"""What the priors may do to the order, and what they may not."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from ultan.library.entry import Entry
from ultan.retrieval import priors


def entry(scope: str = "global", **fields: object) -> Entry:
    return Entry("global/a", "global/a.md", "A", "", scope=scope, **fields)  # type: ignore[arg-type]


def test_an_entry_with_nothing_but_a_title_is_neutral() -> None:
    assert set(priors.priors(entry(), "shop").values()) == {0.0}


def test_each_reinforcement_counts_less_than_the_one_before_until_there_are_enough() -> None:
    steps = [priors.reinforced(count) for count in range(priors.ENOUGH_REINFORCED + 1)]
    gains = [after - before for before, after in pairwise(steps)]
    assert all(gain > 0 for gain in gains)
    assert gains == sorted(gains, reverse=True)
    assert priors.reinforced(10_000) == steps[-1] == priors.REINFORCED
    assert priors.reinforced(-3) == 0.0


def test_the_projects_own_entry_stands_before_a_global_one_and_no_other_projects() -> None:
    assert priors.project_scope("project:shop", "shop") > priors.project_scope("global", "shop") == 0.0
    assert priors.project_scope("project:shop", "bank") == 0.0
    assert priors.project_scope("project:None", None) == 0.0


def test_usefulness_is_unknown_until_the_entry_was_shown() -> None:
    assert priors.usefulness(helpful=5, fired=0) == 0.0


def test_usefulness_moves_with_evidence_and_little_with_one_showing() -> None:
    never, once, often = (priors.usefulness(0, fired) for fired in (20, 1, 3))
    assert never < often < once < 0.0
    assert priors.usefulness(1, 4) == pytest.approx(0.0)  # as often as the prior expects
    assert priors.usefulness(3, 4) > priors.usefulness(2, 4) > 0.0
    assert priors.usefulness(9, 3) == priors.usefulness(3, 3)  # counted twice somewhere


def test_what_was_said_firmly_stands_a_little_higher() -> None:
    assert priors.encoding_strength(1.0) > priors.encoding_strength(0.5) == 0.0
    assert priors.encoding_strength(0.0) == -priors.encoding_strength(1.0) < 0.0


def test_no_priors_let_an_entry_overtake_one_that_is_clearly_more_probable() -> None:
    fields = product((0, 50), ("global", "project:shop"), (0, 1000), (0.0, 1.0), (0, 1000))
    sums = [
        sum(
            priors.priors(
                entry(scope, reinforced=count, fired_helpful=helpful, encoding_strength=strength),
                "shop",
                fired,
            ).values()
        )
        for count, scope, helpful, strength, fired in fields
    ]
    assert 0.5 < max(sums) - min(sums) < 1.0


def test_the_order_of_equals_is_the_priors_and_of_others_the_probability() -> None:
    liked = {"reinforced": 0.25}
    assert priors.standing(0.6, liked) > priors.standing(0.6, {}) > priors.standing(0.4, liked)
    assert priors.standing(0.0, {}) < priors.standing(1.0, {})  # both are finite
