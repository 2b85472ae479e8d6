"""The first steps of a daemon: the lock, then the socket, then everything that takes long.

Standard library only up to there: of eight that start together, seven must end before anything is loaded.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ultan.service.log import Log, described
from ultan.service.state import FAILED, STARTING, State
from ultan.wire.failures import UltanError
from ultan.wire.files import FileLock, LockTimeout
from ultan.wire.home import PRIVATE_FOLDER, SOCKET_PATH_LIMIT, Home, check_private

if TYPE_CHECKING:
    from ultan.service.daemon import OpenEngine

# A hook that looks whether somebody holds the lock holds it for an instant itself.
CLAIM_SECONDS = 0.3
PROBE_SECONDS = 1.0
BACKLOG = 128


class CannotStart(UltanError):
    """There can be no daemon here; the text says why and what to do."""


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


def listen(home: Home) -> socket.socket:
    """A socket that listens where the hooks look for it; the lock must be held.

    What a dead daemon left there is removed; what answers never is. Raises CannotStart.
    """
    path = home.socket
    try:
        _make_folder(home, os.path.dirname(path))
        _clear(path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(path)
            Path(path).chmod(0o600)
            listener.listen(BACKLOG)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise CannotStart(f"The socket {path} cannot be made: {described(error)}.", *_advice(home)) from None
    return listener


def _make_folder(home: Home, folder: str) -> None:
    if folder == home.root:
        return
    try:
        Path(folder).mkdir(mode=PRIVATE_FOLDER)
    except FileExistsError:
        pass
    check_private(folder)


def _clear(path: str) -> None:
    """Remove a socket that nobody listens on. Raises CannotStart for anything else that is there."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise CannotStart(f"{path} is in the way: it is no socket.", "It was left alone.", "Remove it.")
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    probe.settimeout(PROBE_SECONDS)
    try:
        probe.connect(path)
    except (ConnectionRefusedError, FileNotFoundError):
        Path(path).unlink(missing_ok=True)
        return
    except OSError:
        pass  # somebody listens and is busy
    finally:
        probe.close()
    raise CannotStart(
        f"Another process answers on {path} without holding the lock.",
        "It was left alone.",
        "End that process.",
    )


def _advice(home: Home) -> tuple[str, str]:
    kept = "No daemon runs; prompts are answered by words alone."
    wanted = home.path("priming.sock")
    if home.socket == wanted:
        return kept, "Check the home's permissions and free space."
    return kept, (
        f"{wanted} is longer than the {SOCKET_PATH_LIMIT} bytes of a socket's path, so the socket should be"
        f" in {os.path.dirname(home.socket)}, which must be a folder of your own with mode 0700."
    )


def _failed(state: State, log: Log, error: CannotStart, now: float) -> int:
    log.write(f"cannot start: {error}")
    state.enter(FAILED, now, str(error))
    return 1


def unlink_own(path: str, inode: int) -> None:
    """Remove the socket at `path` if it is still the one with this inode."""
    try:
        if os.lstat(path).st_ino == inode:
            Path(path).unlink()
    except OSError:
        pass
