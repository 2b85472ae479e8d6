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
    from collections.abc import Iterable, Iterator

# Version 1 kept 300 characters of a prompt, and not the fields from `cwd` on.
VERSION = 2
PROMPT_CHARS = 4000
_OLD_PROMPT_CHARS = 300
EXCLUDED = 200


def line(
    via: str,
    session_id: str,
    prompt_id: str,
    project: str | None,
    prompt: str,
    candidates: list[dict[str, object]],
    timings_ms: dict[str, float],
    now: float,
    cwd: str = "",
    exclude: Iterable[str] = (),
    **how: object,
) -> dict[str, object]:
    """One record. candidates: {"id", "scores": {stage: number}, "cut": null or a reason}, best first.

    prompt: as it was looked up, private parts and secrets gone; of a long one the two ends are kept, which is
    what the ranking looks at, and `prompt_chars` is its length. exclude: ids shown before; how: `threshold`,
    `max_entries` and whatever else made the ranking what it is.
    """
    record: dict[str, object] = {
        "v": VERSION,
        "ts": utc_now(now),
        "kind": "considered",
        "via": via,
        "session_id": session_id,
        "prompt_id": prompt_id,
        "project": project,
        "prompt": prompt,
        "candidates": candidates,
        "timings_ms": {name: round(value, 2) for name, value in timings_ms.items()},
        "cwd": cwd,
        "exclude": sorted(exclude)[:EXCLUDED],
        **how,
    }
    if len(prompt) > PROMPT_CHARS:
        half = PROMPT_CHARS // 2
        record["prompt"] = prompt[:half] + "\n" + prompt[-half + 1 :]
        record["prompt_chars"] = len(prompt)
    return record


def is_cut(record: dict[str, object]) -> bool:
    """Whether a record holds less than the whole prompt."""
    old = record.get("v") == 1 and len(str(record.get("prompt") or "")) >= _OLD_PROMPT_CHARS
    return old or "prompt_chars" in record


def append(home: Home, record: dict[str, object]) -> None:
    """Add a record to the file of its day. Raises OSError."""
    os.makedirs(home.recall, mode=0o700, exist_ok=True)
    path = os.path.join(home.recall, str(record["ts"])[:10] + ".jsonl")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n")
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
