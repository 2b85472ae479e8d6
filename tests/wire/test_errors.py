from __future__ import annotations

import os
import stat
from pathlib import Path

from support import lines
from ultan.wire import errors
from ultan.wire.home import Home

SECRET = "ghp" + "_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def test_a_complaint_is_one_short_private_line_without_secrets(home: Home) -> None:
    errors.note(home, "Stop", "error", "two\nlines " + SECRET + " " + "x" * 1000, now=0)
    (line,) = lines(home.hook_errors)
    assert line["hook"] == "Stop" and line["kind"] == "error" and line["ts"] == "1970-01-01T00:00:00Z"
    assert SECRET not in line["message"] and len(line["message"]) == errors.MESSAGE_CHARS
    assert stat.S_IMODE(os.stat(home.hook_errors).st_mode) & 0o077 == 0


def test_complaining_never_raises(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    errors.note(Home(str(tmp_path / "file" / "home")), "Stop", "error", "x")
    errors.note(Home(str(tmp_path / "home")), "Stop", "error", "lone \ud800")
    assert len(lines(tmp_path / "home" / "hook-errors.jsonl")) == 1


def test_the_log_is_begun_anew_when_it_is_large(home: Home) -> None:
    Path(home.hook_errors).write_bytes(b"{}\n" * (errors.LIMIT_BYTES // 3))
    errors.note(home, "Stop", "error", "x" * 100)
    errors.note(home, "Stop", "error", "y")
    assert len(lines(home.hook_errors)) == 1
    assert Path(home.hook_errors + ".1").stat().st_size > errors.LIMIT_BYTES


def test_the_newest_complaints_of_one_kind_are_counted(home: Home) -> None:
    assert errors.last(home, "daemon", 60, now=1000) == 0
    for second in (100, 970, 980, 990):
        errors.note(home, "Stop", "daemon", "x", now=second)
    assert errors.last(home, "daemon", 60, now=1000) == 3
    assert errors.last(home, "daemon", 15, now=1000) == 1
    assert errors.last(home, "input", 60, now=1000) == 0
    errors.note(home, "Stop", "input", "x", now=995)
    assert errors.last(home, "daemon", 60, now=1000) == 0


def test_a_broken_log_counts_nothing(home: Home) -> None:
    Path(home.hook_errors).write_bytes(b"\xff\n[]\n" + b"[" * 4000 + b"\n")
    assert errors.last(home, "daemon", 60, now=0) == 0
