"""daemon.pid: what the daemon says of itself. It informs; the lock decides."""

from __future__ import annotations

import json
import os

from ultan.wire.files import utc_now, write_atomic
from ultan.wire.home import Home
from ultan.wire.version import PROTOCOL, VERSION

STARTING, READY, FAILED, STOPPED = "starting", "ready", "failed", "stopped"


class State:
    """The state of this process, written whole each time it changes."""

    def __init__(self, home: Home, now: float) -> None:
        self.home = home
        self.name = STARTING
        self.since = now
        self.started = now
        self.ready: float | None = None
        self.error: str | None = None

    def enter(self, name: str, now: float, error: str | None = None) -> None:
        """Change to a state and say so; a home that cannot be written is no reason to fail."""
        self.name, self.since, self.error = name, now, error
        if name == READY:
            self.ready = now
        try:
            write_atomic(self.home.daemon_pid, json.dumps(self.as_json()).encode("ascii") + b"\n")
        except OSError:
            pass

    def as_json(self) -> dict[str, object]:
        """Timestamps in UTC; started_at is seconds since the epoch, finer than a second."""
        return {
            "v": 1,
            "pid": os.getpid(),
            "version": VERSION,
            "protocol": PROTOCOL,
            "state": self.name,
            "since": utc_now(self.since),
            "started": utc_now(self.started),
            "started_at": round(self.started, 3),
            "ready": None if self.ready is None else utc_now(self.ready),
            "socket": self.home.socket,
            "error": self.error,
        }
