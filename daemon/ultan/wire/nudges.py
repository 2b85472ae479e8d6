"""One-line hints that wait in `pending-nudges.md` for the next prompt of the person.

Whoever changes the file holds `pending-nudges.lock`. A nudge leaves the file after it was printed: a hook
that dies in between delivers it twice, never not at all.
"""

from __future__ import annotations

import os

from ultan.wire.files import FileLock, read_limited, write_atomic
from ultan.wire.home import Home

TYPE_CHECKING = False  # known to type checkers; importing typing costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable

_LIMIT = 256 * 1024
LOCK_SECONDS = 0.1
MOST = 3


def peek(home: Home) -> list[str]:
    """The waiting nudges, without their list marks; empty when there are none."""
    return [text for text in map(_nudge, _lines(home)) if text]


def deliver(home: Home, show: Callable[[list[str]], int]) -> None:
    """Hand at most three nudges to `show`, and remove as many (from the first) as it says it has shown.

    `show` is called once, with none when none wait or when another hook is delivering them.
    """
    if not peek(home):
        show([])
        return
    lock = FileLock(home.path("pending-nudges.lock"), timeout=LOCK_SECONDS)
    try:
        lock.acquire()
    except OSError:
        show([])
        return
    try:
        waiting = peek(home)[:MOST]
        shown = show(waiting)
        if shown:
            _remove(home, waiting[:shown])
    finally:
        lock.release()


def _remove(home: Home, shown: list[str]) -> None:
    left = list(shown)
    kept = []
    for line in _lines(home):
        text = _nudge(line)
        if text and text in left:
            left.remove(text)
        else:
            kept.append(line)
    if any(map(_nudge, kept)):
        write_atomic(home.nudges, "".join(line + "\n" for line in kept).encode("utf-8"))
    else:
        os.unlink(home.nudges)


def _lines(home: Home) -> list[str]:
    try:
        return read_limited(home.nudges, _LIMIT).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _nudge(line: str) -> str:
    """The text of a line; "" for headings, comments and empty lines."""
    line = line.strip()
    return "" if line.startswith(("#", "<!--")) else line.lstrip("-* ").strip()
