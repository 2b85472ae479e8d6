"""The daemon's socket file: made private, put in the place of a dead one, taken away again.

Standard library only: it is made before anything that takes long is loaded.
"""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

from ultan.service.log import described
from ultan.wire.failures import UltanError
from ultan.wire.home import PRIVATE_FOLDER, SOCKET_PATH_LIMIT, Home, check_private

PROBE_SECONDS = 1.0
BACKLOG = 128


class CannotStart(UltanError):
    """There can be no daemon here; the text says why and what to do."""


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


def unlink_own(path: str, inode: int) -> None:
    """Remove the socket at `path` if it is still the one with this inode."""
    try:
        if os.lstat(path).st_ino == inode:
            Path(path).unlink()
    except OSError:
        pass
