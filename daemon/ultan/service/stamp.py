"""For which state of the library the derived files were made, so that a start need not make them again."""

from __future__ import annotations

import hashlib
import json
import os

from ultan.library.store import Snapshot
from ultan.wire.files import read_limited, write_atomic
from ultan.wire.home import Home
from ultan.wire.version import VERSION

NAME = "derived.json"
_LIMIT = 64 * 1024


def is_fresh(home: Home, snapshot: Snapshot) -> bool:
    """Whether catalog and triggers are there and were made for exactly this library, by this version."""
    try:
        kept = json.loads(read_limited(home.path(NAME), _LIMIT))
    except (OSError, ValueError, RecursionError):
        return False
    return bool(kept == _stamp(home, snapshot))


def keep(home: Home, snapshot: Snapshot) -> None:
    """Note that the derived files were just made for this library. Raises OSError."""
    write_atomic(home.path(NAME), json.dumps(_stamp(home, snapshot)).encode("ascii") + b"\n")


def _stamp(home: Home, snapshot: Snapshot) -> dict[str, object]:
    return {"v": 1, "version": VERSION, "library": digest(snapshot), "files": files(home)}


def files(home: Home) -> list[list[int] | None]:
    """[size, time of change] of catalog.json and triggers.json; None for one that is not there."""
    return [_signature(path) for path in (home.catalog, home.triggers)]


def digest(snapshot: Snapshot) -> str:
    """A hash of everything that pages and derived files are made from."""
    found = hashlib.sha256()
    for id in sorted(snapshot.entries):
        entry = snapshot.entries[id]
        found.update(f"{entry.path}\0{entry.content_hash}\0".encode("utf-8", "surrogatepass"))
    for path in sorted(snapshot.pages):
        raw = hashlib.sha256(snapshot.pages[path].raw).hexdigest()
        found.update(f"{path}\0{raw}\0".encode("utf-8", "surrogatepass"))
    for names in (snapshot.archived, snapshot.files, [problem.path for problem in snapshot.problems]):
        found.update(json.dumps(sorted(names)).encode("ascii"))
    return found.hexdigest()


def _signature(path: str) -> list[int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]
