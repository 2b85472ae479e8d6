"""Tells when files below knowledge/ change, as far as the system tells us; a scan catches the rest."""

from __future__ import annotations

import os
from collections.abc import Callable

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from ultan.wire.files import is_temporary

# Opening and reading changes nothing; our own scans do it all the time.
_CHANGES = frozenset(("created", "modified", "moved", "deleted", "closed"))


class Watcher:
    """Watches one folder with all below it. `mode`: "events", or "scan" where the system cannot tell."""

    def __init__(
        self,
        folder: str,
        changed: Callable[[], object],
        trouble: Callable[[str, Exception], object],
        make: Callable[[], BaseObserver] = Observer,
    ) -> None:
        self.folder = folder
        self.changed = changed
        self.trouble = trouble
        self.make = make
        self.mode = "scan"
        self._observer: BaseObserver | None = None
        self._watched: tuple[str, int, int] | None = None

    def check(self) -> str:
        """Begin to watch, or again where the folder was replaced or the watching has died; the mode."""
        place = _place(self.folder)
        if self.mode == "events" and place == self._watched and self._is_alive():
            return self.mode
        self.close()
        if (
            place is not None and place != self._watched
        ):  # where it did not work or died, it is not tried again
            self._begin(place)
        return self.mode

    def close(self) -> None:
        """Stop watching; waits a moment for the threads."""
        observer, self._observer = self._observer, None
        self.mode = "scan"
        if observer is not None:
            try:
                observer.stop()
                observer.join(1.0)
            except RuntimeError:
                pass  # it never came to run

    def _begin(self, place: tuple[str, int, int]) -> None:
        self._watched = place
        observer = self.make()
        observer.daemon = True
        try:
            observer.schedule(_Handler(self.changed), place[0], recursive=True)
            observer.start()
        except Exception as error:  # out of watches, out of descriptors, a file system that has none
            self.trouble("watching the library", error)
            return
        self._observer = observer
        self.mode = "events"

    def _is_alive(self) -> bool:
        observer = self._observer
        return observer is not None and observer.is_alive() and all(e.is_alive() for e in observer.emitters)


class _Handler(FileSystemEventHandler):
    def __init__(self, changed: Callable[[], object]) -> None:
        self.changed = changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in _CHANGES and any(_matters(event, path) for path in _paths(event)):
            self.changed()


def _paths(event: FileSystemEvent) -> list[str]:
    return [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]


def _matters(event: FileSystemEvent, path: str) -> bool:
    """Folders only where names in them change, files unless they are not whole yet."""
    if event.is_directory:
        return event.event_type != "modified"
    return not is_temporary(os.path.basename(path))


def _place(folder: str) -> tuple[str, int, int] | None:
    """(real path, device, inode) of a folder; None where there is none."""
    real = os.path.realpath(folder)
    try:
        status = os.stat(real)
    except OSError:
        return None
    return real, status.st_dev, status.st_ino
