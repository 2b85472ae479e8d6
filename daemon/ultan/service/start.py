"""The first steps of a daemon: the lock, then the socket, then everything that takes long.

Standard library only up to there: of eight that start together, seven must end before anything is loaded.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ultan.service.listening import CannotStart, listen
from ultan.service.log import Log, described
from ultan.service.state import FAILED, STARTING, State
from ultan.wire.files import FileLock, LockTimeout
from ultan.wire.home import Home

if TYPE_CHECKING:
    from ultan.service.daemon import OpenEngine

# A hook that looks whether somebody holds the lock holds it for an instant itself.
CLAIM_SECONDS = 0.3


def run(home: Home, open_engine: OpenEngine | None = None, clock: Callable[[], float] = time.time) -> int:
    """Be the daemon of a home until it is told to stop; the exit status.

    0: ended in good order, or another one lives. 1: it cannot run here, which daemon.pid and daemon.log tell.
    """
    os.umask(0o077)
    log = Log(home.daemon_log, clock)
    state = State(home, clock())
    try:
        home.ensure()
        lock = claim(home)
    except CannotStart as error:
        return _failed(state, log, error, clock())
    except OSError as error:
        return _failed(state, log, CannotStart(f"The home cannot be used: {described(error)}."), clock())
    if lock is None:
        return 0
    try:
        state.enter(STARTING, clock())
        try:
            listener = listen(home)
        except CannotStart as error:
            return _failed(state, log, error, clock())
        from ultan.service.daemon import Daemon

        return Daemon(home, listener, state, log, open_engine, clock).run()
    except Exception as error:  # whatever it is, the next one must find a word of it
        log.write(f"ended by a mistake: {described(error)}")
        state.enter(FAILED, clock(), f"It ended by a mistake of its own: {described(error)}.")
        return 1
    finally:
        lock.release()


def claim(home: Home) -> FileLock | None:
    """The daemon's lock, held; None where another process has it. CannotStart where there are no locks."""
    lock = FileLock(home.daemon_lock, CLAIM_SECONDS)
    try:
        lock.acquire()
    except LockTimeout:
        return None
    except OSError as error:
        raise CannotStart(
            f"{home.daemon_lock} cannot be locked: {error.strerror or error}.",
            "No daemon runs, since a second one could not be kept out; prompts are answered by words alone.",
            "Put the home on a local disk (AGENT_MEM_HOME).",
        ) from None
    return lock


def _failed(state: State, log: Log, error: CannotStart, now: float) -> int:
    log.write(f"cannot start: {error}")
    state.enter(FAILED, now, str(error))
    return 1
