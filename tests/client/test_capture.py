"""What the hooks record of a session in the real client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from stage import ANSWERS, FRIDAY, Stage

SECRET = "ghp_" + "zY9xW7vU5tS3rQ1pN9mL7kJ5hG3fD1sA9qW7"
HIDDEN = "marzipan-canary"
DELEGATED = {
    "description": "Count beans",
    "prompt": "count the inner beans",
    "subagent_type": "general-purpose",
}
SCRIPT = {
    "rules": [
        {
            "name": "tools",
            "match": {"last_user": "look around"},
            "reply": {
                "tool_use": [
                    {"name": "Bash", "input": {"command": "echo heard-output", "description": "Say it"}},
                    {"name": "Read", "input": {"file_path": "/no/such/file"}},
                ]
            },
        },
        {
            "name": "hidden tool",
            "match": {"last_user": "#private"},
            "reply": {
                "tool_use": {"name": "Bash", "input": {"command": f"echo {HIDDEN}-2", "description": "x"}}
            },
        },
        {
            "name": "delegates",
            "match": {"last_user": "delegate it"},
            "reply": {"tool_use": {"name": "Task", "input": DELEGATED}},
        },
        {
            "name": "inside",
            "match": {"last_user": "count the inner beans"},
            "reply": {
                "tool_use": {"name": "Bash", "input": {"command": "echo inner", "description": "Count"}}
            },
        },
        *ANSWERS["rules"],
    ]
}
EVERY_EVENT = {
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
}


@dataclass
class Heard:
    """One session with everything in it, and what the home holds afterwards."""

    events: list[dict[str, Any]]
    kept: str

    def of(self, name: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == name]


@pytest.fixture(scope="module", params=["newest", "oldest"])
def heard(request: pytest.FixtureRequest, stages: Callable[[str], Stage]) -> Heard:
    stage = stages(request.getfixturevalue("program" if request.param == "newest" else "oldest"))
    stage.write(FRIDAY)
    with stage.session(SCRIPT, "--allowedTools", "Bash", "Read") as session:
        session.say("look around")
        session.say("may I deploy on a Friday?")
        session.say(f"the token {SECRET} must not be kept")
        session.say(f"#private the {HIDDEN} word")
        session.say(f"an open word and <private>the {HIDDEN} again</private> and an end")
        session.say("delegate it")
        session.say("/ultan keep this")
        session.say("/compact")
        rules = {request["rule"] for request in session.requests}
    assert rules >= {"tools", "hidden tool", "delegates", "inside"}
    return Heard(stage.events(), stage.kept())


def test_every_kind_of_event_is_recorded(heard: Heard) -> None:
    assert {event["event"] for event in heard.events} == EVERY_EVENT


def test_every_event_says_whose_it_is(heard: Heard) -> None:
    for event in heard.events:
        assert event["v"] == 1
        assert event["session_id"] and event["cwd"] and event["transcript_path"] and event["ts"].endswith("Z")
        if event["event"] != "SessionStart":
            assert event["prompt_id"]
    assert len({event["session_id"] for event in heard.events}) == 1
    tools = heard.of("PostToolUse") + heard.of("PostToolUseFailure")
    assert len({event["tool_use_id"] for event in tools}) == len(tools) == 4


def test_what_a_subagent_does_is_not_mixed_up_with_the_session(heard: Heard) -> None:
    (inner,) = [event for event in heard.of("PostToolUse") if "echo inner" in str(event["tool_input"])]
    (outer,) = [event for event in heard.of("PostToolUse") if "heard-output" in str(event["tool_response"])]
    assert "agent_id" not in outer
    assert inner["agent_id"] in [event.get("agent_id") for event in heard.of("SubagentStop")]


def test_prompts_tools_and_answers_are_kept(heard: Heard) -> None:
    assert [event.get("prompt") for event in heard.of("UserPromptSubmit")][:2] == [
        "look around",
        "may I deploy on a Friday?",
    ]
    assert heard.of("PostToolUse")[0]["tool_name"] == "Bash"
    assert "heard-output" in str(heard.of("PostToolUse")[0]["tool_response"])
    assert heard.of("PostToolUseFailure")[0]["error"]
    assert all(event["last_assistant_message"].startswith("Answer ") for event in heard.of("Stop"))


def test_a_command_is_recorded_as_a_command(heard: Heard) -> None:
    (typed,) = [event for event in heard.of("UserPromptSubmit") if event.get("command")]
    assert (typed["command"], typed["prompt"]) == ("ultan", "/ultan keep this")
    assert heard.of("UserPromptExpansion")[-1]["command_args"] == "keep this"


def test_the_block_that_was_shown_is_not_heard_back(heard: Heard) -> None:
    assert not any("<ultan-notes>" in str(event) for event in heard.events)


def test_no_secret_reaches_the_disk(heard: Heard) -> None:
    assert SECRET not in heard.kept
    assert "[redacted:" in heard.kept


def test_private_words_leave_no_trace(heard: Heard) -> None:
    assert HIDDEN not in heard.kept
    assert any(event.get("prompt", "").startswith("an open word and") for event in heard.events)
