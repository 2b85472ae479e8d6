"""Every complete line is delivered exactly once, whatever happened to the file meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import CASES, lines
from ultan.curator.spool import Spool, user_turns
from ultan.service import position, rotation, tailer
from ultan.service.broken import read as set_aside
from ultan.service.tailer import Tailer
from ultan.wire import events
from ultan.wire.home import Home

NOW = 1_796_000_000.0
TRUNCATE = CASES / "tailer-truncate-and-regrow"
PARTIAL = CASES / "tailer-partial-last-line"


def fresh(home: Home) -> Tailer:
    """A tailer as after a restart."""
    return Tailer(home, Spool(home))


def write(home: Home, *names: str, mode: str = "a", path: str | None = None) -> None:
    with Path(path or home.events).open(mode) as file:
        for name in names:
            file.write(json.dumps(event(name)) + "\n")


def event(name: str, session: str = "T", **more: Any) -> dict[str, Any]:
    fields = {
        "event": "UserPromptSubmit",
        "session_id": session,
        "prompt_id": name,
        "prompt": f"event {name}",
    }
    return {"v": 1, "ts": "2026-02-01T10:00:00Z", **fields, **more}


def delivered(home: Home, session: str = "T") -> list[str]:
    return [turn.prompt_id for turn in user_turns(Spool(home).events(session))]


def numbered(*ranges: range) -> list[str]:
    return [f"e{number}" for group in ranges for number in group]


# A log that is cut, replaced, renamed.


@pytest.mark.parametrize("kept", ["own", "first form"])
def test_a_log_that_was_cut_and_has_grown_past_the_offset_is_read_from_its_beginning(
    home: Home, kept: str
) -> None:
    read_before(home, kept)
    with Path(home.events).open("r+b") as file:  # in place: the same inode
        file.truncate()
        file.write((TRUNCATE / "after-truncate.jsonl").read_bytes())
    follower = fresh(home)
    follower.drain(NOW)
    expected = numbered(range(101, 110))
    assert delivered(home) == (numbered(range(1, 7)) + expected if kept == "own" else expected)
    assert follower.counts.broken == 0 and set_aside(home) == []


def read_before(home: Home, kept: str) -> None:
    """The state after e1 to e6 were delivered, by this version or by one that kept no fingerprint."""
    shutil.copy(TRUNCATE / "before.jsonl", home.events)
    if kept == "own":
        fresh(home).drain(NOW)
        assert delivered(home) == numbered(range(1, 7))
    else:
        shutil.copy(TRUNCATE / "daemon.offset.json", home.daemon_offset)


@pytest.mark.parametrize("kept", ["own", "first form"])
@pytest.mark.parametrize("inode", ["another", "reused"])
def test_a_renamed_log_is_read_to_its_end_and_then_the_new_one(home: Home, kept: str, inode: str) -> None:
    read_before(home, kept)
    before = os.stat(home.events).st_ino
    shutil.copy(TRUNCATE / "renamed" / "events.jsonl.1", home.events + ".1")
    if inode == "another":
        Path(home.events).unlink()
        Path(home.events).write_bytes((TRUNCATE / "renamed" / "events.jsonl").read_bytes())
    else:
        with Path(home.events).open("r+b") as file:
            file.truncate()
            file.write((TRUNCATE / "renamed" / "events.jsonl").read_bytes())
        assert os.stat(home.events).st_ino == before
    fresh(home).drain(NOW)
    first = numbered(range(1, 7)) if kept == "own" else []
    assert delivered(home) == first + numbered(range(7, 9), range(201, 204))
    write(home, "e204")
    fresh(home).drain(NOW)
    assert delivered(home)[-2:] == ["e203", "e204"]


def test_a_renaming_while_the_tailer_runs_loses_nothing(home: Home) -> None:
    follower = fresh(home)
    write(home, "a1", "a2")
    follower.drain(NOW)
    write(home, "a3")
    Path(home.events).rename(home.events + ".1")
    follower.drain(NOW)
    write(home, "b1")
    follower.drain(NOW)
    assert delivered(home) == ["a1", "a2", "a3", "b1"]


def test_two_renamings_while_nobody_looked_lose_nothing(home: Home) -> None:
    write(home, "a1")
    fresh(home).drain(NOW)
    write(home, "a2")
    Path(home.events).rename(home.events + ".2")
    write(home, "b1", path=home.events + ".1")
    write(home, "c1")
    fresh(home).drain(NOW)
    assert delivered(home) == ["a1", "a2", "b1", "c1"]


def test_renamed_logs_that_were_delivered_are_not_delivered_again_when_the_position_is_lost_in_a_cut(
    home: Home,
) -> None:
    write(home, "old", path=home.events + ".1")
    write(home, "a1", "a2")
    fresh(home).drain(time.time() + 10)
    shutil.rmtree(home.spool)  # sealed and judged since
    write(home, "b1", mode="w")
    fresh(home).drain(time.time() + 10)
    assert delivered(home) == ["b1"]


def test_of_a_new_home_the_oldest_renamed_log_is_read_first(home: Home) -> None:
    write(home, "1", path=home.events + ".10")
    write(home, "2", path=home.events + ".2")
    write(home, "3")
    Path(home.events + ".1.gz").write_bytes(b"not ours")
    fresh(home).drain(NOW)
    assert delivered(home) == ["1", "2", "3"]


def test_rotation_under_four_writers_delivers_each_line_once(home: Home) -> None:
    """And in the order in which each session was written."""
    follower = fresh(home)
    writers = [threading.Thread(target=append_many, args=(home, f"w{number}", 60)) for number in range(4)]
    for writer in writers:
        writer.start()
    rotated = 0
    while any(writer.is_alive() for writer in writers):
        follower.step(NOW)
        rotated += Path(home.events).exists() and rotation.rotate(home, follower, NOW)
    follower.drain(NOW)
    assert rotated
    for number in range(4):
        assert delivered(home, f"w{number}") == [f"w{number}-{count}" for count in range(60)]
    written = sum(len(lines(path)) for path in Path(home.root).glob("events.jsonl*"))
    assert written == follower.counts.delivered == 240
    assert follower.counts.broken == follower.counts.duplicates == follower.counts.restarts == 0


def append_many(home: Home, session: str, count: int) -> None:
    for number in range(count):
        events.append(home, event(f"{session}-{number}", session))


# Lines that are not whole.


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("how", ["at once", "byte by byte"])
def test_an_unfinished_line_is_waited_for_even_inside_a_character(
    home: Home, restart: bool, how: str
) -> None:
    step1, step2 = (PARTIAL / "step1.bin").read_bytes(), (PARTIAL / "step2.bin").read_bytes()
    Path(home.events).write_bytes(step1)
    follower = fresh(home)
    for _ in range(3):
        follower.step(NOW)
    assert delivered(home) == ["e1"]
    kept = position.load(home)
    assert kept is not None and kept.offset == step1.index(b"\n") + 1
    parts = [step2] if how == "at once" else [bytes([byte]) for byte in step2]
    for part in parts:
        assert delivered(home) == ["e1"]
        with Path(home.events).open("ab") as file:
            file.write(part)
        if restart:
            follower = fresh(home)
        follower.step(NOW)
    turns = user_turns(Spool(home).events("T"))
    assert [turn.text for turn in turns] == ["event number 1", "owl 🦉 says: 本番はだめ"]
    assert set_aside(home) == []


def test_a_broken_line_is_set_aside_and_the_next_is_delivered(home: Home) -> None:
    write(home, "a")
    with Path(home.events).open("ab") as file:
        file.write(
            b'{"v":1,"event":"Sto\nnonsense with a key sk-ant-api03-' + b"A" * 95 + b"\n\xff\xff\n[]\n\n"
        )
    write(home, "b")
    follower = fresh(home)
    follower.drain(NOW)
    assert delivered(home) == ["a", "b"]
    assert [line["fault"] for line in set_aside(home)] == [
        "not one JSON object",
        "not one JSON object",
        "not UTF-8",
        "not an event",
    ]
    assert "A" * 40 not in str(set_aside(home))
    assert follower.counts.broken == 4


def test_a_line_longer_than_any_event_is_passed_over(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tailer, "BLOCK_BYTES", 1000)
    write(home, "a")
    with Path(home.events).open("a") as file:
        file.write("x" * 5000)
    follower = fresh(home)
    follower.drain(NOW)
    assert delivered(home) == ["a"] and follower.counts.broken == 0
    with Path(home.events).open("a") as file:
        file.write("x" * 5000 + "\n")
    write(home, "b")
    follower.drain(NOW)
    assert delivered(home) == ["a", "b"]
    assert [line["fault"] for line in set_aside(home)] == ["longer than any event"]


def test_the_unfinished_end_of_a_renamed_log_is_waited_for_a_moment_only(home: Home) -> None:
    write(home, "a")
    with Path(home.events).open("a") as file:
        file.write('{"v":1,"ev')
    Path(home.events).rename(home.events + ".1")
    write(home, "b")
    follower = fresh(home)
    written = os.stat(home.events + ".1").st_mtime
    follower.drain(written + 1)
    assert delivered(home) == ["a"]
    follower.drain(written + 10)
    assert delivered(home) == ["a", "b"]
    assert follower.counts.broken == 1


def test_blocks_that_end_inside_a_line_change_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tailer, "BLOCK_BYTES", 300)
    names = [f"n{number}" for number in range(30)]
    write(home, *names)
    fresh(home).drain(NOW)
    assert delivered(home) == names


# What a crash leaves.


def test_after_a_crash_between_segment_and_offset_nothing_is_doubled(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, "a", "b")
    with monkeypatch.context() as patch:
        patch.setattr(position, "save", lambda *_: (_ for _ in ()).throw(OSError("killed here")))
        with pytest.raises(OSError, match="killed here"):
            fresh(home).step(NOW)
    write(home, "c")
    follower = fresh(home)
    follower.drain(NOW)
    assert delivered(home) == ["a", "b", "c"]
    assert follower.counts.duplicates == 2


def test_a_broken_offset_file_costs_no_event_and_doubles_none(home: Home) -> None:
    write(home, "a", "b")
    fresh(home).drain(NOW)
    for raw in (
        b"",
        b"{",
        b"[]",
        b'{"offset":-1}',
        b'{"offset":true}',
        b'{"v":1,"offset":9,"fingerprint":7}',
    ):
        Path(home.daemon_offset).write_bytes(raw)
        fresh(home).drain(NOW)
        assert delivered(home) == ["a", "b"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(["write", "part", "rest", "step", "restart", "rename", "rotate", "forget"]),
        max_size=25,
    )
)
def test_whatever_the_order_of_things_each_event_is_delivered_once(tmp_path: Path, steps: list[str]) -> None:
    home = Home(str(tmp_path / os.urandom(6).hex()))
    home.ensure()
    follower, written, half = fresh(home), [], b""
    for number, step in enumerate(steps):
        name = f"n{number}"
        if step in ("write", "part") and not half:
            raw = json.dumps(event(name)).encode() + b"\n"
            half = raw[20:] if step == "part" else b""
            with Path(home.events).open("ab") as file:
                file.write(raw[:20] if half else raw)
            written.append(name)
        elif step == "rest" and half:
            with Path(home.events).open("ab") as file:
                file.write(half)
            half = b""
        elif step == "step":
            follower.step(NOW)
        elif step == "restart":
            follower = fresh(home)
        elif step == "rename" and not half and Path(home.events).exists():
            rotation._shift(home)
        elif step == "rotate" and Path(home.events).exists():
            assert not (rotation.rotate(home, follower, NOW) and half)
        elif step == "forget":
            Path(home.daemon_offset).unlink(missing_ok=True)
    if half:
        with Path(home.events).open("ab") as file:
            file.write(half)
    fresh(home).drain(NOW)
    assert delivered(home) == written


def test_nothing_is_read_while_nothing_changes(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, "a")
    follower = fresh(home)
    follower.drain(NOW)
    monkeypatch.setattr(tailer.os, "open", lambda *_: pytest.fail("it was opened"))
    follower.step(NOW)


def test_how_far_behind_it_is_counts_every_file(home: Home) -> None:
    write(home, "a")
    size = os.stat(home.events).st_size
    follower = fresh(home)
    assert follower.behind() == size
    follower.drain(NOW)
    Path(home.events).rename(home.events + ".1")
    write(home, "b")
    assert follower.behind() == size
