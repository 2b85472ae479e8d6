"""How the daemon of a home is, from outside: asked on its socket, else told by its lock and its words."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ultan.service.checks.finding import timestamp
from ultan.wire import client, runtime
from ultan.wire.files import read_limited
from ultan.wire.home import Home

_LIMIT = 64 * 1024
ASK_SECONDS = 2.0
# A start that takes longer than this is stuck; the first one may have to embed a whole library.
START_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Condition:
    """state: ready, starting, unresponsive, down or failed. `since`: UTC timestamp of that, "" if unknown.

    `answer` is what the daemon itself says, empty where it says nothing; `reason` why it failed or is silent.
    """

    state: str
    pid: int | None = None
    version: str = ""
    since: str = ""
    socket: str = ""
    reason: str = ""
    answer: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def look(home: Home, now: float, seconds: float = ASK_SECONDS) -> Condition:
    """How the daemon is now; waits at most `seconds` for its answer. Never raises."""
    words = last_words(home)
    known = Condition(
        "down",
        pid=words["pid"] if isinstance(words.get("pid"), int) else None,
        version=str(words.get("version") or ""),
        since=str(words.get("since") or ""),
        socket=home.socket,
        reason=str(words.get("error") or ""),
    )
    try:
        answer = client.request(home, {"op": "status"}, seconds)
    except client.Unreachable:
        return replace(known, state=_silent(home, words, now))
    except OSError as error:
        return replace(known, state="unresponsive", reason=str(error))
    if answer.get("ok") is not True:
        refusal = answer.get("error")
        if isinstance(refusal, dict) and refusal.get("type") == "warming":
            return replace(known, state="starting")
        return replace(known, state="unresponsive", reason=f"it refuses to answer: {refusal}", answer=answer)
    state = {"starting": "starting", "warming": "starting", "failed": "failed"}.get(
        str(answer.get("state")), "ready"
    )
    reason = str(answer.get("error") or known.reason)  # one whose start failed answers until it has ended
    version = str(answer.get("version") or known.version)
    return replace(known, state=state, version=version, reason=reason, answer=answer)


def last_words(home: Home) -> dict[str, Any]:
    """What the last daemon wrote about itself in daemon.pid; empty where there is nothing or nonsense."""
    try:
        values = json.loads(read_limited(home.daemon_pid, _LIMIT))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _silent(home: Home, words: dict[str, Any], now: float) -> str:
    """What a daemon is that does not listen on its socket."""
    if runtime.daemon_holds_lock(home):
        begun = timestamp(str(words.get("since") or ""))
        fresh = begun is None or now - begun < START_SECONDS
        return "starting" if words.get("state") in ("starting", None) and fresh else "unresponsive"
    return "failed" if words.get("state") == "failed" else "down"


def was_killed(condition: Condition, home: Home) -> bool:
    """Whether a daemon that is down did not say good-bye: it was killed or crashed."""
    return condition.state == "down" and last_words(home).get("state") in ("starting", "ready")


def log_tail(home: Home, lines: int = 3) -> list[str]:
    """The last lines of the daemon's log."""
    try:
        with Path(home.daemon_log).open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - 4096))
            text = log.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()][-lines:]
