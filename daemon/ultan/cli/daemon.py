"""`ultan daemon`: the background process, started, stopped or asked by hand."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ultan.cli import outcome
from ultan.cli.output import emit, example, hint, json_option, say
from ultan.cli.place import home
from ultan.wire import client, runtime, settings
from ultan.wire.failures import UltanError
from ultan.wire.home import Home

if TYPE_CHECKING:
    from ultan.service.condition import Condition

_LOOK_SECONDS = 0.1
STOP_SECONDS = 15.0


class NotStarted(UltanError):
    """The daemon could not be started, or was not ready in time."""


class NotStopped(UltanError):
    """The daemon did not end."""


@click.group(
    epilog=example("ultan daemon start", "ultan daemon status --json"),
    short_help="Start, stop or ask the background process.",
)
def daemon() -> None:
    """Start, stop or ask the background process.

    Hooks start it by themselves when it is needed, and it ends when nobody needed it for hours.
    """


@daemon.command(epilog=example("ultan daemon run"))
@json_option
def run(as_json: bool) -> int:
    """Run it here, in the foreground, until it is stopped."""
    # The installed copy comes here without this command line: its start must not wait for it.
    found = runtime.find(home(), os.environ)
    if found is None:
        raise not_installed(home())
    os.environ["AGENT_MEM_HOME"] = home().root
    os.execv(found.python, [found.python, "-I", found.boot, "daemon", "run"])


@daemon.command(epilog=example("ultan daemon start"))
@click.option("--wait", default=180.0, show_default=True, help="How many seconds it may take to be ready.")
@json_option
def start(wait: float, as_json: bool) -> None:
    """Start it and wait until it is ready to answer."""
    place = home()
    found = started(place, dict(os.environ), wait, lambda words: None if as_json else hint(words))
    if as_json:
        emit({"ok": True, **found.as_json()})
    else:
        say(f"The daemon is ready (process {found.pid}), on {found.socket}.")


@daemon.command(epilog=example("ultan daemon stop"))
@json_option
def stop(as_json: bool) -> None:
    """Ask it to save everything and end, and wait until it has."""
    was = stopped(home())
    if as_json:
        emit({"ok": True, "was": was})
    else:
        say("The daemon has ended." if was != "down" else "No daemon was running.")


@daemon.command(epilog=example("ultan daemon status"))
@json_option
def status(as_json: bool) -> int:
    """Say how it is; the exit code is 1 unless it is ready."""
    from ultan.service.checks.daemon import judged
    from ultan.service.condition import look

    place, now = home(), time.time()
    found = look(place, now)
    if as_json:
        emit({"ok": found.state == "ready", **found.as_json()})
    else:
        finding = judged(found, place, now)
        say(f"{found.state}: {finding.message}" + (f" -> {finding.fix}" if finding.fix else ""))
    return outcome.FINE if found.state == "ready" else outcome.REFUSED


def started(home: Home, environ: dict[str, str], seconds: float, tell: Callable[[str], None]) -> Condition:
    """Start the daemon unless it lives, and wait until it is ready. Raises NotStarted."""
    from ultan.service.condition import log_tail, look

    if runtime.find(home, environ) is None and not runtime.daemon_holds_lock(home):
        raise not_installed(home)
    if look(home, time.time()).state == "failed":
        # Hooks wait a minute after a failed start; who asks for one by hand has put something right.
        Path(home.daemon_pid).unlink(missing_ok=True)
    begun, told = time.monotonic(), False
    while True:
        found = look(home, time.time())
        waited = time.monotonic() - begun
        if found.state == "ready":
            return found
        if found.state == "failed" and waited > runtime.START_SECONDS:
            why = found.reason or " / ".join(log_tail(home))
            raise NotStarted(
                f"The daemon could not start: {why}", "Nothing was lost.", f"See {home.daemon_log}."
            )
        if found.state != "starting":
            runtime.start_daemon(home, environ, time.time(), settings.load(home).auth)
        if waited > seconds:
            raise NotStarted(
                f"The daemon was not ready in {seconds:g} s (it is {found.state}).",
                "It goes on by itself.",
                f"Look again with `ultan daemon status`; what it does is in {home.daemon_log}.",
            )
        if not told and waited > 0.5:
            tell("Starting the daemon: loading the model and the library ...")
            told = True
        time.sleep(_LOOK_SECONDS)


def stopped(home: Home, seconds: float = STOP_SECONDS) -> str:
    """End the daemon in good order and wait until its lock is free; returns the state it was in.

    Raises NotStopped where it does not end: it is never killed from here, it may be writing.
    """
    from ultan.service.condition import look

    was = look(home, time.time())
    if not runtime.daemon_holds_lock(home):
        return "down"
    end = time.monotonic() + seconds
    asked = False
    while runtime.daemon_holds_lock(home):
        if not asked:
            try:
                asked = client.request(home, {"op": "shutdown"}, 2.0).get("ok") is True
            except OSError:
                pass
        if time.monotonic() > end:
            pid = f" (process {was.pid})" if was.pid else ""
            raise NotStopped(
                f"The daemon{pid} did not end in {seconds:g} s; it is {was.state}.",
                "It was not killed: it may be writing.",
                f"If it stays so: kill {was.pid or 'its process'}. What it does is in {home.daemon_log}.",
            )
        time.sleep(_LOOK_SECONDS)
    return was.state


def not_installed(home: Home) -> NotStarted:
    return NotStarted(
        f"No installed copy of Ultan was found in {runtime.folder(home, os.environ)}.",
        "Hooks go on recording, and answer by words alone.",
        "Install it with `./tools/ultan setup` in the checkout or the plugin's folder.",
    )
