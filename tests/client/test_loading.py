"""The plugin as the client finds it: by its folder, and installed from the repository as a marketplace."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from stage import FRIDAY, ROOT, Stage, blocks, wait_for

SHIPPED = (".claude-plugin", "hooks", "commands", "skills", "daemon/ultan/wire")
LAUNCHER = """#!/bin/sh
# Stands in for the installer: says how it was called, and takes its time.
mkdir -p "$AGENT_MEM_HOME/runtime"
echo "$*" >> "$AGENT_MEM_HOME/runtime/calls"
echo $$ > "$AGENT_MEM_HOME/runtime/pid"
touch "$AGENT_MEM_HOME/runtime/state.json"
env > "$AGENT_MEM_HOME/runtime/environment"
exec sleep 60
"""


def ship(target: Path) -> Path:
    """A copy of the plugin whose installer is a stand-in."""
    for part in SHIPPED:
        shutil.copytree(ROOT / part, target / part, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "daemon" / "ultan" / "__init__.py").touch()
    (target / "tools").mkdir()
    (target / "tools" / "ultan").write_text(LAUNCHER)
    (target / "tools" / "ultan").chmod(0o755)
    return target


@pytest.mark.parametrize("which", ["program", "oldest"])
@pytest.mark.parametrize("part", [".claude-plugin/plugin.json", ".claude-plugin/marketplace.json", "."])
def test_the_client_finds_nothing_to_complain_about(
    request: pytest.FixtureRequest, stages: Callable[[str], Stage], which: str, part: str
) -> None:
    client = stages(request.getfixturevalue(which)).client
    done = client.run(["plugin", "validate", "--strict", str(ROOT / part)], {})
    assert done.status == 0, done.output


@pytest.mark.parametrize("which", ["program", "oldest"])
def test_the_plugin_works_when_installed_from_a_local_marketplace(
    request: pytest.FixtureRequest, stages: Callable[[str], Stage], tmp_path: Path, which: str
) -> None:
    stage = stages(request.getfixturevalue(which))
    source = ship(tmp_path / "a market's (place)" / "ultan")
    for words in (["marketplace", "add", str(source)], ["install", "ultan@ultan"]):
        done = stage.client.run(["plugin", *words], {})
        assert done.status == 0, done.output + done.errors
    stage.arguments = []
    stage.write(FRIDAY)
    with stage.session() as session:
        session.say("shall we deploy to production this Friday?")
        assert blocks(session.requests[-1]) == 1
        session.say("/ultan installed and well")
    assert stage.notes() == ["installed and well\n"]
    assert stage.events()[0]["event"] == "SessionStart"


def test_a_missing_runtime_is_installed_in_the_background_while_prompts_are_answered(
    stage: Stage, tmp_path: Path
) -> None:
    stage.arguments = ["--plugin-dir", str(ship(tmp_path / "plugin"))]
    stage.write(FRIDAY)
    installed = Path(stage.home.runtime)
    with stage.session(None, ULTAN_RUNTIME="", ANTHROPIC_AUTH_TOKEN="not-for-a-daemon") as session:
        session.say("shall we deploy to production this Friday?")
        assert blocks(session.requests[-1]) == 1
        session.say("and a second prompt while the installer is busy")
    wait_for((installed / "environment").exists, "the installer's start")
    os.kill(int((installed / "pid").read_text()), signal.SIGKILL)  # it was still at work; the session is not
    assert (installed / "calls").read_text() == "setup --background\n"
    environment = (installed / "environment").read_text()
    assert "not-for-a-daemon" not in environment
    assert not [line for line in environment.splitlines() if line.startswith("CLAUDE")]


def test_a_plugin_folder_that_is_replaced_under_a_session_costs_no_turn(stage: Stage, tmp_path: Path) -> None:
    plugin = ship(tmp_path / "plugin")
    stage.arguments = ["--plugin-dir", str(plugin)]
    with stage.session() as session:
        session.say("before")
        (plugin / "hooks" / "run").unlink()
        assert session.say("while half of it is gone")["subtype"] == "success"
        shutil.rmtree(plugin)
        assert session.say("while it is gone")["subtype"] == "success"
        ship(plugin)
        session.say("after")
    prompts = [event["prompt"] for event in stage.events() if event["event"] == "UserPromptSubmit"]
    assert prompts == ["before", "after"]
    assert json.loads((plugin / ".claude-plugin" / "plugin.json").read_text())["name"] == "ultan"
