"""What a pattern would have done to the calls that were recorded."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from glob import escape, glob
from pathlib import Path
from typing import Any

from ultan.wire.home import Home
from ultan.wire.triggers import judge

_TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure")


@dataclass(slots=True)
class Outcome:
    """calls: how many calls of tools were recorded; cut: of these, how many are not whole, so that only what
    was kept of them was looked at; fired: each call that would have been met: {"ts", "session_id", "cwd",
    "tool", "seen", "doubt"}, oldest first.
    """

    calls: int = 0
    cut: int = 0
    fired: list[dict[str, str]] = field(default_factory=list)

    @property
    def often(self) -> list[tuple[str, int]]:
        """What would have been met, most often first."""
        return Counter(one["seen"] for one in self.fired).most_common()


def backtest(home: Home, entry: Mapping[str, Any], since: str = "") -> Outcome:
    """Hold the patterns of an entry (a row of triggers.json) against every recorded call since a date, of any
    project.
    """
    found = Outcome()
    for event in calls(home):
        if since and str(event.get("ts", "")) < since:
            continue
        found.calls += 1
        found.cut += bool(event.get("truncated"))
        tool, given = event.get("tool_name"), event.get("tool_input")
        if not isinstance(tool, str) or not isinstance(given, dict):
            continue
        for hit in judge(tool, given, [dict(entry)]).hits:
            where = {name: str(event.get(name, "")) for name in ("ts", "session_id", "cwd")}
            found.fired.append({**where, "tool": tool, "seen": hit.seen, "doubt": hit.doubt})
    return found


def calls(home: Home) -> Iterator[dict[str, Any]]:
    """The recorded calls of tools, oldest first; what is no line of an event is left out."""
    older = sorted(glob(escape(home.events) + ".*"), key=_number, reverse=True)
    for path in [*(path for path in older if _number(path)), home.events]:
        try:
            raw = Path(path).read_bytes()
        except OSError:
            continue
        for line in raw.splitlines():
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict) and event.get("event") in _TOOL_EVENTS:
                yield event


def _number(path: str) -> int:
    ending = path.rpartition(".")[2]
    return int(ending) if ending.isdigit() else 0
