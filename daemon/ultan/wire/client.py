"""One question to the daemon and its answer, within one total deadline.

Protocol: one JSON object a line each way over a Unix socket; see docs/schema.md. A peer that is mute, drips,
floods or talks nonsense costs at most the deadline and is then as good as absent.
"""

from __future__ import annotations

import json
import socket
import time

from ultan.wire.home import Home
from ultan.wire.version import PROTOCOL, VERSION

ANSWER_LIMIT = 1 << 20


class Unreachable(OSError):
    """Nobody listens on the socket."""


class Unresponsive(OSError):
    """Somebody listens, but no valid answer came in time."""


def request(home: Home, message: dict[str, object], deadline: float) -> dict[str, object]:
    """Send `message` (op and its fields) and return the answer, an object with `ok`.

    deadline: seconds for everything together. Raises Unreachable or Unresponsive.
    """
    end = time.monotonic() + deadline
    if not home.socket_folder_is_safe():
        raise Unreachable("the socket's folder is not private to this user")
    line = json.dumps({"v": PROTOCOL, "client_version": VERSION, **message}) + "\n"
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        peer.settimeout(max(0.01, end - time.monotonic()))
        try:
            peer.connect(home.socket)
        except (ConnectionRefusedError, FileNotFoundError, NotADirectoryError) as error:
            raise Unreachable(str(error)) from error
        peer.settimeout(max(0.01, end - time.monotonic()))
        peer.sendall(line.encode("utf-8"))
        return _answer(peer, end)
    except (Unreachable, Unresponsive):
        raise
    except OSError as error:
        raise Unresponsive(str(error) or type(error).__name__) from error
    finally:
        peer.close()


def _answer(peer: socket.socket, end: float) -> dict[str, object]:
    parts: list[bytes] = []
    total = 0
    while True:
        left = end - time.monotonic()
        if left <= 0:
            raise Unresponsive("no whole answer in time")
        peer.settimeout(left)
        part = peer.recv(65536)
        total += len(part)
        if total > ANSWER_LIMIT:
            raise Unresponsive("the answer is too long")
        parts.append(part)
        if not part or b"\n" in part:
            break
    try:
        answer = json.loads(b"".join(parts).split(b"\n", 1)[0])
    except (ValueError, RecursionError) as error:
        raise Unresponsive("the answer is not JSON") from error
    if not isinstance(answer, dict) or "ok" not in answer:
        raise Unresponsive("the answer is not an answer")
    return answer
