"""Who is at the other end of a Unix socket."""

from __future__ import annotations

import os
import socket
import struct
import sys

# struct xucred of macOS and the BSDs: version, uid, number of groups, groups.
_SOL_LOCAL = 0
_LOCAL_PEERCRED = 1
_XUCRED = struct.Struct("IIh16I")


def user_of(connection: socket.socket) -> int | None:
    """The user id of the peer's process; None where the system does not say."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            size = struct.calcsize("3i")
            raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            return int(struct.unpack("3i", raw)[1])
        if sys.platform == "darwin" or "bsd" in sys.platform:
            raw = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED.size)
            return int(struct.unpack_from("II", raw)[1])
    except (OSError, struct.error):
        pass
    return None


def is_own(connection: socket.socket) -> bool:
    """Whether the peer is this user (or the superuser, who can do everything anyway).

    Where the system does not say, the socket's own mode decides.
    """
    user = user_of(connection)
    return user is None or user in (os.getuid(), 0)
