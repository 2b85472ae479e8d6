"""The files by which the client knows the plugin."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ultan.wire.version import VERSION

# Every event that the oldest supported client knows and Ultan listens to. A name that a client does not
# know makes it drop all hooks of the plugin, so this list only grows together with the oldest client.
EVENTS = {
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
}
HANDLER_FIELDS = {"type", "command", "args", "timeout"}


@pytest.fixture
def groups(repository: Path) -> dict[str, list[dict[str, Any]]]:
    """The hooks by event, as hooks.json has them."""
    hooks: dict[str, list[dict[str, Any]]] = json.loads((repository / "hooks" / "hooks.json").read_text())[
        "hooks"
    ]
    return hooks


def handlers(groups: dict[str, list[dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (event, handler) for event, found in groups.items() for group in found for handler in group["hooks"]
    ]


def test_only_events_that_the_oldest_client_knows_are_named(groups: dict[str, list[dict[str, Any]]]) -> None:
    assert set(groups) == EVENTS


def test_each_event_runs_its_own_script_and_no_script_is_left_over(
    groups: dict[str, list[dict[str, Any]]], repository: Path
) -> None:
    named = [handler["args"][1] for _, handler in handlers(groups)]
    assert sorted(named) == sorted(path.stem for path in (repository / "hooks").glob("*.py"))
    for event, handler in handlers(groups):
        assert handler["args"][1].replace("_", "") == event.lower()


def test_no_shell_ever_splits_a_path(groups: dict[str, list[dict[str, Any]]]) -> None:
    for _, handler in handlers(groups):
        assert set(handler) == HANDLER_FIELDS
        assert handler["type"] == "command"
        assert handler["command"] == "/bin/sh"
        assert handler["args"][0] == "${CLAUDE_PLUGIN_ROOT}/hooks/run"


def test_no_hook_may_hold_the_client_for_more_than_five_seconds(
    groups: dict[str, list[dict[str, Any]]],
) -> None:
    assert all(0 < handler["timeout"] <= 5 for _, handler in handlers(groups))


def test_every_tool_and_every_kind_of_start_is_heard(groups: dict[str, list[dict[str, Any]]]) -> None:
    assert all(list(group) == ["hooks"] for found in groups.values() for group in found)


def test_the_manifests_agree_with_the_package(repository: Path) -> None:
    plugin = json.loads((repository / ".claude-plugin" / "plugin.json").read_text())
    market = json.loads((repository / ".claude-plugin" / "marketplace.json").read_text())
    assert plugin["name"] == "ultan"
    assert plugin["version"] == VERSION
    assert [(entry["name"], entry["source"]) for entry in market["plugins"]] == [("ultan", "./")]


def test_the_runner_is_a_shell_script_that_parses_and_may_be_run(repository: Path) -> None:
    runner = repository / "hooks" / "run"
    assert runner.stat().st_mode & 0o111
    assert subprocess.run(["/bin/sh", "-n", str(runner)], capture_output=True).returncode == 0


def test_no_shipped_text_has_a_carriage_return(repository: Path) -> None:
    folders = (".claude-plugin", "hooks", "commands", "skills", "daemon", "tools")
    shipped = [
        path
        for folder in folders
        for path in (repository / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in {".pyc", ".bin", ".png"}
    ]
    assert [path for path in shipped if b"\r" in path.read_bytes()] == []
    assert "eol=lf" in (repository / ".gitattributes").read_text()
