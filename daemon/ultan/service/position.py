"""How far the events were read: an offset, and what the file held before it.

A file is known by its content: a log that was cut and has grown again may be longer than the old offset, and
a new one may have the old one's inode. So the bytes before the offset are hashed, up to 4 KiB of them.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass

from ultan.wire.files import read_limited, write_atomic
from ultan.wire.home import Home

VERSION = 1
FINGERPRINT_BYTES = 4096
_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Position:
    """A place in an events file: the end of the last line that was delivered.

    digest: sha256 of the `length` bytes before `offset`; None for an offset of the first form, which was
    kept without one. saved: when (seconds since the epoch). inode is kept for people who look.
    """

    offset: int = 0
    length: int = 0
    digest: str | None = ""
    inode: int = 0
    saved: float = 0.0

    @classmethod
    def at(cls, descriptor: int, offset: int, now: float) -> Position:
        """The position `offset` in an open file."""
        length = min(offset, FINGERPRINT_BYTES)
        digest = hashlib.sha256(os.pread(descriptor, length, offset - length)).hexdigest()
        return cls(offset, length, digest, os.fstat(descriptor).st_ino, now)

    def is_in(self, descriptor: int) -> bool:
        """Whether an open file is the one in which this position was taken."""
        if os.fstat(descriptor).st_size < self.offset:
            return False
        if self.digest is None:
            return self._may_be_in(descriptor)
        before = os.pread(descriptor, self.length, self.offset - self.length)
        return len(before) == self.length and hashlib.sha256(before).hexdigest() == self.digest

    def _may_be_in(self, descriptor: int) -> bool:
        """Without a fingerprint: a whole event must end there."""
        start = max(0, self.offset - (1 << 20))
        before = os.pread(descriptor, self.offset - start, start)
        if not before.endswith(b"\n"):
            return False
        try:
            event = json.loads(before[:-1].rpartition(b"\n")[2])
            return isinstance(event, dict) and "event" in event
        except (ValueError, RecursionError):
            return False


def load(home: Home) -> Position | None:
    """The saved position; None where there is none or it cannot be understood."""
    try:
        values = json.loads(read_limited(home.daemon_offset, _LIMIT))
        offset = values["offset"]
        if not isinstance(offset, int) or isinstance(offset, bool) or offset < 0:
            return None
        if "fingerprint" not in values:
            return Position(offset, 0, None, 0, os.stat(home.daemon_offset).st_mtime)
        mark = values["fingerprint"]
        position = Position(
            offset,
            int(mark["length"]),
            str(mark["sha256"]),
            int(values.get("inode", 0)),
            float(values.get("saved", 0.0)),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return position if 0 <= position.length <= position.offset else None


def save(home: Home, position: Position) -> None:
    """Keep a position. Raises OSError; the old one is then still there."""
    values = {
        "v": VERSION,
        "offset": position.offset,
        "fingerprint": {"length": position.length, "sha256": position.digest},
        "inode": position.inode,
        "saved": round(position.saved, 3),
    }
    write_atomic(home.daemon_offset, json.dumps(values).encode("ascii") + b"\n")
