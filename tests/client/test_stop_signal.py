"""The stop signal in the real client: what reaches the model, and what runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from offline_client import client as offline
from stage import ANSWERS, Stage, wait_for
from ultan.library.journal import Journal
from ultan.library.reconcile import reconcile
from ultan.library.store import Store

PAGES = {
    "global/deploy/ask": ("Tell the crew before a deploy", "^touch advised", "advise", "Bash", "command"),
    "global/deploy/never": ("Never touch the harbour", "^touch harbour", "block", "Bash", "command"),
    "global/tracker/wip": ("No tickets named WIP", "WIP", "block", "mcp__tracker__create", "title"),
}
SERVER = """
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    if "id" not in ask:
        continue
    if ask["method"] == "initialize":
        result = {"protocolVersion": ask["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "tracker", "version": "1"}}
    elif ask["method"] == "tools/list":
        schema = {"type": "object", "properties": {"title": {"type": "string"}}}
        result = {"tools": [{"name": "create", "description": "Create a ticket", "inputSchema": schema}]}
    elif ask["method"] == "tools/call":
        open(sys.argv[1], "a").write(ask["params"]["arguments"]["title"] + "\\n")
        result = {"content": [{"type": "text", "text": "created"}]}
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}), flush=True)
"""


def uses(said: str, name: str, **given: Any) -> dict[str, Any]:
    return {
        "name": said,
        "match": {"last_user": said},
        "reply": {"tool_use": {"name": name, "input": given}},
    }


SCRIPT = {
    "rules": [
        uses("please advise", "Bash", command="touch advised", description="x"),
        uses("advise again", "Bash", command="touch advised-again", description="x"),
        uses("sail in", "Bash", command="cd . && touch harbour", description="x"),
        uses("from below", "Bash", command="touch harbour", description="x"),
        uses("file a ticket", "mcp__tracker__create", title="WIP: sails"),
        uses("file a good one", "mcp__tracker__create", title="Mend the sails"),
        uses(
            "delegate it",
            "Task",
            description="Sail",
            prompt="come in from below",
            subagent_type="general-purpose",
        ),
        *ANSWERS["rules"],
    ]
}


def library(stage: Stage) -> None:
    for id, (title, pattern, severity, tool, field) in PAGES.items():
        path = Path(stage.home.knowledge, id + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        trigger = f"{{tool: {tool}, field: {field}, pattern: '{pattern}'}}"
        header = f"id: {id}\ntitle: {title}\nseverity: {severity}\nblock_triggers: [{trigger}]"
        path.write_text(f"---\n{header}\n---\n\n{title}: the rule of the house.\n", "utf-8")
    reconcile(Store(stage.home), Journal(stage.home))


def arguments(stage: Stage) -> list[str]:
    (stage.folder / "server.py").write_text(SERVER)
    tracker = {"command": sys.executable, "args": [str(stage.folder / "server.py"), str(tickets(stage))]}
    servers = json.dumps({"mcpServers": {"tracker": tracker}})
    return ["--mcp-config", servers, "--allowedTools", "Bash", "Task", "mcp__tracker__create"]


def tickets(stage: Stage) -> Path:
    return stage.folder / "tickets"


@pytest.mark.parametrize("daemon", ["without a daemon", "with a daemon"])
def test_advice_reaches_the_model_and_a_denied_tool_does_not_run(stage: Stage, daemon: str) -> None:
    library(stage)
    if daemon == "with a daemon":
        stage.install_runtime(starts=True)
    with stage.session(SCRIPT, *arguments(stage), ENABLE_TOOL_SEARCH="false") as session:
        if daemon == "with a daemon":
            wait_for(lambda: stage.daemon() is not None, "the daemon")
        session.say("please advise")
        advised = offline.conversation(session.requests[-1])
        session.say("advise again")
        again = offline.conversation(session.requests[-1])
        session.say("sail in")
        denied = offline.conversation(session.requests[-1])
        session.say("file a ticket")
        ticket = offline.conversation(session.requests[-1])
        session.say("file a good one")
    project = stage.client.project
    assert "Tell the crew before a deploy" in advised and (project / "advised").exists()
    assert again.count("(global/deploy/ask)") == 1 and (project / "advised-again").exists()
    assert "Never touch the harbour" in denied and "severity: block" in denied
    assert not (project / "harbour").exists()
    assert "No tickets named WIP" in ticket
    assert tickets(stage).read_text() == "Mend the sails\n"


def test_a_subagent_meets_the_rules_too(stage: Stage) -> None:
    library(stage)
    with stage.session(SCRIPT, *arguments(stage)) as session:
        session.say("delegate it")
        asked = [offline.conversation(request) for request in session.requests]
    assert any("come in from below" in one and "Never touch the harbour" in one for one in asked)
    assert not (stage.client.project / "harbour").exists()


def test_the_oldest_client_knows_the_shapes(oldest: str, stages: Any) -> None:
    stage = stages(oldest)
    library(stage)
    with stage.session(SCRIPT, "--allowedTools", "Bash") as session:
        session.say("please advise")
        advised = offline.conversation(session.requests[-1])
        session.say("sail in")
        denied = offline.conversation(session.requests[-1])
    assert "Tell the crew before a deploy" in advised and (stage.client.project / "advised").exists()
    assert "Never touch the harbour" in denied and not (stage.client.project / "harbour").exists()
