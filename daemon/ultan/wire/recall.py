"""The recall log: what was considered for a prompt, one JSON line, a file a day, and what was then shown.

Shared by the daemon, the fallback in the hook and `ultan why`, so that there is one form.
"""

from __future__ import annotations

import json
import os

from ultan.wire.files import utc_now
from ultan.wire.home import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 1
PROMPT_CHARS = 300


def line(
    via: str,
    session_id: str,
    prompt_id: str,
    project: str | None,
    prompt: str,
    candidates: list[dict[str, object]],
    timings_ms: dict[str, float],
    now: float,
) -> dict[str, object]:
    """One record. candidates: {"id", "scores": {stage: number}, "cut": null or a reason}, best first."""
    return {
        "v": VERSION,
        "ts": utc_now(now),
        "kind": "considered",
        "via": via,
        "session_id": session_id,
        "prompt_id": prompt_id,
        "project": project,
        "prompt": prompt[:PROMPT_CHARS],
        "candidates": candidates,
        "timings_ms": {name: round(value, 2) for name, value in timings_ms.items()},
    }


def append(home: Home, record: dict[str, object]) -> None:
    """Add a record to the file of its day. Raises OSError."""
    os.makedirs(home.recall, mode=0o700, exist_ok=True)
    path = os.path.join(home.recall, str(record["ts"])[:10] + ".jsonl")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, json.dumps(record, ensure_ascii=True).encode("ascii") + b"\n")
    finally:
        os.close(descriptor)


def newest(
    home: Home, session_id: str | None = None, prompt_id: str | None = None
) -> dict[str, object] | None:
    """The newest record, of a session or prompt where one is given; None where the log has none."""
    for record in records(home):
        if session_id is not None and record.get("session_id") != session_id:
            continue
        if prompt_id is not None and record.get("prompt_id") != prompt_id:
            continue
        return record
    return None


def records(home: Home, since: str = "") -> Iterator[dict[str, object]]:
    """The records of every kept day, newest first; `since` is a UTC date or timestamp. Broken lines are
    passed over.
    """
    try:
        days = sorted(name for name in os.listdir(home.recall) if name.endswith(".jsonl"))
    except OSError:
        return
    for name in reversed(days):
        if name[:10] < since[:10]:
            return
        try:
            with open(os.path.join(home.recall, name), "rb") as handle:
                lines = handle.read().splitlines()
        except OSError:
            continue
        for raw in reversed(lines):
            try:
                record = json.loads(raw)
            except ValueError:
                continue
            if isinstance(record, dict) and str(record.get("ts", "")) >= since:
                yield record


def surfaced(home: Home, session_id: str, prompt_id: str) -> list[str]:
    """The ids that a hook printed for one prompt, in the order printed."""
    from ultan.wire.session import SessionMemory

    try:
        with open(SessionMemory(home, session_id).path, "rb") as handle:
            lines = handle.read().splitlines()
    except OSError:
        return []
    shown: list[str] = []
    for raw in lines:
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and line.get("prompt_id") == prompt_id:
            ids = line.get("surfaced")
            shown += [item for item in ids if isinstance(item, str)] if isinstance(ids, list) else []
    return shown
