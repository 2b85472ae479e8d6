"""How long the events are kept."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ultan.curator.spool import Spool
from ultan.service import rotation
from ultan.service.tailer import Tailer
from ultan.wire.files import FileLock
from ultan.wire.home import Home

NOW = 1_796_000_000.0
DAY = 86400.0


def write(path: str, ts: str = "2026-11-30T00:00:00Z", size: int = 10) -> None:
    event = {"event": "Stop", "session_id": "s", "ts": ts, "x": "y" * size, "n": os.urandom(4).hex()}
    with Path(path).open("a") as file:
        file.write(json.dumps(event) + "\n")


def follower(home: Home) -> Tailer:
    return Tailer(home, Spool(home))


def names(home: Home) -> list[str]:
    return sorted(path.name for path in Path(home.root).glob("events.jsonl*"))


def test_a_log_is_due_when_it_is_long_or_its_first_event_is_a_day_old(home: Home) -> None:
    assert not rotation.is_due(home, NOW)
    write(home.events, "2026-11-30T00:00:00Z")
    begun = 1_795_996_800.0
    assert not rotation.is_due(home, begun + DAY)
    assert rotation.is_due(home, begun + DAY + 1)
    write(home.events, size=rotation.ROTATE_BYTES)
    assert rotation.is_due(home, begun)


def test_an_empty_or_odd_log_is_no_trouble(home: Home) -> None:
    Path(home.events).touch()
    assert not rotation.is_due(home, NOW)
    Path(home.events).write_text("nonsense\n")
    assert rotation.is_due(home, os.stat(home.events).st_mtime + 2 * DAY)


def test_elder_logs_move_up_and_a_gap_is_filled(home: Home) -> None:
    for name in (".1", ".2", ".4", ""):
        Path(home.events + name).write_text(json.dumps({"event": "e", "session_id": "s", "n": name}) + "\n")
    assert rotation.rotate(home, follower(home), NOW)
    found = {name: json.loads(Path(home.root, name).read_text())["n"] for name in names(home)}
    assert found == {
        "events.jsonl.1": "",
        "events.jsonl.2": ".1",
        "events.jsonl.3": ".2",
        "events.jsonl.4": ".4",
    }


def test_an_unfinished_line_is_not_put_away(home: Home) -> None:
    write(home.events)
    with Path(home.events).open("a") as file:
        file.write('{"ev')
    assert not rotation.rotate(home, follower(home), NOW)
    assert names(home) == ["events.jsonl"]


def test_busy_writers_are_not_waited_for_long(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotation, "LOCK_SECONDS", 0.05)
    write(home.events)
    with FileLock(home.events_lock):
        assert not rotation.rotate(home, follower(home), NOW)


def test_delivered_logs_are_removed_when_they_are_old(home: Home) -> None:
    for name in (".3", ".2", ".1", ""):
        write(home.events + name)
    for name, days in ((".3", 20), (".2", 15), (".1", 1)):
        os.utime(home.events + name, (NOW - days * DAY, NOW - days * DAY))
    tailer = follower(home)
    assert rotation.expire(home, tailer, NOW) == 0  # nothing was delivered yet
    tailer.drain(NOW)
    assert rotation.expire(home, tailer, NOW) == 2
    assert names(home) == ["events.jsonl", "events.jsonl.1"]


def test_delivered_logs_are_removed_oldest_first_when_they_are_many(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".3", ".2", ".1", ""):
        write(home.events + name, size=1000)
        os.utime(home.events + name, (NOW, NOW))
    monkeypatch.setattr(rotation, "KEEP_BYTES", 2500)
    tailer = follower(home)
    tailer.drain(NOW)
    assert rotation.expire(home, tailer, NOW) == 2
    assert names(home) == ["events.jsonl", "events.jsonl.1"]


def test_a_log_with_an_undelivered_line_is_never_removed(home: Home) -> None:
    write(home.events)
    tailer = follower(home)
    tailer.drain(NOW)
    write(home.events)
    rotation._shift(home)
    os.utime(home.events + ".1", (NOW - 30 * DAY, NOW - 30 * DAY))
    assert rotation.expire(home, tailer, NOW) == 0


def test_a_log_that_is_written_all_the_time_is_put_away_all_the_same(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look finds another line; nobody may wait for a moment without one."""
    write(home.events)
    tailer = follower(home)
    step, hurried = tailer.step, iter(range(100))

    def busy(now: float) -> bool:
        if next(hurried) < 3:
            write(home.events)
        return step(now)

    monkeypatch.setattr(tailer, "step", busy)
    assert rotation.rotate(home, tailer, NOW)
    assert next(hurried) < 20


def test_draining_ends_though_more_is_written_meanwhile(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home.events)
    tailer = follower(home)
    step = tailer.step

    def busy(now: float) -> bool:
        write(home.events)
        return step(now)

    monkeypatch.setattr(tailer, "step", busy)
    tailer.drain(NOW)
    assert 1 <= tailer.counts.delivered < 20
