"""What went wrong in a hook: one line each in `hook-errors.jsonl`, shown by `ultan doctor`.

The log is kept small by the hooks themselves: past its limit it is renamed once and begun anew.
"""

from __future__ import annotations

import json
import os

from ultan.wire.files import utc_now
from ultan.wire.home import Home
from ultan.wire.redact import redact

LIMIT_BYTES = 512 * 1024
MESSAGE_CHARS = 300


def note(home: Home, hook: str, kind: str, message: str, now: float | None = None) -> None:
    """Add one line; never raises, never creates more of a home than its root.

    The message may quote the input, so it is redacted like it.
    """
    try:
        home.ensure()
        message = redact(message[: MESSAGE_CHARS * 10])[:MESSAGE_CHARS]
        line = json.dumps({"v": 1, "ts": utc_now(now), "hook": hook, "kind": kind, "message": message})
        descriptor = os.open(home.hook_errors, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, line.encode("utf-8", "replace") + b"\n")
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if size > LIMIT_BYTES:
            os.replace(home.hook_errors, home.hook_errors + ".1")
    except Exception:  # there is nowhere left to say it
        pass


def last(home: Home, kind: str, within: float, now: float) -> int:
    """How many of the newest lines in a row have this kind and are at most `within` seconds old."""
    try:
        descriptor = os.open(home.hook_errors, os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            tail = os.pread(descriptor, 4096, max(0, size - 4096))
        finally:
            os.close(descriptor)
    except OSError:
        return 0
    oldest = utc_now(now - within)
    count = 0
    for raw in reversed(tail.splitlines()):
        try:
            line = json.loads(raw)
            if line.get("kind") != kind or str(line.get("ts")) < oldest:
                break
        except (ValueError, AttributeError, RecursionError):
            break
        count += 1
    return count
