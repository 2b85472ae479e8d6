from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, StubRuntime, event, lines
from ultan.wire import capture, hook, runtime
from ultan.wire.home import Home
from ultan.wire.session import SessionMemory

NOW = 1_800_000_000.0


@pytest.fixture
def detached(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The last word of each command that would have been started."""
    commands: list[str] = []
    monkeypatch.setattr(runtime, "detach", lambda argv, env, log: commands.append(argv[-1]))
    return commands


def run(given: dict[str, Any], handle: Any, plugin: Path = ROOT) -> None:
    raw = json.dumps(given).encode()
    hook.run(given["hook_event_name"], handle, raw, dict(os.environ), NOW, str(plugin), lambda out: None)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    (tmp_path / "plugin" / "tools").mkdir(parents=True)
    (tmp_path / "plugin" / "tools" / "ultan").touch()
    return tmp_path / "plugin"


@pytest.mark.parametrize(
    ("installed", "started"),
    [(None, ["--background"]), ("0.0.1", ["--background", "run"]), ("99.0.0", ["run"])],
)
def test_a_session_wakes_what_is_installed_and_installs_what_is_missing_or_older(
    home: Home, plugin: Path, detached: list[str], installed: str | None, started: list[str]
) -> None:
    if installed:
        StubRuntime(Path(home.runtime), installed)
    run(event("SessionStart", source="startup"), capture.start, plugin)
    assert detached == started
    assert len(lines(home.events)) == 1


def test_only_a_lost_context_forgets_what_was_shown(home: Home, detached: list[str]) -> None:
    memory = SessionMemory(home, "s-1")
    memory.add(NOW, surfaced=["a"])
    for source in ("startup", "resume", "fork", "unknown", ""):
        run(event("SessionStart", source=source), capture.start)
        memory.read()
        assert memory.shown == {"a"}
    for source in ("compact", "clear"):
        run(event("SessionStart", source=source), capture.start)
        memory.read()
        assert memory.shown == set()
        memory.add(NOW, surfaced=["a"])


def test_a_summary_is_kept_where_no_turn_was_private(home: Home) -> None:
    run(event("PostCompact", compact_summary="S"), capture.compact)
    run(event("SubagentStop", agent_type="", last_assistant_message="S"), capture.listen)
    SessionMemory(home, "s-1").add(NOW, private="p-0")
    SessionMemory(home, "s-1").add(NOW, private=None)
    run(event("PostCompact", compact_summary="S", trigger="auto"), capture.compact)
    run(event("SubagentStop", agent_type="", last_assistant_message="S"), capture.listen)
    run(event("SubagentStop", agent_type="general-purpose", last_assistant_message="S"), capture.listen)
    texts = [line.get("compact_summary") or line.get("last_assistant_message") for line in lines(home.events)]
    assert texts == ["S", "S", None, None, "S"]


def test_the_end_of_a_session_is_recorded_also_in_a_private_turn(home: Home) -> None:
    SessionMemory(home, "s-1").add(NOW, private="p-1")
    run(event("SessionEnd", reason="other", prompt_id="p-1"), capture.end)
    assert [line["reason"] for line in lines(home.events)] == ["other"]
