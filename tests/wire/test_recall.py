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
