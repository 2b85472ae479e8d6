"""The daemon's log: short, rotated, and silent about what people wrote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ultan.library.errors import LibraryBusy
from ultan.service.log import Log, described
from ultan.wire.home import Home

NOW = 1_796_000_000.0


def log(home: Home, limit: int = 5 << 20) -> Log:
    return Log(home.daemon_log, lambda: NOW, limit)


def test_a_line_has_utc_time_and_process_and_no_secret_and_is_one_line(home: Home) -> None:
    log(home).write("a\nb ghp_" + "a1B2" * 9)
    text = Path(home.daemon_log).read_text()
    assert text.startswith(f"2026-11-30T00:53:20Z [{os.getpid()}] a / b ")
    assert text.count("\n") == 1 and "a1B2a1B2" not in text
    assert Path(home.daemon_log).stat().st_mode & 0o777 == 0o600


def test_a_log_that_others_could_read_is_closed_to_them(home: Home) -> None:
    Path(home.daemon_log).touch()
    Path(home.daemon_log).chmod(0o644)
    log(home).write("x")
    assert Path(home.daemon_log).stat().st_mode & 0o777 == 0o600


def test_past_its_limit_it_is_renamed_and_one_old_file_is_kept(home: Home) -> None:
    it = log(home, limit=200)
    for number in range(20):
        it.write(f"line {number} " + "x" * 60)
    names = sorted(path.name for path in Path(home.root).glob("daemon.log*"))
    assert names == ["daemon.log", "daemon.log.1"]
    assert all(Path(home.root, name).stat().st_size < 400 for name in names)


def test_what_goes_to_the_error_stream_follows_the_log(home: Home) -> None:
    read, write = os.pipe()  # any two descriptors to put back afterwards
    saved = os.dup(2)
    try:
        descriptor = os.open(home.daemon_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(descriptor, 2)
        os.close(descriptor)
        log(home, limit=10).write("over the limit")
        os.write(2, b"a last cry\n")
    finally:
        os.dup2(saved, 2)
        for descriptor in (read, write, saved):
            os.close(descriptor)
    assert "a last cry" in Path(home.daemon_log).read_text()


def test_the_same_trouble_is_not_repeated(home: Home) -> None:
    it = log(home)
    for _ in range(3):
        it.trouble("events", OSError(28, "No space left on device"))
    it.trouble("library", OSError(28, "No space left on device"))
    assert len(Path(home.daemon_log).read_text().splitlines()) == 2


def test_an_error_is_told_without_what_was_being_worked_on() -> None:
    with pytest.raises(ValueError) as caught:
        int("the prompt of a person")
    words = described(caught.value)
    assert words.startswith("ValueError at test_log.py:") and "person" not in words
    assert described(LibraryBusy(2.0, "me")) == str(LibraryBusy(2.0, "me"))
    assert described(OSError(28, "No space", "/x")) == "OSError: No space (/x)"


def test_a_log_that_cannot_be_written_is_no_reason_to_fail(home: Home) -> None:
    Path(home.daemon_log).mkdir()
    log(home).write("x")
