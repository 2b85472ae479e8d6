"""The recall log's write side: what was considered for a prompt, one JSON line, a file a day.

Shared by the daemon and the fallback in the hook, so that `ultan why` reads one form.
"""

from __future__ import annotations

import json
import os

from ultan.wire.files import utc_now
from ultan.wire.home import Home

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
