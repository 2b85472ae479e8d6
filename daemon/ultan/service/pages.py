"""Brings what is made from the whole library up to date: child lists, index.md, log.md, catalog, triggers.

This takes seconds where the library is large, so it has a worker of its own, waits until nothing more
changes, and is left out at a start that finds everything as it was left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ultan.library.errors import ForeignHome, LibraryBusy
from ultan.library.journal import Journal
from ultan.library.reconcile import reconcile
from ultan.library.store import Snapshot, Store
from ultan.service import stamp
from ultan.service.schedule import Job, Worker
from ultan.wire.home import Home

QUIET_SECONDS = 1.5
# What looked up to date at the start is made sure of when the first questions are answered.
CHECK_SECONDS = 60.0
LOCK_SECONDS = 2.0


class Pages:
    """The derived files of one library. read_only: why they may not be written, "" where they may."""

    def __init__(self, home: Home, store: Store, say: Callable[[str], object]) -> None:
        self.home = home
        self.store = store
        self.say = say
        self.read_only = ""
        self.journal = Journal(home, LOCK_SECONDS, "daemon")
        self.worker: Worker | None = None
        self._settled: Snapshot | None = None
        self._files: list[list[int] | None] | None = None
        self._sure = False

    def jobs(self, now: float) -> list[Job]:
        """What is to be done, from `now` (of the worker's clock) on."""
        return [Job("pages", float("inf"), self.settle, due=now + CHECK_SECONDS)]

    def soon(self) -> None:
        """Have it done once nothing more changes."""
        if self.worker is not None:
            self.worker.at("pages", self.worker.clock() + QUIET_SECONDS, later=True)

    def look(self, changed: bool) -> None:
        """Have it done if it is needed. changed: the library may not be what it was at the last look."""
        if self._files is not None and stamp.files(self.home) != self._files:
            self.soon()  # somebody removed or changed what is derived
        elif changed and self.store.scan() is not self._settled:
            self.soon()

    def settle(self) -> None:
        """Bring everything up to date, unless it is for sure. Raises OSError and UltanError."""
        before = self.store.scan()
        if self.read_only or (self._sure and self._is_settled(before)):
            return
        try:
            done = reconcile(self.store, self.journal)
        except LibraryBusy:
            self.soon()
            return
        except ForeignHome as error:
            self.read_only = str(error)
            self.say(self.read_only)
            return
        for path, reason in done.skipped:
            self.say(f"{path} was not brought up to date: {reason}")
        after = self.store.scan()
        if not same_but(before, after, done.pages):
            self.soon()  # somebody else wrote meanwhile
            return
        self._settled, self._sure = after, True
        stamp.keep(self.home, after)
        self._files = stamp.files(self.home)

    def settle_at_start(self) -> None:
        """Like `settle`, but where everything looks as it was left, a while later."""
        snapshot = self.store.scan()
        if stamp.is_fresh(self.home, snapshot):
            self._settled, self._files = snapshot, stamp.files(self.home)
        else:
            self.settle()

    def _is_settled(self, snapshot: Snapshot) -> bool:
        return snapshot is self._settled and stamp.files(self.home) == self._files


def same_but(before: Snapshot, after: Snapshot, paths: Collection[str]) -> bool:
    """Whether two snapshots of one store differ in nothing but the pages at `paths`."""
    if before is after:
        return True
    if len(before.entries) != len(after.entries) or before.files != after.files:
        return False
    if any(after.entries.get(id) is not entry for id, entry in before.entries.items()):
        return False
    differing = {
        path for path in {*before.pages, *after.pages} if before.pages.get(path) is not after.pages.get(path)
    }
    return differing <= set(paths)
