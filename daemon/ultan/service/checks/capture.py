"""Whether the hooks listen: how fresh the events are, what the hooks complained about, what they may read."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ultan.library import config
from ultan.library.errors import ConfigError
from ultan.service.checks.finding import Finding, ago, timestamp
from ultan.wire import settings
from ultan.wire.files import utc_now
from ultan.wire.home import Home

COMPLAINTS_SECONDS = 86400.0
_TAIL = 256 * 1024


def check(home: Home, now: float) -> Iterator[Finding]:
    """The configuration, the events, the complaints."""
    yield from _configuration(home)
    yield from _events(home, now)
    yield from _complaints(home, now)


def _configuration(home: Home) -> Iterator[Finding]:
    try:
        config.load(home)
    except ConfigError as error:
        yield Finding("capture", "error", f"{error.what} {error.kept}", error.advice or f"edit {home.config}")
        return
    known = settings.load(home)
    if not known.current:
        message = "hook-config.json does not match config.toml, so that hooks record nothing"
        yield Finding("capture", "error", message, "the daemon derives it again: ultan daemon start")
    elif not known.daemon:
        yield Finding("capture", "note", "Ultan is off: nothing is recorded or shown", "ultan on")


def _events(home: Home, now: float) -> Iterator[Finding]:
    last = last_event(home)
    if last is None:
        message = "no session was recorded yet"
        yield Finding("capture", "note", message, "load the plugin, then start a session: see the README")
        return
    when = timestamp(str(last.get("ts") or ""))
    age = f"{ago(max(0.0, now - when))} ago" if when is not None else "at an unknown time"
    yield Finding("capture", "ok", f"the last event came {age} ({last.get('event')})")


def _complaints(home: Home, now: float) -> Iterator[Finding]:
    """What hooks noted in the last day, a finding a kind with the last reason."""
    oldest = utc_now(now - COMPLAINTS_SECONDS)
    recent = [line for line in _lines(home.hook_errors) if str(line.get("ts")) >= oldest]
    counts = Counter(str(line.get("kind")) for line in recent)
    for kind, count in sorted(counts.items()):
        last = [line for line in recent if str(line.get("kind")) == kind][-1]
        times = "once" if count == 1 else f"{count} times"
        where = f"{last.get('ts')} in {last.get('hook')}"
        message = f"hooks complained {times} in the last day ({kind}); last at {where}: "
        yield Finding("capture", "warning", message + str(last.get("message")), f"see {home.hook_errors}")


def last_event(home: Home) -> dict[str, Any] | None:
    """The newest recorded event; None where there is none."""
    lines = _lines(home.events)
    return lines[-1] if lines else None


def _lines(path: str) -> list[dict[str, Any]]:
    """The objects in the last part of a JSON-lines file."""
    try:
        with Path(path).open("rb") as handle:
            start = max(0, os.fstat(handle.fileno()).st_size - _TAIL)
            handle.seek(start)
            raw = handle.read().splitlines()
    except OSError:
        return []
    found = []
    for line in raw[1:] if start else raw:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found
