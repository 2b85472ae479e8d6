"""Of two notes about one matter, the one of the project is shown."""

from __future__ import annotations

import pytest
from ultan.retrieval.overrides import alike, displaced
from ultan.retrieval.snapshot import Snapshot

RULE = "Merge pull requests with squash, one commit a change, and delete the branch afterwards."
MINE = "Merge pull requests with rebase, one commit a change, and delete the branch afterwards."


@pytest.fixture
def held(home, write):  # type: ignore[no-untyped-def]
    def make(body: str) -> Snapshot:
        from ultan.library.store import Store
        from ultan.retrieval.index import Index

        write("global/git/merging", "How to merge pull requests", RULE)
        write("global/git/naming", "How to name a branch", "Branches are named after their ticket.")
        write("projects/bank/merging", "How to merge pull requests", body)
        index = Index(home, None)
        index.refresh(Store(home).scan().entries)
        return index.snapshot

    return make


IDS = ["global/git/merging", "global/git/naming", "projects/bank/merging"]


def test_a_near_duplicate_of_the_project_displaces_the_global_note(held) -> None:  # type: ignore[no-untyped-def]
    assert displaced(held(MINE), IDS, "bank") == {"global/git/merging": "projects/bank/merging"}


def test_in_another_project_and_in_none_nothing_is_displaced(held) -> None:  # type: ignore[no-untyped-def]
    assert displaced(held(MINE), IDS, "shop") == {} == displaced(held(MINE), IDS, None)


def test_a_note_of_the_project_that_was_not_found_displaces_nothing(held) -> None:  # type: ignore[no-untyped-def]
    assert displaced(held(MINE), IDS[:2], "bank") == {}


def test_a_link_makes_a_lesser_likeness_enough(held) -> None:  # type: ignore[no-untyped-def]
    other = "Merge pull requests with rebase, one commit a change, after two reviews."
    assert displaced(held(other), IDS, "bank") == {}
    linked = held(other + " Unlike [[global/git/merging]].")
    assert displaced(linked, IDS, "bank") == {"global/git/merging": "projects/bank/merging"}


def test_likeness_goes_from_nothing_shared_to_all_shared(held) -> None:  # type: ignore[no-untyped-def]
    entries = held(RULE).entries
    assert alike(entries[IDS[0]], entries[IDS[2]]) == 1.0
    assert alike(entries[IDS[0]], entries[IDS[1]]) < 0.4
