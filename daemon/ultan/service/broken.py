"""Lines of the events that are none: set aside in `spool/broken.jsonl`, so that nothing waits for them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from ultan.wire.files import PRIVATE_FILE, PRIVATE_FOLDER, read_limited, utc_now
from ultan.wire.home import Home
from ultan.wire.redact import redact

NAME = "broken.jsonl"
LIMIT_BYTES = 1 << 20
KEPT_CHARS = 2000


class Broken:
    """The file of set-aside lines; a line that a crash hands over again is kept once."""

    def __init__(self, home: Home) -> None:
        self.path = Path(home.spool, NAME)
        self._known = {str(record.get("key")) for record in read(home)}

    def add(self, lines: Sequence[tuple[str, bytes, int]], now: float) -> None:
        """Keep the beginning of each (fault, line, offset); synced on return. Raises OSError."""
        records, keys = [], set[str]()
        for fault, line, offset in lines:
            key = hashlib.sha256(b"%d:%s" % (offset, line)).hexdigest()[:32]
            if key in self._known | keys:
                continue
            keys.add(key)
            text = redact(line[: KEPT_CHARS * 4].decode("utf-8", "replace"))[:KEPT_CHARS]
            record = {"v": 1, "key": key, "ts": utc_now(now), "fault": fault, "bytes": len(line)}
            records.append(json.dumps({**record, "offset": offset, "line": text}) + "\n")
        if records:
            self._write("".join(records).encode("ascii"))
            self._known |= keys

    def _write(self, data: bytes) -> None:
        self.path.parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, PRIVATE_FILE)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                data = b"\n" + data
            os.write(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if size > LIMIT_BYTES:
            self.path.replace(f"{self.path}.1")


def read(home: Home) -> list[dict[str, object]]:
    """The records of set-aside lines, oldest first."""
    try:
        raw = read_limited(str(Path(home.spool, NAME)), 4 * LIMIT_BYTES)
    except OSError:
        return []
    found = []
    for line in raw.splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            found.append(record)
    return found
