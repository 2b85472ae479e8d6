"""Copies of Ultan's code in the runtime folder: one for each content, whole or not there.

The client may replace the plugin's folder at any moment, so nothing that lives long runs from it. Runs before
anything is installed: Python 3.9, standard library alone; `listing` is on the path of every command.
"""

from __future__ import annotations

import os

from ultan.wire.files import read_limited
from ultan.wire.version import VERSION

TEMPORARY = ".making-"
# What a running daemon may still use: a copy stays this long after it was last the current one.
KEEP_SECONDS = 24 * 3600.0
_LIMIT = 16 * 1024 * 1024
_KINDS = ("code-", "venv-", TEMPORARY)


def listing(root: str) -> str:
    """One line for each file that decides what is installed: path, size and time of change.

    Equal listings mean an unchanged checkout; reading a hundred file states takes a millisecond or two.
    """
    paths = [os.path.join(root, name) for name in ("pyproject.toml", "requirements.lock")]
    return "\n".join(_state(path) for path in paths + files(os.path.join(root, "daemon")))


def _state(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return path + " -"
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def files(folder: str) -> list[str]:
    """The paths of the code below `folder`, sorted; without what Python or an editor leaves there."""
    found: list[str] = []
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.startswith((".", "__pycache__")) or entry.name.endswith((".pyc", "~")):
                    continue
                if entry.is_dir():
                    waiting.append(entry.path)
                elif entry.is_file():
                    found.append(entry.path)
    return sorted(found)


def contents(root: str) -> list[tuple[str, bytes]]:
    """(path below daemon/, content) of each file of the code at `root`. Raises OSError."""
    folder = os.path.join(root, "daemon")
    found = []
    for path in files(folder):
        found.append((path[len(folder) + 1 :], read_limited(path, _LIMIT)))
    return found


def content_hash(code: list[tuple[str, bytes]]) -> str:
    """Twelve hex digits of the content of the code and of where each file stands."""
    import hashlib

    digest = hashlib.sha256()
    for name, data in code:
        digest.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
        digest.update(data)
    return digest.hexdigest()[:12]


def copy(root: str, runtime: str) -> str:
    """The folder of the copy of the code at `root`, made if it is not there. Raises OSError."""
    import shutil
    import tempfile

    code = contents(root)
    target = os.path.join(runtime, f"code-{VERSION}-{content_hash(code)}")
    if os.path.isfile(os.path.join(target, "boot.py")):
        return target
    temporary = tempfile.mkdtemp(prefix=TEMPORARY, dir=runtime)
    try:
        for name, data in code:
            to = os.path.join(temporary, name)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            with os.fdopen(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
        os.rename(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return target


def to_collect(states: dict[str, float], used: set[str], now: float) -> list[str]:
    """The names in the runtime folder to remove: none in use, none that was current within a day.

    `states` maps a name to when it was last the current one, in seconds since the epoch.
    """
    return sorted(
        name
        for name, last in states.items()
        if name.startswith(_KINDS) and name not in used and now - last > KEEP_SECONDS
    )


def collect(runtime: str, used: set[str], now: float) -> list[str]:
    """Remove what nobody uses any more; returns the names. What cannot be removed stays."""
    import shutil

    states = {}
    for name in os.listdir(runtime):
        try:
            states[name] = os.stat(os.path.join(runtime, name)).st_mtime
        except OSError:
            continue
    gone = to_collect(states, used, now)
    for name in gone:
        shutil.rmtree(os.path.join(runtime, name), ignore_errors=True)
    return gone


def touch(path: str, now: float) -> None:
    """Note that `path` was in use until now."""
    try:
        os.utime(path, (now, now))
    except OSError:
        pass
