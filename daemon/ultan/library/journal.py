"""Reading and turning back what the journal keeps: the log, the review queue, undo."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ultan.library import markers
from ultan.library.errors import ChangedMeanwhile, ForeignHome, NoSuchBatch, WrongState
from ultan.wire.batch import Action, Batch, BrokenRecord, is_record
from ultan.wire.files import read_limited
from ultan.wire.format import check_writable
from ultan.wire.home import Home
from ultan.wire.journal import LOCK_SECONDS, RECORD_LIMIT, Writer

__all__ = ["Action", "Batch", "Journal"]

KEEP_DAYS = 180


class Journal:
    """The journal of one home. Whatever changes something takes the library's lock and repairs first."""

    def __init__(self, home: Home, timeout: float = LOCK_SECONDS, holder: str = "") -> None:
        self.home = home
        self.timeout = timeout
        self.holder = holder

    def writer(self) -> Writer:
        """The lock, for more than one step: `with journal.writer() as writer: ...`."""
        return Writer(self.home, self.timeout, self.holder)

    def apply(self, batch: Batch, now: float | None = None) -> Batch:
        """Carry out a batch, all or nothing. Raises what Writer.apply raises."""
        with self.writer() as writer:
            return writer.apply(batch, now)

    def recover(self) -> str | None:
        """Repair what a crash left: "finished", "taken back", "set aside", or None."""
        with self.writer() as writer:
            return writer.recovered

    def propose(self, batch: Batch, now: float | None = None) -> Batch:
        """Keep a batch for the person to decide; no file changes."""
        with self.writer() as writer:
            return writer.put(batch, "proposed", now)

    def accept(self, id: str, now: float | None = None) -> Batch:
        """Carry out a proposed batch. Raises ChangedMeanwhile where its files are no longer as proposed."""
        with self.writer() as writer:
            return writer.apply(self._in_state(id, "proposed"), now)

    def reject(self, id: str, now: float | None = None) -> Batch:
        """Refuse a proposed batch; its record stays, so that it is not proposed again."""
        with self.writer() as writer:
            return writer.put(self._in_state(id, "proposed"), "rejected", now)

    def undo(self, id: str | None = None, by: str = "user", now: float | None = None) -> Batch:
        """Take back a batch (default: the last applied one that is no undo itself); returns the undoing one.

        Undoing an undo does the change again. Raises NoSuchBatch, WrongState, or ChangedMeanwhile where a
        file was changed since, in which case nothing is written.
        """
        with self.writer() as writer:
            batch = self._last() if id is None else self._in_state(id, "applied")
            if batch.format:
                raise WrongState(batch.id, "a change of the home's format", "undoable")
            actions, changed = [], []
            for action in reversed(batch.actions):
                now_there = writer.current(action.path)
                if not markers.same_own_text(action.path, now_there, action.after):
                    changed.append(action.path)
                actions.append(Action(action.path, now_there, action.before))
            if changed:
                raise ChangedMeanwhile(
                    changed,
                    f"Batch {batch.id} cannot be undone: since then somebody changed {', '.join(changed)}.",
                    "Edit or delete it by hand, or undo the later change first (`ultan log`).",
                )
            redo = bool(batch.undoes) and not batch.redo
            what = "undo of undo" if redo else "undo"
            reason = f"{what} {batch.id}: {batch.reason}" if batch.reason else f"{what} {batch.id}"
            return writer.apply(Batch(actions, by, reason, undoes=batch.name, redo=redo), now)

    def log(self, limit: int | None = 50) -> list[Batch]:
        """The newest `limit` batches, newest first. Broken records are set aside, never fatal."""
        found: list[Batch] = []
        for name in reversed(self._names()):
            if limit is not None and len(found) >= limit:
                break
            batch = self._load(name)
            if batch is not None:
                found.append(batch)
        return found

    def pending(self) -> list[Batch]:
        """The batches that wait for the person, oldest first."""
        return [batch for batch in reversed(self.log(None)) if batch.state == "proposed"]

    def find(self, id: str) -> Batch:
        """The batch with this id, or with an id that begins so if only one does. Raises NoSuchBatch."""
        names = [name for name in self._names() if name[24:32].startswith(id)] if id else []
        batch = self._load(names[0]) if len(names) == 1 else None
        if batch is None:
            raise NoSuchBatch(id)
        return batch

    def broken(self) -> list[str]:
        """Names of the records that were set aside."""
        return sorted(name for name in _listdir(self.home.journal) if name.endswith(".broken"))

    def prune(self, now: float | None = None) -> int:
        """Drop records older than 180 days, but for those still waiting; how many."""
        limit = time.strftime("%Y%m%dT", time.gmtime((now or time.time()) - KEEP_DAYS * 86400))
        dropped = 0
        with self.writer():
            for name in self._names():
                if name >= limit:
                    break
                batch = self._load(name)
                if batch is not None and batch.state != "proposed":
                    Path(self.home.journal, name).unlink(missing_ok=True)
                    dropped += 1
        return dropped

    def _names(self) -> list[str]:
        return sorted(name for name in _listdir(self.home.journal) if is_record(name))

    def _load(self, name: str) -> Batch | None:
        """One record, or None: gone meanwhile, unreadable, or broken and now set aside."""
        path = Path(self.home.journal, name)
        try:
            return Batch.decode(read_limited(str(path), RECORD_LIMIT), name)
        except BrokenRecord:
            try:
                check_writable(self.home)  # what a newer version wrote is not broken
                path.replace(f"{path}.broken")
            except (OSError, ForeignHome):
                pass
        except OSError:
            pass
        return None

    def _in_state(self, id: str, state: str) -> Batch:
        batch = self.find(id)
        if batch.state != state:
            raise WrongState(batch.id, batch.state, state)
        return batch

    def _last(self) -> Batch:
        for name in reversed(self._names()):
            batch = self._load(name)
            if batch is not None and batch.state == "applied" and not batch.format and _is_change(batch):
                return batch
        raise NoSuchBatch(None)


def _is_change(batch: Batch) -> bool:
    """Whether a batch does something, rather than take something back."""
    return batch.redo or not batch.undoes


def _listdir(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
