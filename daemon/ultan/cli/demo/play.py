"""Playing the session: one hook after the other, each judged."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ultan.cli.demo.script import CONFIDENCE, SECRET, SESSION, START, Step, faults, payload
from ultan.cli.demo.stage import Stage

SESSION_ID = "de300000-0000-4000-8000-000000000000"
PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Played:
    """One step as it went. `disk`: what of it reached the disk, where that is shown; `waited_s`: until the
    library's change was searchable."""

    step: Step
    seen: str
    ms: float
    faults: list[str]
    disk: str = ""
    waited_s: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.faults

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.step.title,
            "event": self.step.event,
            "prompt": self.step.prompt.replace(SECRET, "[a made-up secret]"),
            "seen": self.seen,
            "ms": round(self.ms, 1),
            "ok": self.ok,
            "faults": self.faults,
            "disk": self.disk,
            "waited_s": round(self.waited_s, 2),
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """What is left on the disk, and how long hooks took (medians in ms)."""

    events: int
    secret_on_disk: bool
    private_on_disk: bool
    prompt_ms: float
    append_ms: float
    failed: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.failed and self.events > 0 and not self.secret_on_disk and not self.private_on_disk

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "prompt_ms": round(self.prompt_ms, 1), "append_ms": round(self.append_ms, 1)}


def begin(stage: Stage) -> Played:
    """The start of the session, which starts the daemon too."""
    return _one(stage, START, 0)


def session(stage: Stage) -> Iterator[Played]:
    """The rest of the session, a step at a time."""
    turn = 0
    for step in SESSION:
        turn += step.event in ("UserPromptSubmit", "UserPromptExpansion")
        yield _one(stage, step, turn)


def _one(stage: Stage, step: Step, turn: int) -> Played:
    waited = _wait(stage, step.waits_for) if step.waits_for else 0.0
    heard = stage.hook(step.script, payload(step, str(stage.project), turn, SESSION_ID))
    wrong = faults(step, heard.seen) + ([heard.fault] if heard.fault else [])
    disk = ""
    if step.shows_disk:
        events = [event for event in stage.events() if event.get("event") == step.event]
        disk = str(events[-1].get("prompt") or "") if events else ""
        if not disk:
            wrong.append("the prompt was not recorded")
    return Played(step, heard.seen, heard.ms, wrong, disk, waited)


def _wait(stage: Stage, text: str) -> float:
    """Seconds until the daemon finds a note that was just written, at most PATIENCE."""
    begun = time.monotonic()
    while not stage.finds(text) and time.monotonic() - begun < PATIENCE:
        time.sleep(0.02)
    return time.monotonic() - begun


def summary(stage: Stage, played: list[Played]) -> Summary:
    """What the whole session left behind."""
    asked = [one.ms for one in played if one.step.event == "UserPromptSubmit"]
    appended = [one.ms for one in played if one.step.event in ("PostToolUse", "Stop", "SessionEnd")]
    return Summary(
        events=len(stage.events()),
        secret_on_disk=stage.holds(SECRET),
        private_on_disk=stage.holds(CONFIDENCE),
        prompt_ms=statistics.median(asked) if asked else 0.0,
        append_ms=statistics.median(appended) if appended else 0.0,
        failed=[one.step.title for one in played if not one.ok],
    )
