"""One-line hints that wait in `pending-nudges.md` for the next prompt of the person."""

from __future__ import annotations

import os

from ultan.wire.files import read_limited
from ultan.wire.home import Home

_LIMIT = 256 * 1024
MOST = 3


def peek(home: Home) -> list[str]:
    """The waiting nudges, without their list marks; empty when there are none."""
    try:
        text = read_limited(home.nudges, _LIMIT).decode("utf-8", "replace")
    except OSError:
        return []
    lines = (line.strip() for line in text.splitlines())
    return [line.lstrip("-* ").strip() for line in lines if line and not line.startswith(("#", "<!--"))]


def take(home: Home) -> list[str]:
    """At most three nudges, removed from the file; when two hooks ask at once one of them gets them."""
    if not os.path.exists(home.nudges):
        return []
    mine = "%s.%d" % (home.nudges, os.getpid())
    try:
        os.rename(home.nudges, mine)
    except OSError:
        return []
    waiting = peek(_At(mine))
    rest = waiting[MOST:]
    try:
        if rest:
            with open(home.nudges, "a", encoding="utf-8") as handle:
                handle.writelines("- %s\n" % text for text in rest)
        os.unlink(mine)
    except OSError:
        pass
    return waiting[:MOST]


class _At(Home):
    """The same reader for the renamed file."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        super().__init__(os.path.dirname(path))
        self._path = path

    @property
    def nudges(self) -> str:
        return self._path
