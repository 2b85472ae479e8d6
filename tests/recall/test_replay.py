"""What past prompts would bring today, from their records."""

from __future__ import annotations

from typing import Any

import pytest
from ultan.recall.replay import (
    BROKEN,
    CHANGED,
    PART,
    UNCHANGED,
    Replayed,
    compared,
    distinct,
    excluded,
    since,
    skipped,
    summary,
    unusable,
)

NOW = 1_796_000_000.0  # 2026-11-30T00:53:20Z


def held(id: str, cut: str | None = None, probability: float | None = 0.5, **more: Any) -> dict[str, Any]:
    return {"id": id, "title": id.upper(), "cut": cut, "probability": probability, **more}


def record(*candidates: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"v": 2, "via": "daemon", "prompt": "deploy?", "candidates": list(candidates), **more}


def replayed(then: dict[str, Any], now: dict[str, Any], gone: frozenset[str] = frozenset()) -> Replayed:
    after = [item["id"] for item in now["candidates"] if item["cut"] is None]
    return compared(then, now, after, lambda id: id not in gone)


def test_the_same_notes_in_the_same_order_are_no_change() -> None:
    then = record(held("a"), held("b"), held("c", "below threshold", 0.2))
    now = record(held("a", probability=0.9), held("b"), held("d", "below threshold"))
    found = replayed(then, now)
    assert (found.outcome, found.new, found.gone, found.reordered) == (UNCHANGED, [], [], False)


def test_what_is_newly_and_no_longer_shown_is_told_with_where_it_stood() -> None:
    then = record(held("a"), held("b", "below threshold", 0.2))
    now = record(held("b", probability=0.6), held("a", "overridden", None, because="c"))
    found = replayed(then, now)
    assert found.outcome == CHANGED and not found.reordered
    assert [(note.id, note.was, note.now) for note in found.new] == [
        ("b", "below threshold (20 %)", "shown (60 %)")
    ]
    assert [(note.id, note.was, note.now) for note in found.gone] == [("a", "shown (50 %)", "overridden (c)")]


def test_a_note_that_was_deleted_or_is_new_is_told_as_such() -> None:
    found = replayed(record(held("old")), record(held("young")), frozenset(["old"]))
    assert (found.gone[0].now, found.new[0].was) == ("not in the library", "not considered")
    assert found.gone[0].title == "OLD"


def test_another_order_of_what_stays_is_a_change_but_a_gap_in_it_is_none() -> None:
    assert replayed(record(held("a"), held("b")), record(held("b"), held("a"))).reordered
    three = record(held("a"), held("b"), held("c"))
    assert not replayed(three, record(held("a"), held("c"))).reordered


@pytest.mark.parametrize(
    ("spoiled", "reason"),
    [
        (record(prompt_chars=9000), PART),
        (record(v=1, prompt="x" * 300), PART),
        (record(prompt=None), BROKEN),
        ({"prompt": "deploy?"}, BROKEN),
        (record(project=7), BROKEN),
        (record(), ""),
    ],
)
def test_what_is_not_whole_cannot_be_ranked_again(spoiled: dict[str, Any], reason: str) -> None:
    assert unusable(spoiled) == reason


def test_what_the_session_had_seen_is_excluded_also_where_only_the_candidates_tell() -> None:
    assert excluded(record(exclude=["a", 3])) == {"a"}
    assert excluded(record(held("b", "already shown"), held("c"))) == {"b"}


def test_of_two_answers_to_one_prompt_the_daemons_is_compared() -> None:
    slow = record(session_id="s", prompt_id="p")
    quick = {**slow, "via": "fallback"}
    nameless = record(session_id="s", prompt_id="")
    assert distinct([quick, slow]) == distinct([slow, quick]) == [slow]
    assert distinct([slow, slow]) == [slow]
    assert distinct([nameless, nameless]) == [nameless, nameless]


def test_the_summary_counts_prompts_and_notes() -> None:
    ranked = [
        replayed(record(held("a")), record(held("a"))),
        replayed(record(held("a"), via="fallback"), record(held("b"))),
        replayed(record(), record(held("a"), held("b"))),
        replayed(record(held("a"), held("b")), record(held("b"), held("a"))),
        skipped(record(), PART),
        skipped(record(), BROKEN),
    ]
    assert summary(ranked, older=4) == {
        "prompts": 6,
        "unchanged": 1,
        "changed": 3,
        "skipped": 2,
        "skipped_in_part": 1,
        "newly_shown": 3,
        "no_longer_shown": 1,
        "reordered": 1,
        "changed_from_fallback": 1,
        "notes_before": 4,
        "notes_after": 6,
        "silent_before": 1,
        "silent_after": 0,
        "left_out_by_limit": 4,
    }


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30m", "2026-11-30T00:23:20Z"),
        ("2d", "2026-11-28T00:53:20Z"),
        ("2026-11-29", "2026-11-29T00:00:00Z"),
        ("2026-11-29 08:00", "2026-11-29T08:00:00Z"),
        ("2026-11-29T08:00:00+02:00", "2026-11-29T06:00:00Z"),
    ],
)
def test_a_time_is_so_long_ago_or_a_date_in_utc(text: str, moment: str) -> None:
    assert since(text, NOW) == moment


@pytest.mark.parametrize("text", ["yesterday", "", "7", "-2d", "2026-13-01"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        since(text, NOW)
