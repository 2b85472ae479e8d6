"""Follows events.jsonl: every complete line goes to its session's segment, exactly once.

The position moves only after the segments are synced; what a crash delivers twice, the segments drop. Files
that were renamed (`events.jsonl.1` and up, the highest oldest) are read to their end before the next one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ultan.curator.spool import Heard, Spool
from ultan.service import position as positions
from ultan.service.broken import Broken
from ultan.service.lines import understand
from ultan.service.position import Position
from ultan.wire.home import Home

# One read, and the longest line that is an event: a hook's longest is a fraction of this.
BLOCK_BYTES = 1 << 20
# How long the unfinished end of a file that was renamed is waited for.
GRACE_SECONDS = 5.0
NUMBERED = "[0-9]*"


@dataclass(slots=True)
class Counts:
    """Since the start: lines delivered, dropped as duplicates, set aside; how often the log began anew."""

    delivered: int = 0
    duplicates: int = 0
    broken: int = 0
    restarts: int = 0


@dataclass(slots=True)
class Read:
    """What one look at a file found. `end` is the offset up to which its lines are dealt with."""

    heard: list[Heard] = field(default_factory=list)
    broken: list[tuple[str, bytes, int]] = field(default_factory=list)
    end: int = 0


class Tailer:
    """Reads the events of one home; `step` does a bounded piece of work and says whether more may wait."""

    def __init__(self, home: Home, spool: Spool, say: Callable[[str], object] = lambda text: None) -> None:
        self.home = home
        self.spool = spool
        self.say = say
        self.aside = Broken(home)
        self.counts = Counts()
        self.last_event = ""
        self.last_heard = 0.0
        self._position: Position | None = positions.load(home)
        self._idle: tuple[int, int, int] | None = None
        self._searched = (0, 0)
        self._lost = False

    @property
    def offset(self) -> int:
        """The offset up to which the file that is being read was delivered."""
        return self._position.offset if self._position else 0

    def step(self, now: float) -> bool:
        """Deliver the next block of lines. Raises OSError where the disk refuses; nothing is lost then."""
        look = _signature(self.home.events)
        if look is not None and look == self._idle:
            return False
        self._idle = None
        files = event_files(self.home)
        at, offset = self._place(files)
        for path in files[at:]:
            is_last = path == files[-1]
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            except OSError:
                return False  # renamed this instant, or not ours to read
            try:
                if self._read(descriptor, offset, now, is_last):
                    return True
                if not is_last and os.fstat(descriptor).st_size > offset:
                    return False  # an unfinished end that is still waited for
            finally:
                os.close(descriptor)
            offset = 0
        if files and files[-1] == self.home.events:
            self._idle = look
        return False

    def drain(self, now: float) -> None:
        """Deliver everything that is there now; what is written meanwhile may be left for later."""
        # Two steps deliver a block at least, since a line that does not fit into one begins the next.
        for _ in range(sum(2 * (_size(path) // BLOCK_BYTES) + 2 for path in event_files(self.home))):
            if not self.step(now):
                return

    def behind(self) -> int:
        """Bytes that were not delivered yet, unfinished lines included."""
        files = event_files(self.home)
        at, offset = self._place(files, quiet=True)
        sizes = [_size(path) for path in files[at:]]
        return max(0, sum(sizes) - offset)

    def finished(self) -> list[Path]:
        """The renamed files that are no longer needed, oldest first: what follows them was begun."""
        files = event_files(self.home)
        at, _ = self._place(files, quiet=True)
        return [Path(path) for path in files[:at] if path != self.home.events]

    def is_at_end(self) -> bool:
        """Whether all of the file that is written was delivered, to the last byte."""
        files = event_files(self.home)
        at, offset = self._place(files, quiet=True)
        return bool(files) and files[at:] == [self.home.events] and _size(self.home.events) == offset

    def _place(self, files: list[str], quiet: bool = False) -> tuple[int, int]:
        """(index in `files`, offset) from which to read on."""
        position = self._position
        if position is None or position.offset == 0:
            return 0, 0
        for index in range(len(files) - 1, -1, -1):
            if self._matches(files[index]):
                return index, position.offset
        # The file is gone or was cut. Nothing of what is there now was read, but for older renamed files.
        fresh = [
            index
            for index, path in enumerate(files)
            if path == self.home.events or (position.saved and _modified(path) > position.saved)
        ]
        if not quiet and files and not self._lost:
            self._lost = True
            self.counts.restarts += 1
            self.say("the events were cut or replaced; reading them from their beginning")
        return (fresh[0], 0) if fresh else (len(files), 0)

    def _matches(self, path: str) -> bool:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return False
        try:
            return self._position is not None and self._position.is_in(descriptor)
        except OSError:
            return False
        finally:
            os.close(descriptor)

    def _read(self, descriptor: int, offset: int, now: float, is_last: bool) -> bool:
        """Deliver a block of an open file from `offset` on; False where no line was complete."""
        block = os.pread(descriptor, BLOCK_BYTES, offset)
        whole = block.rfind(b"\n") + 1
        if whole:
            found = _sorted_lines(block[:whole], offset)
        elif len(block) == BLOCK_BYTES:
            found = self._skip(descriptor, offset, block, is_last, now)
        elif block and not is_last and now - os.fstat(descriptor).st_mtime > GRACE_SECONDS:
            found = _sorted_lines(block, offset)  # nobody will finish it
        else:
            return False
        if found.end == offset:
            return False
        self._deliver(found, now)
        self._keep(Position.at(descriptor, found.end, now))
        return True

    def _skip(self, descriptor: int, offset: int, block: bytes, is_last: bool, now: float) -> Read:
        """A line longer than any event: nothing of it is delivered, once its end has been found."""
        inode = os.fstat(descriptor).st_ino
        at = self._searched[1] if self._searched[0] == inode else offset + len(block)
        while True:
            part = os.pread(descriptor, BLOCK_BYTES, at)
            end = part.find(b"\n")
            if end >= 0:
                at += end + 1
                break
            at += len(part)
            if not part:
                if is_last or now - os.fstat(descriptor).st_mtime <= GRACE_SECONDS:
                    self._searched = (inode, at)
                    return Read(end=offset)
                break
        self._searched = (0, 0)
        return Read(broken=[("longer than any event", block, offset)], end=at)

    def _deliver(self, found: Read, now: float) -> None:
        added = self.spool.append(found.heard)
        self.aside.add(found.broken, now)
        self.counts.delivered += added.kept
        self.counts.duplicates += added.duplicates
        self.counts.broken += len(found.broken)
        if found.heard:
            self.last_heard = now
            self.last_event = str(found.heard[-1].event.get("ts") or self.last_event)

    def _keep(self, position: Position) -> None:
        positions.save(self.home, position)
        self._position = position
        self._lost = False


def event_files(home: Home) -> list[str]:
    """The events' files that are there, oldest first: renamed ones, then the one that is written."""
    current = Path(home.events)
    numbered = [path for path in current.parent.glob(current.name + "." + NUMBERED) if number(path)]
    files = [str(path) for path in sorted(numbered, key=number, reverse=True)]
    return [*files, home.events] if current.exists() else files


def number(path: Path) -> int:
    """3 for events.jsonl.3; 0 for what is none of them."""
    text = path.suffix[1:]
    return int(text) if text.isascii() and text.isdecimal() else 0


def _sorted_lines(block: bytes, offset: int) -> Read:
    found = Read(end=offset + len(block))
    at = offset
    for line in block.removesuffix(b"\n").split(b"\n"):
        said = understand(line)
        found.heard += said.heard
        if said.fault:
            found.broken.append((said.fault, line, at))
        at += len(line) + 1
    return found


def _signature(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
