"""What a session has been shown: one small file a session below `recall/sessions/`, part of the recall log.

The hook that prints a note adds the line, whoever answered (daemon or fallback), so there is one record.
A compaction or a cleared context adds a line too: what was shown before it may be shown again.
"""

from __future__ import annotations

import json
import os

from ultan.wire.files import FileLock, read_limited, utc_now
from ultan.wire.home import Home

_LIMIT = 4 << 20
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
LOCK_SECONDS = 0.3


def file_name(session_id: str) -> str:
    """A safe file name for any session id, different for different ids on any file system."""
    if 0 < len(session_id) <= 80 and all(c in _SAFE for c in session_id) and session_id == session_id.lower():
        return session_id
    import hashlib

    return "x-" + hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class SessionMemory:
    """The lines of one session, read at construction; `add` appends."""

    __slots__ = ("had_private", "path", "private", "prompts", "shown")

    def __init__(self, home: Home, session_id: str) -> None:
        self.path = os.path.join(home.recall, "sessions", file_name(session_id) + ".jsonl")
        self.read()

    def read(self) -> None:
        """Fold the file: `shown` ids since the last reset, `prompts` answered, the `private` turn (or None),
        and whether there was one at all (`had_private`)."""
        self.shown: set[str] = set()
        self.prompts: set[str] = set()
        self.private: str | None = None
        self.had_private = False
        try:
            raw = read_limited(self.path, _LIMIT)
        except OSError:
            return
        for line in raw.splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                self._fold(entry)

    def _fold(self, entry: dict[str, object]) -> None:
        ids = entry.get("surfaced")
        if isinstance(ids, list):
            self.shown.update(item for item in ids if isinstance(item, str))
            prompt_id = entry.get("prompt_id")
            if isinstance(prompt_id, str) and prompt_id:
                self.prompts.add(prompt_id)
        if "reset" in entry:
            self.shown.clear()
        if "private" in entry:
            private = entry["private"]
            self.private = private if isinstance(private, str) else None
            self.had_private = True

    def add(self, now: float | None = None, **fields: object) -> None:
        """Append one line: surfaced=[ids] with prompt_id, reset=reason, or private=prompt_id or None."""
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        line = json.dumps({"v": 1, "ts": utc_now(now), **fields}, ensure_ascii=True) + "\n"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, line.encode("ascii"))
        finally:
            os.close(descriptor)

    def lock(self) -> FileLock:
        """Held while a note is printed, so that two wirings of one hook do not both print it."""
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        return FileLock(self.path[:-6] + ".lock", timeout=LOCK_SECONDS)
