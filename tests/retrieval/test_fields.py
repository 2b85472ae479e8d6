"""Shares of a question and of an entry's fields."""

from __future__ import annotations

import pytest
from ultan.retrieval.fields import FEATURES, Fields


@pytest.fixture
def shares(home, write):  # type: ignore[no-untyped-def]
    from ultan.library.store import Store
    from ultan.retrieval.index import Index

    write("global/a", "Retry uploads", "Back off exponentially.", applies_when="an upload fails")
    write("global/b", "Money", "Amounts are integers of cents.")
    index = Index(home, None)
    index.refresh(Store(home).scan().entries)
    held, fields = index.snapshot, Fields(remembered=1)

    def ask(*tokens: str) -> dict[str, list[float]]:
        ids = ["global/a", "global/b"]
        entries, hashes = [held.entries[id] for id in ids], [held.marks[id].text for id in ids]
        found = fields.shares(entries, hashes, {token: 1.0 for token in tokens}, held.bm25)
        return {name: values.tolist() for name, values in found.items()}

    return ask


def test_a_field_that_shares_nothing_has_no_share(shares) -> None:  # type: ignore[no-untyped-def]
    assert all(values == [0.0, 0.0] for values in shares("kubernetes").values())


def test_what_says_all_of_a_title_covers_it(shares) -> None:  # type: ignore[no-untyped-def]
    from ultan.wire.tokens import tokenize

    found = shares(*tokenize("Money"), "other")
    assert found["of_title"][1] == 1.0 and found["in_title"] == [0.0, 0.5]
    assert found["of_title"][0] == 0.0


def test_every_share_is_between_0_and_1_and_an_empty_question_has_none(shares) -> None:  # type: ignore[no-untyped-def]
    assert set(shares()) == set(FEATURES)
    assert all(0.0 <= value <= 1.0 for values in shares("upload", "cent").values() for value in values)
