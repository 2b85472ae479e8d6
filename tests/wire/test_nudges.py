from __future__ import annotations

import os
from pathlib import Path

from ultan.wire import nudges
from ultan.wire.files import FileLock
from ultan.wire.home import Home


def write(home: Home, text: str) -> Path:
    path = Path(home.nudges)
    path.write_text(text, "utf-8")
    return path


def test_nudges_are_read_without_their_marks_and_headings_are_none(home: Home) -> None:
    write(home, "# Waiting\n\n- one\n* two\nthree\n<!-- note -->\n-\n")
    assert nudges.peek(home) == ["one", "two", "three"]


def test_without_a_file_nothing_waits_and_nothing_is_made(home: Home) -> None:
    heard: list[list[str]] = []
    nudges.deliver(home, lambda waiting: heard.append(waiting) or 0)  # type: ignore[func-returns-value] # to stay short
    assert heard == [[]]
    assert os.listdir(home.root) == []


def test_what_was_shown_leaves_and_the_rest_stays(home: Home) -> None:
    path = write(home, "# Waiting\n- one\n- two\n- three\n- four\n")
    heard: list[str] = []

    def show(waiting: list[str]) -> int:
        heard.extend(waiting)
        return 2

    nudges.deliver(home, show)
    assert heard == ["one", "two", "three"]
    assert path.read_text("utf-8") == "# Waiting\n- three\n- four\n"


def test_what_was_not_shown_stays_byte_for_byte(home: Home) -> None:
    path = write(home, "- one\r\n\r\n- two")
    nudges.deliver(home, lambda waiting: 0)
    assert path.read_bytes() == b"- one\r\n\r\n- two"


def test_the_file_goes_with_its_last_nudge(home: Home) -> None:
    path = write(home, "# Waiting\n- one\n")
    nudges.deliver(home, len)
    assert not path.exists()


def test_two_equal_nudges_are_two(home: Home) -> None:
    path = write(home, "- one\n- one\n")
    nudges.deliver(home, lambda waiting: 1)
    assert path.read_text("utf-8") == "- one\n"


def test_while_another_hook_delivers_none_are_handed_out(home: Home) -> None:
    path = write(home, "- one\n")
    heard: list[list[str]] = []

    def show(waiting: list[str]) -> int:
        heard.append(waiting)
        return len(waiting)

    with FileLock(home.path("pending-nudges.lock")):
        nudges.deliver(home, show)
    assert heard == [[]]
    assert path.read_text("utf-8") == "- one\n"


def test_an_unreadable_file_is_no_trouble(home: Home) -> None:
    os.mkdir(home.nudges)
    assert nudges.peek(home) == []
