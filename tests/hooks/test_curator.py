"""Ultan never listens to itself."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support import CASES, SCRIPTS, Peer, StubRuntime, answering, entry, everything_below, prompt, run_hook
from ultan.wire.home import Home

LINES = (CASES / "curator-self-recursion" / "payloads.jsonl").read_text("utf-8")
GUARDS = [{"ULTAN_CURATOR": "1"}, {"CLAUDE_INVOKED_BY": "ultan"}]


@pytest.mark.parametrize("guard", GUARDS, ids=["own", "client"])
def test_in_a_curator_session_no_hook_does_anything(
    home: Home, tmp_path: Path, guard: dict[str, str]
) -> None:
    runtime = StubRuntime(tmp_path / "runtime")
    os.mkdir(home.knowledge)
    Path(home.nudges).write_text("- a nudge\n")
    before = everything_below(home.root)
    payloads = [json.loads(line) for line in LINES.replace("@@AGENT_MEM_HOME@@", home.root).splitlines()]
    payloads += [
        prompt("shall we deploy this Friday?"),
        prompt("#private x"),
        prompt("x", hook_event_name="Stop"),
    ]
    with Peer(home, answering({"ok": True, "entries": [entry()]})) as daemon:
        sock = os.path.basename(home.socket).encode()
        for given in payloads:
            for name in SCRIPTS:
                if given["hook_event_name"] in (name, "PreToolUse"):
                    ran = run_hook(given, event=name, ULTAN_RUNTIME=str(runtime.folder), **guard)
                    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
        run_hook(b"junk", event="Stop", **guard)
        assert daemon.asked == []
        after = everything_below(home.root).replace(b"\n" + sock, b"").replace(sock + b"\n", b"")
    assert sorted(after.split(b"\n")) == sorted(before.split(b"\n"))


def test_without_the_guard_a_session_inside_the_home_is_not_heard_either(home: Home, tmp_path: Path) -> None:
    runtime = StubRuntime(tmp_path / "runtime")
    Path(home.nudges).write_text("- a nudge\n")
    (tmp_path / "door").symlink_to(home.root)
    before = everything_below(home.root)
    for root in (home.root, str(tmp_path / "door")):
        for line in LINES.replace("@@AGENT_MEM_HOME@@", root).splitlines():
            given = json.loads(line)
            name = given["hook_event_name"]
            if name in SCRIPTS and root in line:
                ran = run_hook(given, ULTAN_RUNTIME=str(runtime.folder))
                assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert everything_below(home.root) == before
