"""Runs the steps of an installation, each way of one until a way works.

Runs before anything is installed: Python 3.9, standard library alone.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import time

from ultan.service.installing import Step
from ultan.service.progress import Progress

_LOG_LIMIT = 4 * 1024 * 1024
_TAIL = 1500
_LOOK_SECONDS = 0.2


class StepFailed(Exception):
    """No way of a step worked. Fields: title, log (path), tail (the last words of the last command)."""

    def __init__(self, title: str, log: str, tail: str) -> None:
        super().__init__(f"{title} failed. The whole output is in {log}; it ends with:\n{tail}")
        self.title = title
        self.log = log
        self.tail = tail


class Runner:
    """Runs command lines with `environ`, output to `log`; tests put a recorder in its place."""

    def __init__(self, log: str, environ: dict[str, str], progress: Progress) -> None:
        self.log = log
        self.environ = environ
        self.progress = progress

    def settle(self) -> None:
        """Wait for a command that goes on though its installer was killed: it writes where the next one will.

        Each command has the log as its output, and the log is locked for as long as anybody has it so.
        """
        with os.fdopen(self._open(), "r+b") as log:
            told = False
            while not _locked(log.fileno()):
                if not told:
                    self.progress.phase("waiting", "Waiting for what an interrupted installation still does")
                    told = True
                self.progress.tick()
                time.sleep(_LOOK_SECONDS)

    def run(self, phase: str, step: Step) -> None:
        """Do `step`. Raises StepFailed."""
        self.progress.phase(phase, step.title)
        for number, argv in enumerate(step.ways):
            if self.call(argv)[0] == 0:
                if number in step.notes:
                    self.progress.note(step.notes[number])
                return
        raise StepFailed(step.title, self.log, self._tail())

    def call(self, argv: list[str]) -> tuple[int, str]:
        """(exit status, output) of a command line; 127 where it cannot be started."""
        with os.fdopen(self._open(), "r+b") as log:
            _locked(log.fileno())
            if os.fstat(log.fileno()).st_size > _LOG_LIMIT:
                log.truncate(0)
            log.write(("\n$ {}\n".format(" ".join(argv))).encode("utf-8", "surrogateescape"))
            log.flush()
            start = os.fstat(log.fileno()).st_size
            status = self._wait(argv, log.fileno())
            log.seek(start)
            return status, log.read().decode("utf-8", "replace")

    def _open(self) -> int:
        return os.open(self.log, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def _wait(self, argv: list[str], output: int) -> int:
        try:
            child = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=self.environ
            )
        except OSError as error:
            os.write(output, (f"{error}\n").encode())
            return 127
        try:
            while True:
                try:
                    return child.wait(1.0)
                except subprocess.TimeoutExpired:
                    self.progress.tick()
        except BaseException:
            # The person gave up, or the session ended: nothing may go on installing behind the lock.
            child.terminate()
            child.wait()
            raise

    def _tail(self) -> str:
        try:
            with os.fdopen(os.open(self.log, os.O_RDONLY | os.O_CLOEXEC), "rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - _TAIL))
                return log.read().decode("utf-8", "replace").strip()
        except OSError:
            return ""


def _locked(descriptor: int) -> bool:
    """Whether the file could be locked, for this descriptor and all that are inherited from it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
