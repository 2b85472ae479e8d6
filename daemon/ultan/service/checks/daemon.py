"""Whether the background process runs and is of this version."""

from __future__ import annotations

from collections.abc import Iterator

from ultan.service.checks.finding import Finding, ago, timestamp
from ultan.service.condition import Condition, log_tail, look, was_killed
from ultan.wire import settings
from ultan.wire.home import Home
from ultan.wire.version import VERSION

_RESTART = "ultan daemon stop; ultan daemon start"


def check(home: Home, now: float) -> Iterator[Finding]:
    """One finding for the daemon's state, more for what is odd about it."""
    condition = look(home, now)
    yield judged(condition, home, now)
    if condition.state == "ready" and condition.version and condition.version != VERSION:
        message = f"the daemon is version {condition.version}, this is {VERSION}"
        yield Finding("daemon", "warning", message, _RESTART)
    if not home.socket_folder_is_safe() and condition.state != "down":
        message = f"the folder of the socket {home.socket} is not private to you; nobody is asked there"
        yield Finding("daemon", "error", message, "remove that folder, then: ultan daemon start")


def judged(condition: Condition, home: Home, now: float) -> Finding:
    """What is to be said of a daemon in this state."""
    begun = timestamp(condition.since)
    age = ago(now - begun) if begun is not None and now >= begun else ""
    pid = f" (process {condition.pid})" if condition.pid else ""
    if condition.state == "ready":
        return Finding("daemon", "ok", f"ready{age and ' for ' + age}{pid}, on {condition.socket}")
    if condition.state == "starting":
        begun_ago = age and f", begun {age} ago"
        message = f"starting{begun_ago}{pid}; until it is ready, prompts are answered by their words alone"
        return Finding("daemon", "note", message, "wait a little")
    if condition.state == "unresponsive":
        why = condition.reason or "nobody listens"
        message = f"it holds its lock{pid} but does not answer on {condition.socket}: {why}"
        return Finding("daemon", "error", message, _RESTART)
    if condition.state == "failed":
        why = condition.reason or " / ".join(log_tail(home)) or "the log is empty"
        message = f"its start failed{age and f' {age} ago'}: {why}"
        return Finding("daemon", "error", message, f"see {home.daemon_log}")
    if not settings.load(home).daemon:
        return Finding("daemon", "note", "not running: Ultan is off", "ultan on")
    if was_killed(condition, home):
        message = "not running: the last one was killed or crashed; the next prompt starts another"
        return Finding("daemon", "note", message, f"if this comes back: {home.daemon_log}")
    return Finding("daemon", "note", "not running; the next prompt starts it", "or now: ultan daemon start")
