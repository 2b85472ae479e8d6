"""The recall log: written in one form, read newest first, whatever else is in the folder."""

from __future__ import annotations

from pathlib import Path

from ultan.recall import log, why
from ultan.wire import recall
from ultan.wire.home import Home
from ultan.wire.session import SessionMemory

NOW = 1_796_000_000.0
DAY = 86400.0


def note(home: Home, session: str, prompt: str, now: float = NOW) -> None:
    candidates: list[dict[str, object]] = [{"id": "global/a", "scores": {"bm25": 1.5}, "cut": None}]
    recall.append(
        home, recall.line("daemon", session, prompt, None, "deploy?", candidates, {"bm25": 0.1234}, now)
    )


def test_the_newest_record_of_a_session_or_a_prompt_is_found(home: Home) -> None:
    note(home, "a", "1", NOW - DAY)
    note(home, "b", "2", NOW)
    note(home, "a", "3", NOW)
    newest = recall.newest(home)
    assert newest is not None
    assert newest["prompt_id"] == "3"
    of_prompt = recall.newest(home, prompt_id="1")
    assert of_prompt is not None
    assert of_prompt["session_id"] == "a"
    assert recall.newest(home, session_id="c") is None


def test_broken_lines_and_foreign_files_are_passed_over(home: Home) -> None:
    note(home, "a", "1")
    day = next(Path(home.recall).glob("*.jsonl"))
    day.write_bytes(day.read_bytes() + b'{"half": \n[1]\n\xff\n')
    Path(home.recall, "notes.txt").write_text("mine")
    assert [record["prompt_id"] for record in recall.records(home)] == ["1"]


def test_why_tells_what_was_considered_and_what_was_really_shown(home: Home) -> None:
    note(home, "a", "1")
    SessionMemory(home, "a").add(NOW, surfaced=["global/a"], prompt_id="1")
    story = why.explain(home)
    assert story is not None
    assert story.shown == ["global/a"]
    assert story.candidates[0]["scores"] == {"bm25": 1.5}
    assert story.timings_ms == {"bm25": 0.12}


def test_of_a_long_prompt_both_ends_are_kept_and_the_record_says_so(home: Home) -> None:
    prompt = "deploy " + "x" * 10_000 + " on Friday?"
    record = recall.line("daemon", "a", "1", None, prompt, [], {}, NOW)
    kept = str(record["prompt"])
    assert len(kept) == recall.PROMPT_CHARS
    assert kept.startswith("deploy ") and kept.endswith(" on Friday?")
    assert record["prompt_chars"] == len(prompt)
    assert recall.is_cut(record)
    assert not recall.is_cut(recall.line("daemon", "a", "1", None, "x" * recall.PROMPT_CHARS, [], {}, NOW))


def test_a_full_prompt_of_the_first_version_counts_as_cut() -> None:
    assert recall.is_cut({"v": 1, "prompt": "x" * 300})
    assert not recall.is_cut({"v": 1, "prompt": "x" * 299})


def test_a_record_tells_where_it_was_asked_what_was_shown_before_and_how_it_was_ranked() -> None:
    record = recall.line(
        "daemon", "a", "1", None, "deploy?", [], {}, NOW, cwd="/src", exclude={"b", "a"}, threshold=0.3
    )
    assert (record["cwd"], record["exclude"], record["threshold"]) == ("/src", ["a", "b"], 0.3)


def test_what_is_older_than_two_weeks_goes(home: Home) -> None:
    import os

    note(home, "a", "1", NOW - 20 * DAY)
    note(home, "a", "2", NOW)
    SessionMemory(home, "old").add(NOW, surfaced=["global/a"], prompt_id="1")
    old = Path(SessionMemory(home, "old").path)
    os.utime(old, (NOW - 20 * DAY, NOW - 20 * DAY))
    assert log.expire(home, NOW) == 2
    assert [record["prompt_id"] for record in recall.records(home)] == ["2"]
    assert not old.exists()
