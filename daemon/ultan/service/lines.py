"""What a line of events.jsonl says, and what can be saved of one that is broken. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ultan.curator.spool import Heard

MOST_TRIES = 200
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Understood:
    """The events of one line; `fault` says why the line was not exactly one of them, "" where it was."""

    heard: tuple[Heard, ...] = ()
    fault: str = ""


def understand(raw: bytes) -> Understood:
    """Read one line (without its end). A blank one says nothing; a broken one may still hold whole events."""
    raw = raw.strip()
    if not raw:
        return Understood()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return Understood(_rescued(raw), "not UTF-8")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Understood(_rescued(raw), "not one JSON object")
    if not is_event(value):
        return Understood((), "not an event")
    return Understood((Heard(value, raw),))


def is_event(value: object) -> bool:
    """Whether a JSON value is an event record: an object that names an event and a session."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("event"), str)
        and isinstance(value.get("session_id"), str)
    )


def _rescued(raw: bytes) -> tuple[Heard, ...]:
    """The whole events in a line of several: those that stand at its beginning, and those that end it.

    A writer that dies in the middle leaves a beginning without an end, to which the next line is welded. An
    object in between is part of another, and nobody's event.
    """
    text = raw.decode("utf-8", "surrogateescape")
    first, at = _chain(text, 0)
    tries = 0
    while 0 <= at < len(text) and tries < MOST_TRIES:
        # After these three an object may be a part of the torn one, whatever it says.
        last, end = ([], at) if text[:at].rstrip().endswith((":", ",", "[")) else _chain(text, at)
        if last and end == len(text):
            return tuple(first + last)
        at = text.find('{"', at + 1)
        tries += 1
    return tuple(first)


def _chain(text: str, at: int) -> tuple[list[Heard], int]:
    """The events that follow one another from `at` on, and where that ends."""
    found: list[Heard] = []
    while at < len(text):
        try:
            value, end = _DECODER.raw_decode(text, at)
            part = text[at:end].encode("utf-8")  # strict: bytes that are no UTF-8 belong to no event
        except (ValueError, RecursionError):
            break
        if not is_event(value):
            break
        found.append(Heard(value, part))
        at = end
        while at < len(text) and text[at] in " \t\r\x00":
            at += 1
    return found, at
