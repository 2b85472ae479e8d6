"""Whether the machine and the home's folder are fit: platform, file system, modes, space."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from ultan.service.checks.finding import Finding
from ultan.wire.home import Home

LEAST_FREE = 200 << 20
_WINDOWS_DRIVE = re.compile(r"/mnt/[a-z](/|$)")


def check(home: Home) -> Iterator[Finding]:
    yield platform(sys.platform, _kernel(), os.path.realpath(home.root))
    yield from modes(home)
    yield from space(home)


def platform(name: str, kernel: str, root: str) -> Finding:
    """name: as sys.platform; kernel: what the kernel says of itself; root: the home, links resolved."""
    if name.startswith(("win", "cygwin", "msys")):
        message = "Windows itself is not supported: hooks stay silent there"
        return Finding(
            "platform", "error", message, "use Ultan inside WSL, with the home on its own file system"
        )
    if "microsoft" in kernel.lower():
        if _WINDOWS_DRIVE.match(root):
            message = f"the home {root} lies on a Windows drive: locks and modes do not hold there"
            return Finding(
                "platform", "error", message, "set AGENT_MEM_HOME to a folder below your Linux home"
            )
        return Finding("platform", "ok", "WSL, the home on its own file system")
    if name in ("linux", "darwin"):
        return Finding("platform", "ok", "macOS" if name == "darwin" else "Linux")
    return Finding("platform", "note", f"{name} is not tested", "tell how it goes")


def modes(home: Home) -> Iterator[Finding]:
    """Whether others can look into the home."""
    try:
        status = os.stat(home.root)
    except FileNotFoundError:
        yield Finding("home", "note", f"{home.root} does not exist yet; it is made when first needed")
        return
    if status.st_uid != os.getuid():
        yield Finding(
            "home", "error", f"{home.root} belongs to another user", "set AGENT_MEM_HOME to your own"
        )
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077:
        yield Finding(
            "home", "warning", f"{home.root} is open to others ({mode:04o})", f"chmod 700 {home.root}"
        )
    elif not os.access(home.root, os.W_OK | os.X_OK):
        yield Finding("home", "error", f"{home.root} cannot be written", f"chmod 700 {home.root}")
    else:
        yield Finding("home", "ok", f"{home.root}, private to you")


def space(home: Home, least: int = LEAST_FREE) -> Iterator[Finding]:
    """A warning where the disk is nearly full. least: bytes."""
    folder = Path(home.root)
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < least:
        message = f"only {free >> 20} MiB are free on the disk of {home.root}"
        yield Finding("home", "warning", message, "free some space: events that cannot be written are lost")


def _kernel() -> str:
    try:
        return Path("/proc/version").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
