"""The recall log: what was considered and shown for each prompt, and why. Read side and clean-up.

`recall/<date>.jsonl` holds what was considered (written through ultan.wire.recall), `recall/sessions/` what
each session was shown (ultan.wire.session). Both live 14 days; usage counters are their fold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ultan.wire.files import utc_now
from ultan.wire.home import Home
from ultan.wire.session import SessionMemory

KEEP_DAYS = 14
_DAY = 86400.0


def considered(home: Home, since: str = "") -> Iterator[dict[str, object]]:
    """The records of every kept day, newest first; `since` is a timestamp or date (UTC). Broken lines are
    passed over."""
    for path in sorted(Path(home.recall).glob("????-??-??.jsonl"), reverse=True):
        if path.stem < since[:10]:
            return
        for raw in reversed(path.read_bytes().splitlines()):
            try:
                record = json.loads(raw)
            except ValueError:
                continue
            if isinstance(record, dict) and str(record.get("ts", "")) >= since:
                yield record


def find(home: Home, session_id: str | None = None, prompt_id: str | None = None) -> dict[str, object] | None:
    """The newest record, or the newest of a session or a prompt; None where there is none."""
    for record in considered(home):
        if session_id is not None and record.get("session_id") != session_id:
            continue
        if prompt_id is not None and record.get("prompt_id") != prompt_id:
            continue
        return record
    return None


def surfaced(home: Home, session_id: str, prompt_id: str) -> list[str]:
    """The ids that a hook printed for one prompt, in the order printed."""
    shown: list[str] = []
    path = Path(SessionMemory(home, session_id).path)
    if not path.is_file():
        return shown
    for raw in path.read_bytes().splitlines():
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and line.get("prompt_id") == prompt_id and "surfaced" in line:
            shown += [str(item) for item in line["surfaced"] if isinstance(item, str)]
    return shown


def expire(home: Home, now: float, keep_days: int = KEEP_DAYS) -> int:
    """Remove what is older than `keep_days`; returns the number of files removed."""
    oldest = utc_now(now - keep_days * _DAY)[:10]
    removed = 0
    for path in Path(home.recall).glob("????-??-??.jsonl"):
        if path.stem < oldest:
            path.unlink(missing_ok=True)
            removed += 1
    for path in Path(home.recall, "sessions").glob("*"):
        try:
            stale = path.stat().st_mtime < now - keep_days * _DAY
        except FileNotFoundError:
            continue
        if stale:
            path.unlink(missing_ok=True)
            removed += 1
    return removed
