"""The write path of the library: batches of changes that happen whole or not at all.

Everything that writes below knowledge/ holds a `Writer`. A batch is written to `journal/in-flight.json` and
synced before the first file is touched; renaming that record to its own name is what makes the batch done.
Whoever takes the lock next and finds a record in flight finishes it, or takes it back where a person changed
one of its files meanwhile. Standard library only and cheap to import: hooks save through it too.
"""

from __future__ import annotations

import os
import time

from ultan.wire.batch import Action as Action
from ultan.wire.batch import Batch as Batch
from ultan.wire.batch import BrokenRecord, is_record
from ultan.wire.failures import BadPath, BatchFailed, ChangedMeanwhile, LibraryBusy
from ultan.wire.files import (
    PRIVATE_FILE,
    PRIVATE_FOLDER,
    FileLock,
    LockTimeout,
    read_limited,
    sweep,
    sync_folder,
    write_atomic,
)
from ultan.wire.format import FORMAT, check_writable, write_format
from ultan.wire.home import Home
from ultan.wire.paths import check_apart, check_form, check_new, reach, twin

IN_FLIGHT = "in-flight.json"
RECORD_LIMIT = 256 << 20
FILE_LIMIT = 16 << 20
LOCK_SECONDS = 10.0


class Writer:
    """Holds the library's lock while used as a context manager; the only thing that changes the library.

    Entering makes the folders, refuses a home of another format (ForeignHome), waits for the lock
    (LibraryBusy) and repairs what a crash left behind: `recovered` then says "finished" or "taken back".
    """

    def __init__(
        self, home: Home, timeout: float = LOCK_SECONDS, holder: str = "", format: int = FORMAT
    ) -> None:
        self.home = home
        self.recovered: str | None = None
        self.format = format
        self._lock = FileLock(home.library_lock, timeout, holder)
        self._root = ""

    def __enter__(self) -> Writer:
        check_writable(self.home, self.format)
        try:
            self.home.ensure()
            self._lock.acquire()
        except LockTimeout as error:
            raise LibraryBusy(error.seconds, error.holder) from None
        except OSError as error:
            raise BatchFailed(str(error), undone=True) from None
        try:
            self._open()
        except OSError as error:
            self._lock.release()
            raise BatchFailed(str(error), undone=True) from None
        except BaseException:
            self._lock.release()
            raise
        return self

    def _open(self) -> None:
        if not check_writable(self.home, self.format):
            write_format(self.home, self.format)
        for folder in (self.home.knowledge, self.home.journal):
            os.makedirs(folder, mode=PRIVATE_FOLDER, exist_ok=True)
        self._root = os.path.realpath(self.home.knowledge)
        self.recovered = self._recover()
        if self.recovered:
            check_writable(self.home, self.format)

    def __exit__(self, *_exception: object) -> None:
        self._lock.release()

    def apply(self, batch: Batch, now: float | None = None) -> Batch:
        """Carry out a batch and keep it in the journal as applied; returns it with id and time.

        Raises BadPath or ChangedMeanwhile before anything is written, BatchFailed where the disk refuses.
        """
        self._check(batch.actions, strict=not batch.undoes)
        self._number(batch, now)
        batch.state = "applied"
        flight = os.path.join(self.home.journal, IN_FLIGHT)
        try:
            write_atomic(flight, batch.encode())
        except OSError as error:
            raise BatchFailed(str(error), undone=True)
        try:
            self._settle_all(batch, forward=True)
            self._close(batch)
        except (OSError, BadPath) as error:
            raise BatchFailed(str(error), undone=self._take_back(batch))
        return batch

    def put(self, batch: Batch, state: str, now: float | None = None) -> Batch:
        """Keep the record of a batch in a state that changes no file (proposed, rejected)."""
        self._number(batch, now)
        batch.state = state
        try:
            write_atomic(os.path.join(self.home.journal, batch.name), batch.encode())
        except OSError as error:
            raise BatchFailed(str(error), undone=True) from None
        return batch

    def derive(self, actions: list[Action]) -> None:
        """Write files that can be made again from the others (child lists, catalogs): each one whole, none
        journaled. Raises BadPath, ChangedMeanwhile or OSError; those before the failing one are written."""
        for action in actions:
            self._check([action], strict=True)
            self._settle(action.path, action.after)

    def current(self, path: str) -> bytes | None:
        """What the file `path` of the library holds now, None if it is not there."""
        try:
            return read_limited(reach(self._root, path), FILE_LIMIT)
        except FileNotFoundError:
            return None

    def _check(self, actions: list[Action], strict: bool) -> None:
        """Raise BadPath or ChangedMeanwhile unless every action can be carried out as it was meant.

        strict: new names must be fit for every system; what is restored had its name before.
        """
        check_apart([action.path for action in actions])
        changed = []
        for action in actions:
            if action.before is None and action.after is not None:
                (check_new if strict else check_form)(action.path)
                other = twin(self._root, action.path)
                if other is not None:
                    raise BadPath(action.path, "%s differs from it only in case or Unicode form" % other)
            else:
                check_form(action.path)
            try:
                now = self.current(action.path)
            except OSError as error:
                raise BadPath(action.path, error.strerror or str(error))
            if now != action.before:
                changed.append(action.path)
        if changed:
            raise ChangedMeanwhile(changed)

    def _number(self, batch: Batch, now: float | None) -> None:
        """Give a new batch a record name later than all there are, whatever the clock says."""
        if batch.name:
            return
        if now is None:
            now = time.time()
        micros = int(now * 1_000_000)
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(micros // 1_000_000)) + ".%06d" % (
            micros % 1_000_000
        )
        latest = max(filter(is_record, os.listdir(self.home.journal)), default="")[:22]
        if latest >= stamp:
            stamp = latest[:16] + "%06d" % (int(latest[16:]) + 1)
        batch.number(stamp + "Z", now)

    def _close(self, batch: Batch) -> None:
        """Give the record in flight its own name: from here on the batch is done."""
        os.rename(os.path.join(self.home.journal, IN_FLIGHT), os.path.join(self.home.journal, batch.name))
        sync_folder(self.home.journal)

    def _settle_all(self, batch: Batch, forward: bool, kept: tuple[str, ...] = ()) -> None:
        """Bring every file but `kept` to its state after the batch (or before it), and the record of the
        batch that it undoes to its own. Files are written before others are removed."""
        targets = [(a.path, a.after if forward else a.before) for a in batch.actions if a.path not in kept]
        for path, content in sorted(targets, key=lambda target: target[1] is None):
            self._settle(path, content)
        if batch.undoes:
            self._mark(batch.undoes, "undone" if forward else "applied")
        if batch.format:
            write_format(self.home, batch.format if forward else batch.format - 1)

    def _settle(self, path: str, content: bytes | None) -> None:
        """Make a file hold `content`, or not be there. Doing it twice does no harm."""
        place = reach(self._root, path)
        folder = os.path.dirname(place)
        if content is None:
            try:
                os.unlink(place)
            except FileNotFoundError:
                pass
            self._drop_empty(folder)
            return
        self._make_folder(folder)
        try:
            mode = os.stat(place).st_mode & 0o777
        except OSError:
            mode = PRIVATE_FILE
        write_atomic(place, content, mode)

    def _make_folder(self, folder: str) -> None:
        if os.path.isdir(folder):
            return
        above = os.path.dirname(folder)
        self._make_folder(above)
        os.mkdir(folder, PRIVATE_FOLDER)
        sync_folder(above)

    def _drop_empty(self, folder: str) -> None:
        """Remove `folder` and its parents while they are empty; never the root."""
        while len(folder) > len(self._root):
            above = os.path.dirname(folder)
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                pass
            except OSError:
                break
            folder = above
        sync_folder(folder)

    def _mark(self, name: str, state: str) -> None:
        path = os.path.join(self.home.journal, name)
        try:
            batch = Batch.decode(read_limited(path, RECORD_LIMIT), name)
        except (FileNotFoundError, BrokenRecord):
            return  # older than the journal keeps, or set aside: the new record tells enough
        batch.state = state
        write_atomic(path, batch.encode())

    def _take_back(self, batch: Batch) -> bool:
        """After a failure: put everything back; whether that worked."""
        try:
            self._settle_all(batch, forward=False)
            os.unlink(os.path.join(self.home.journal, IN_FLIGHT))
        except (OSError, BadPath):
            return False
        sync_folder(self.home.journal)
        return True

    def _recover(self) -> str | None:
        """Finish the batch that a crash interrupted, or take it back; None if there was none."""
        flight = os.path.join(self.home.journal, IN_FLIGHT)
        sweep(self.home.journal)
        try:
            batch = Batch.decode(read_limited(flight, RECORD_LIMIT))
        except FileNotFoundError:
            return None
        except BrokenRecord:
            os.replace(flight, "%s.%d.broken" % (flight, time.time()))
            return "set aside"
        for folder in {os.path.dirname(os.path.join(self._root, path)) for path in batch.paths}:
            sweep(folder)
        foreign = self._foreign(batch)
        if not foreign:
            try:
                self._settle_all(batch, forward=True)
                self._close(batch)
            except (OSError, BadPath) as error:
                raise BatchFailed(str(error), undone=self._take_back(batch))
            return "finished"
        # A person changed one of its files since: that file stays as it is, ours go back.
        self._settle_all(batch, forward=False, kept=foreign)
        batch.state = "failed"
        write_atomic(flight, batch.encode())
        self._close(batch)
        return "taken back"

    def _foreign(self, batch: Batch) -> tuple[str, ...]:
        """The paths whose file holds neither what it held before the batch nor what it shall hold."""
        found = []
        for action in batch.actions:
            try:
                known = self.current(action.path) in (action.before, action.after)
            except (OSError, BadPath):
                known = False
            if not known:
                found.append(action.path)
        return tuple(found)


def save(home: Home, batch: Batch, now: float | None = None, timeout: float = LOCK_SECONDS) -> Batch:
    """Apply one batch under the lock; see Writer for what it raises."""
    with Writer(home, timeout) as writer:
        return writer.apply(batch, now)
