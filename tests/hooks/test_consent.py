"""What the person switched off, ignored or hid is not heard; an uncertain configuration hears nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support import (
    SCRIPTS,
    Peer,
    StubRuntime,
    answering,
    entry,
    event,
    everything_below,
    lines,
    prompt,
    run_hook,
)
from ultan.wire.home import Home


def configure(home: Home, text: str = "# mine\n", **derived: Any) -> None:
    Path(home.config).write_text(text)
    Path(home.hook_config).write_text(json.dumps({"v": 1, "config_text": text, **derived}))


def run_all(cwd: str, **environ: str) -> None:
    """Every hook once, in this folder, with a daemon that would have something to show."""
    for name in SCRIPTS:
        given = prompt("deploy on Friday?", cwd=cwd) if name == "UserPromptSubmit" else event(name, cwd=cwd)
        ran = run_hook(given, **environ)
        assert (ran.code, ran.out, ran.err) == (0, b"", b""), name


@pytest.mark.parametrize(
    "settings",
    [
        {"daemon": "off"},
        {"ignored_projects": ["/home/dev/shop"]},
        {"ignored_projects": ["shop"]},
        {"ignored_projects": ["**/dev/**"]},
        {"opt_in": True},
        {"opt_in": True, "opt_in_projects": ["/home/dev/other"]},
    ],
    ids=str,
)
def test_where_it_may_not_listen_nothing_is_recorded_shown_or_started(
    home: Home, tmp_path: Path, settings: dict[str, Any]
) -> None:
    runtime = StubRuntime(tmp_path / "runtime")
    configure(home, **settings)
    os.mkdir(home.knowledge)
    before = sorted(os.listdir(home.root))
    with Peer(home, answering({"ok": True, "entries": [entry()]})) as daemon:
        run_all("/home/dev/shop", ULTAN_RUNTIME=str(runtime.folder))
        assert daemon.asked == []
    assert sorted(os.listdir(home.root)) == before


@pytest.mark.parametrize(
    "settings",
    [{"ignored_projects": ["/home/dev/other"]}, {"opt_in": True, "opt_in_projects": ["/home/dev/shop"]}],
    ids=str,
)
def test_elsewhere_it_listens(home: Home, settings: dict[str, Any]) -> None:
    configure(home, **settings)
    run_all("/home/dev/shop")
    assert len(lines(home.events)) == len(SCRIPTS) - 1  # what comes before a tool is not recorded


def test_a_configuration_that_was_not_derived_again_hears_nothing_and_complains_once(
    home: Home, tmp_path: Path
) -> None:
    runtime = StubRuntime(tmp_path / "runtime")
    configure(home)
    Path(home.config).write_text('ignored_projects = ["/home/dev/shop"]\n')
    run_all("/home/dev/shop", ULTAN_RUNTIME=str(runtime.folder))
    assert not os.path.exists(home.events)
    assert [line["kind"] for line in lines(home.hook_errors)] == ["config"]
    assert runtime.starts(1)  # the daemon derives it


def test_a_tool_that_touches_a_hidden_path_is_recorded_without_its_words(home: Home) -> None:
    configure(home, never_index_paths=["**/secrets/**", "*.key"])
    canary = "CANARY-77"
    read = {"tool_name": "Read", "tool_input": {"file_path": "/srv/secrets/a.txt"}, "tool_response": canary}
    run_hook(event("PostToolUse", **read))
    run_hook(
        event("PostToolUse", tool_name="Bash", tool_input={"command": "cat a.key"}, tool_response=canary)
    )
    run_hook(event("PostToolUseFailure", tool_name="Bash", tool_input={"command": "cat a.key"}, error=canary))
    run_hook(event("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="kept"))
    assert [line["tool_name"] for line in lines(home.events)] == ["Read", "Bash", "Bash", "Bash"]
    assert canary.encode() not in everything_below(home.root)
    assert lines(home.events)[-1]["tool_response"] == "kept"
