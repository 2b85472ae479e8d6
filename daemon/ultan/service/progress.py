"""Says how an installation goes: to the person on standard error, to everybody else in state.json.

Runs before anything is installed: Python 3.9, standard library alone.
"""

from __future__ import annotations

import json
import os
import sys
import time

from ultan.wire.files import utc_now, write_atomic

# state.json also tells that an installer lives; hooks start another one when it has not changed for a minute.
_BEAT_SECONDS = 20.0


class Progress:
    """One installation's words. `quiet`: nothing on standard error; nothing at all before the first phase."""

    def __init__(self, runtime: str, quiet: bool = False) -> None:
        self.path = os.path.join(runtime, "state.json")
        self.quiet = quiet
        self.notes: list[str] = []
        self.said = False
        self._began = time.monotonic()
        self._started = utc_now()
        self._phase = self._message = ""
        self._beaten = 0.0
        self._open_line = False

    def phase(self, name: str, message: str, silent: bool = False) -> None:
        """A new phase begins: `name` for programs, `message` for people; silent: too short to be told."""
        self._close_line()
        self._phase, self._message = name, message
        self._write(None)
        if not silent:
            self._say(f"[{self.elapsed:3.0f} s] {message}")

    def tick(self) -> None:
        """Time passes inside a phase; call it about once a second."""
        if time.monotonic() - self._beaten >= _BEAT_SECONDS:
            self._write(None)
        if not self.quiet and sys.stderr.isatty():
            sys.stderr.write(f"\rultan: [{self.elapsed:3.0f} s] {self._message} ")
            sys.stderr.flush()
            self._open_line = True

    def note(self, text: str) -> None:
        """Something that the person should know though it went well."""
        self.notes.append(text)
        self._close_line()
        self._say("        " + text)

    def failed(self, error: str) -> None:
        """The installation ended with `error`; who called says so to the person."""
        self._close_line()
        self._write(error)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def _say(self, line: str) -> None:
        self.said = True
        if not self.quiet:
            print("ultan: " + line, file=sys.stderr, flush=True)

    def _close_line(self) -> None:
        if self._open_line:
            sys.stderr.write("\r\033[K")
            self._open_line = False

    def _write(self, error: str | None) -> None:
        self._beaten = time.monotonic()
        state = {
            "phase": "failed" if error else self._phase,
            "message": self._message,
            "error": error,
            "notes": self.notes,
            "started": self._started,
            "updated": utc_now(),
            "pid": os.getpid(),
        }
        try:
            write_atomic(self.path, json.dumps(state, indent=1, ensure_ascii=False).encode() + b"\n")
        except OSError:
            pass  # a full disk is reported by the step that needs it
