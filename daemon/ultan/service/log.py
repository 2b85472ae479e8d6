"""daemon.log: short UTC lines about the daemon itself, never what a person or an agent wrote."""

from __future__ import annotations

import os
import stat
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from ultan.wire.failures import UltanError
from ultan.wire.files import PRIVATE_FILE, utc_now
from ultan.wire.redact import redact

LIMIT_BYTES = 5 << 20
LINE_CHARS = 2000
REPEAT_SECONDS = 600.0
_STREAMS = (1, 2)


class Log:
    """Appends to one file; past the limit it is renamed to `.1`, which replaces the one before."""

    def __init__(
        self, path: str, clock: Callable[[], float] = time.time, limit_bytes: int = LIMIT_BYTES
    ) -> None:
        self.path = path
        self.clock = clock
        self.limit_bytes = limit_bytes
        self._guard = threading.Lock()
        self._said: dict[str, float] = {}

    def write(self, text: str) -> None:
        """Add one line; a disk that refuses it is no reason to fail."""
        flat = " / ".join(redact(text).splitlines())[:LINE_CHARS]
        line = f"{utc_now(self.clock())} [{os.getpid()}] {flat}\n"
        with self._guard:
            try:
                descriptor = os.open(
                    self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE
                )
                try:
                    os.write(descriptor, line.encode("utf-8", "replace"))
                    status = os.fstat(descriptor)
                    if stat.S_IMODE(status.st_mode) & 0o077:  # a shell's redirection made it
                        os.fchmod(descriptor, PRIVATE_FILE)
                finally:
                    os.close(descriptor)
                if status.st_size > self.limit_bytes:
                    self._rotate()
            except OSError:
                pass

    def trouble(self, where: str, error: BaseException) -> None:
        """Note what went wrong; the same trouble again within ten minutes is not repeated."""
        words = f"{where}: {described(error)}"
        now = self.clock()
        with self._guard:
            known = {text: at for text, at in self._said.items() if now - at < REPEAT_SECONDS}
            fresh = words not in known
            self._said = {**known, words: now} if fresh else known
        if fresh:
            self.write(words)

    def recent(self) -> list[str]:
        """The troubles of the last ten minutes, each once."""
        now = self.clock()
        with self._guard:
            return [text for text, at in self._said.items() if now - at < REPEAT_SECONDS]

    def _rotate(self) -> None:
        """Put the file away, and point our own output streams to the new one where they led to the old."""
        old = os.stat(self.path)
        Path(self.path).replace(self.path + ".1")
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            for stream in _STREAMS:
                if _leads_to(stream, old):
                    os.dup2(descriptor, stream)
        finally:
            os.close(descriptor)


def described(error: BaseException) -> str:
    """An error in words that hold nothing of what was being worked on: its kind and its place in the code.

    The messages of our own errors and of the system's are written for people and may be shown.
    """
    kind = type(error).__name__
    if isinstance(error, UltanError):
        return str(error)
    if isinstance(error, ImportError):
        return f"{kind}: {error}"
    if isinstance(error, OSError) and error.strerror:
        place = f" ({error.filename})" if error.filename else ""
        return f"{kind}: {error.strerror}{place}"
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    places = ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"{kind} at {places}" if places else kind


def _leads_to(stream: int, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(stream), file)
    except OSError:
        return False
