"""Whether the installed copy that hooks start is there, whole, and of this version."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping

from ultan.service.checks.finding import INSTALL, Finding
from ultan.wire import runtime
from ultan.wire.files import read_limited
from ultan.wire.home import Home
from ultan.wire.version import VERSION

OLDEST_PYTHON = (3, 11)


def check(home: Home, environ: Mapping[str, str]) -> Iterator[Finding]:
    """The runtime, the interpreter."""
    yield from _runtime(home, dict(environ))
    version = platform.python_version()
    if sys.version_info >= OLDEST_PYTHON:
        yield Finding("install", "ok", f"Python {version} at {sys.executable}")
    else:
        yield Finding("install", "error", f"Python {version} is too old, 3.11 is needed", INSTALL)


def _runtime(home: Home, environ: dict[str, str]) -> Iterator[Finding]:
    found = runtime.find(home, environ)
    folder = runtime.folder(home, environ)
    progress = _progress(folder)
    if found is None:
        message = f"no runtime in {folder}: hooks record and answer by words alone, no daemon starts"
        if progress:
            message += f" (the installer says: {progress})"
        yield Finding("install", "warning", message, INSTALL + _missing(environ))
    elif runtime.is_older(found.version):
        message = f"the runtime is version {found.version}, this code is {VERSION}"
        yield Finding("install", "warning", message, INSTALL)
    else:
        yield Finding("install", "ok", f"runtime {found.version} at {found.code}")


def _progress(folder: str) -> str:
    """Where the installer stands, in its own words; "" where it said nothing."""
    try:
        values = json.loads(read_limited(os.path.join(folder, "state.json"), 1 << 16))
        words = [str(values[name]) for name in ("phase", "message", "error") if values.get(name)]
    except (OSError, ValueError, TypeError, AttributeError):
        return ""
    return ", ".join(words)


def _missing(environ: Mapping[str, str]) -> str:
    """What the installer lacks on this machine."""
    path = environ.get("PATH", os.defpath)
    uv = [os.path.join(environ.get("HOME", ""), place, "uv") for place in (".local/bin", ".cargo/bin")]
    pythons = [f"python3.{minor}" for minor in range(11, 16)]
    if shutil.which("uv", path=path) or any(os.access(place, os.X_OK) for place in uv):
        return ""
    if any(shutil.which(name, path=path) for name in pythons) or sys.version_info >= OLDEST_PYTHON:
        return ""
    return " (it needs uv, https://docs.astral.sh/uv, or Python 3.11 or later; neither was found)"
