"""Brings what Ultan runs on: an environment with its packages, a copy of its code, and which are current.

Runs before anything is installed: Python 3.9, standard library alone; `warm` is on the path of every command.

    <runtime>/venv-<hash>/                  the packages; ultan.json inside, written last, says it is whole
    <runtime>/code-<version>-<hash>/        a copy of daemon/, renamed into place
    <runtime>/current.json                  which of each is current: written last of all
    <runtime>/seen.json                     what the checkout looked like then
    <runtime>/state.json, install.log       how the last installation went
"""

from __future__ import annotations

import json
import os
import sys
import time

from ultan.service import copies
from ultan.service.installed import ProvisioningError, installed, read
from ultan.wire.files import FileLock, LockTimeout, write_atomic
from ultan.wire.home import Home
from ultan.wire.runtime import Runtime, find, folder
from ultan.wire.version import VERSION, newer

WAIT_SECONDS = 3600.0


class Busy(Exception):
    """Another process is installing and this one was not to wait for it."""


def warm(root: str, home: Home, environ: dict[str, str], extras: list[str]) -> Runtime | None:
    """The current runtime if it is what the checkout at `root` needs, `extras` included; else None.

    A newer runtime than the checkout is what it needs too: nothing ever goes back to an older version.
    """
    current = find(home, environ)
    if current is None or not has_extras(current, extras):
        return None
    if newer(current.version, VERSION):
        return current
    seen = read(os.path.join(folder(home, environ), "seen.json"))
    same = seen.get("code") == current.code and seen.get("python") == current.python
    return current if same and seen.get("listing") == copies.listing(root) else None


def has_extras(current: Runtime, extras: list[str]) -> bool:
    return set(extras) <= installed(os.path.dirname(os.path.dirname(current.python)))


def ensure(
    root: str, home: Home, environ: dict[str, str], extras: list[str], quiet: bool = False, wait: bool = True
) -> Runtime:
    """The runtime for the checkout at `root`, installed or completed if need be.

    wait: for another process that is installing (else Busy is raised). Raises ProvisioningError.
    """
    current = warm(root, home, environ, extras)
    if current is not None:
        return current
    runtime = folder(home, environ)
    try:
        home.ensure()
        os.makedirs(runtime, mode=0o700, exist_ok=True)
        with _lock(os.path.join(runtime, "install.lock"), quiet, wait):
            return warm(root, home, environ, extras) or _install(root, home, environ, extras, quiet)
    except OSError as error:
        raise ProvisioningError(f"Ultan can't be installed into {runtime}: {error}") from error


def _lock(path: str, quiet: bool, wait: bool) -> FileLock:
    lock = FileLock(path, timeout=0.0)
    try:
        lock.acquire()
        lock.release()
    except LockTimeout as error:
        if not wait:
            raise Busy(str(error)) from error
        if not quiet:
            print(f"ultan: waiting for another installation ({error.holder})", file=sys.stderr, flush=True)
    lock.timeout = WAIT_SECONDS if wait else 0.0
    return lock


def _install(root: str, home: Home, environ: dict[str, str], extras: list[str], quiet: bool) -> Runtime:
    from ultan.service.commands import Runner, StepFailed
    from ultan.service.environment import Environment
    from ultan.service.installing import environment
    from ultan.service.progress import Progress

    runtime = folder(home, environ)
    before = find(home, environ)
    if before is not None and newer(before.version, VERSION):
        raise ProvisioningError(
            f"Ultan {before.version} is installed and this is {VERSION}, which can't add to it. Run the same"
            " command from the newer one, or give this one a place of its own with ULTAN_RUNTIME."
        )
    progress = Progress(runtime, quiet)
    _stop_when_told()
    runner = Runner(os.path.join(runtime, "install.log"), environment(environ), progress)
    try:
        progress.phase("looking", "Looking at what is there", silent=True)
        listing = copies.listing(root)
        python = Environment(root, runtime, environ, runner).complete(before, extras)
        progress.phase("code", "Copying the code", silent=True)
        code = copies.copy(root, runtime)
        found = Runtime(VERSION, code, python)
        _publish(runtime, before, found, listing)
        progress.phase("ready", f"Ultan {VERSION} is ready", silent=not progress.said)
        return found
    except (StepFailed, ProvisioningError, OSError, ValueError) as error:
        progress.failed(str(error))
        raise ProvisioningError(str(error)) from error
    except BaseException as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else f"ended by {type(error).__name__}"
        progress.failed(why + "; the next try goes on from there")
        raise


def _stop_when_told() -> None:
    """Let a request to end be an interruption, so that the command that runs is ended too."""
    import signal

    def stop(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


def _publish(runtime: str, before: Runtime | None, found: Runtime, listing: str) -> None:
    """Make `found` the current runtime, then remove what was left behind a day ago."""
    now = time.time()
    if before is not None:
        for path in (before.code, os.path.dirname(os.path.dirname(before.python))):
            copies.touch(path, now)
    names: dict[str, object] = {"version": found.version, "code": found.code, "python": found.python}
    _write(os.path.join(runtime, "seen.json"), dict(names, listing=listing))
    _write(os.path.join(runtime, "current.json"), names)
    used = {os.path.basename(found.code), os.path.basename(os.path.dirname(os.path.dirname(found.python)))}
    copies.collect(runtime, used, now)


def _write(path: str, values: dict[str, object]) -> None:
    write_atomic(path, json.dumps(values, indent=1).encode() + b"\n")
