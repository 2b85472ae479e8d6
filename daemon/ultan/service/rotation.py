"""How long the events are kept: renamed when they were delivered, removed when they are old or many.

The renaming happens under the writers' lock, so that no line is written to a file that is being put away.
"""

from __future__ import annotations

import calendar
import json
import os
import time
from pathlib import Path

from ultan.service.tailer import Tailer, event_files, number
from ultan.wire.files import FileLock, LockTimeout, sync_folder
from ultan.wire.home import Home

KEEP_SECONDS = 14 * 86400.0
KEEP_BYTES = 50 << 20
# A file is put away at this size, or when its first event is this old.
ROTATE_BYTES = 8 << 20
ROTATE_SECONDS = 86400.0
LOCK_SECONDS = 2.0
MOST_STEPS = 3


def is_due(home: Home, now: float) -> bool:
    """Whether the file that is written is long or old enough to be put away."""
    try:
        size = os.stat(home.events).st_size
        if size >= ROTATE_BYTES:
            return True
        begun = _first_time(home.events) if size else None
    except OSError:
        return False
    return begun is not None and now - begun > ROTATE_SECONDS


def rotate(home: Home, tailer: Tailer, now: float) -> bool:
    """Rename events.jsonl to events.jsonl.1 and its elders up by one; False where a line is still to be
    delivered, or the writers are busy. Raises OSError."""
    tailer.drain(now)
    try:
        with FileLock(home.events_lock, LOCK_SECONDS, "rotation"):
            for _ in range(MOST_STEPS):  # the few lines that came meanwhile
                tailer.step(now)
            if not tailer.is_at_end():
                return False
            _shift(home)
    except LockTimeout:
        return False
    sync_folder(home.root)
    return True


def expire(home: Home, tailer: Tailer, now: float) -> int:
    """Remove delivered files that are too old, or that are over the size all together; how many."""
    left = sum(_size(path) for path in event_files(home))
    removed = 0
    for path in tailer.finished():
        size = _size(str(path))
        if left <= KEEP_BYTES and now - path.stat().st_mtime <= KEEP_SECONDS:
            continue
        path.unlink(missing_ok=True)
        left -= size
        removed += 1
    return removed


def _shift(home: Home) -> None:
    """Make room for events.jsonl.1; what a crash left half shifted is in order all the same."""
    run: list[Path] = []
    for path in sorted((Path(path) for path in event_files(home) if path != home.events), key=number):
        if number(path) != len(run) + 1:
            break
        run.append(path)
    for path in reversed(run):
        path.rename(path.with_suffix(f".{number(path) + 1}"))
    Path(home.events).rename(home.events + ".1")


def _first_time(path: str) -> float | None:
    """When the first event of a file was noted, in seconds since the epoch."""
    with Path(path).open("rb") as handle:
        line = handle.readline(1 << 20)
    try:
        return float(calendar.timegm(time.strptime(str(json.loads(line)["ts"]), "%Y-%m-%dT%H:%M:%SZ")))
    except (ValueError, KeyError, TypeError, RecursionError):
        return os.stat(path).st_mtime


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
