"""Run one command with no network but loopback, a clean environment and the scripted model.

    unshare -n python -m offline_client.namespace SPEC.json

SPEC: {"script": {...}, "log": path, "environment": {...}, "command": [...]}. The command gets exactly that
environment, and the model's address; its input, output and exit status are this program's.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

from offline_client.server import ScriptedModel

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP
_AMBIENT, _CLEAR_ALL = 47, 4  # PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL


def prefix() -> list[str]:
    """The command that enters a new network namespace: as root, or in a user namespace of one's own."""
    return ["unshare", "-n"] if os.getuid() == 0 else ["unshare", "-c", "--keep-caps", "-n"]


def raise_loopback() -> None:
    """Bring the loopback device up, as `ip link set lo up` would; a new namespace has it down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = fcntl.ioctl(any_socket, _GET_FLAGS, struct.pack("16sh14x", b"lo", 0))
        flags = struct.unpack("16sh14x", asked)[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


def _drop_privileges() -> None:
    if os.getuid() != 0:  # what raised loopback is none of the command's business
        ctypes.CDLL(None).prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)


def main(path: str) -> int:
    spec = json.loads(Path(path).read_text(encoding="utf-8"))
    raise_loopback()
    with ScriptedModel(spec["script"], Path(spec["log"])) as model:
        environment = {**spec["environment"], "ANTHROPIC_BASE_URL": model.url}
        child = subprocess.Popen(spec["command"], env=environment, preexec_fn=_drop_privileges)
        signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
