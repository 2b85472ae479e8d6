"""Texts of anybody laid out in the columns of a terminal."""

from __future__ import annotations

import textwrap
import unicodedata

from ultan.wire.block import neutralise

WIDTH = 80


def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """A text in lines of WIDTH columns; what has no spaces is broken."""
    lines: list[str] = []
    for line in textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest) or [first.rstrip()]:
        while columns(line) > WIDTH:  # letters of two columns
            kept = cut(line, WIDTH)
            lines.append(kept)
            line = rest + line[len(kept) :]
        lines.append(line)
    return lines


def fitting(text: str, width: int) -> str:
    """A text on one line of so many columns."""
    return text if columns(text) <= width else cut(text, width - 1).rstrip() + "…"


def cut(text: str, width: int) -> str:
    """The longest beginning of so many columns."""
    used = 0
    for at, char in enumerate(text):
        used += wide(char)
        if used > width:
            return text[:at]
    return text


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(wide(char) for char in text)


def wide(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clipped(text: object, limit: int) -> str:
    """A text of anybody on one line, harmless, and no longer than that."""
    plain = neutralise(str(text if text is not None else ""))
    return plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"


def minute(ts: str) -> str:
    """2027-01-15T08:00:00Z as 2027-01-15 08:00 UTC."""
    return f"{clipped(ts, 20)[:16].replace('T', ' ')} UTC" if ts else "at an unknown time"
