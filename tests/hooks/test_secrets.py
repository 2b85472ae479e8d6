"""No secret and nothing private is in any file below the home, and all files are the user's alone."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from support import CASES, Peer, answering, entry, event, everything_below, lines, prompt, run_hook
from ultan.wire.home import Home

CASE = CASES / "security-secret-everywhere"
TOKENS = {name: "".join(pieces) for name, pieces in json.loads((CASE / "tokens.json").read_text()).items()}
# Of the connection string the password alone is secret, of the key its inside.
SECRET = {**TOKENS, "PGURL": "s3cr3t-not-real", "PEM": "MIIBnotreal0123456789"}
CANARY = "CANARY-b1f7"


def filled(template: str) -> bytes:
    text = (CASE / template).read_text("utf-8")
    for name, token in TOKENS.items():
        text = text.replace(f"@@{name}@@", token.replace("\n", "\\n"))
    return text.encode()


def check_modes(home: Home) -> None:
    for place, folders, names in os.walk(home.root):
        for folder in [*folders, "."]:
            assert stat.S_IMODE((Path(place) / folder).stat().st_mode) == 0o700, folder
        for name in names:
            path = Path(place) / name
            if path.is_file():
                assert stat.S_IMODE(path.stat().st_mode) & 0o177 == 0, path


def test_no_secret_of_a_prompt_a_tool_or_a_note_is_in_any_file(home: Home) -> None:
    os.makedirs(home.knowledge, mode=0o700)
    note = filled("ultan-text.tmpl").decode()
    expansion = event(
        "UserPromptExpansion",
        prompt_id="p-2",
        expansion_type="slash_command",
        command_name="ultan:ultan",
        command_source="plugin",
        command_args=note,
        prompt="/ultan:ultan " + note,
    )
    runs = [
        run_hook(filled("posttool.json.tmpl"), event="PostToolUse"),
        run_hook(filled("prompt.json.tmpl"), event="UserPromptSubmit"),
        run_hook(expansion),
        run_hook(event("Stop", last_assistant_message="I used " + TOKENS["GHP"])),
        run_hook(event("PostToolUseFailure", tool_name="Bash", error="bad key " + TOKENS["AWS"])),
        run_hook(event("SessionEnd", reason=TOKENS["SK"])),
        run_hook(event("Stop", hook_event_name=TOKENS["GHP"]), event="Stop"),
        run_hook(TOKENS["GHP"].encode(), event="Stop"),
    ]
    for ran in runs:
        assert (ran.code, ran.err) == (0, b"")
    everything = everything_below(home.root) + b"".join(ran.out for ran in runs)
    for name, secret in SECRET.items():
        assert secret.encode() not in everything, name
    text = everything.decode("utf-8", "replace")
    for mark in (
        "[redacted:github-token]",
        "[redacted:aws-key-id]",
        "[redacted:api-key]",
        "[redacted:slack-token]",
    ):
        assert mark in text
    for kept in (
        "9fceb02d0ae598e95dc970b74767f19372d61af8",
        "550e8400-e29b-41d4-a716-446655440000",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "always use the staging key",
        "db.example.invalid:5432/prod",
    ):
        assert kept in text
    check_modes(home)


def test_the_daemon_is_asked_without_secrets_and_private_parts(home: Home) -> None:
    os.mkdir(home.knowledge)
    text = f"deploy with {TOKENS['GHP']} <private>{CANARY}</private> please"
    with Peer(home, answering({"ok": True, "entries": []})) as daemon:
        run_hook(prompt(text))
        assert daemon.asked[0]["prompt"] == "deploy with [redacted:github-token]  please"


def turn(prompt_id: str | None, text: str) -> list[dict[str, object]]:
    """A prompt and all that may follow it in its turn, each saying `text`."""
    own = {"prompt_id": prompt_id} if prompt_id else {}
    return [
        event("UserPromptExpansion", command_name="x", command_args=text, prompt=text, **own),
        event("PostToolUse", tool_name="Bash", tool_input={"command": text}, tool_response=text, **own),
        event("PostToolUseFailure", tool_name="Bash", tool_input={}, error=text, **own),
        event("PostToolUse", tool_name="Read", tool_response=text, agent_id="a-1", **own),
        event(
            "SubagentStop", agent_id="a-1", agent_type="general-purpose", last_assistant_message=text, **own
        ),
        event("Stop", last_assistant_message=text, **own),
    ]


@pytest.mark.parametrize("with_ids", [True, False])
def test_a_private_prompt_and_its_whole_turn_leave_no_trace(home: Home, with_ids: bool) -> None:
    os.mkdir(home.knowledge)

    def own(name: str) -> dict[str, str]:
        return {"prompt_id": name} if with_ids else {"prompt_id": ""}

    with Peer(home, answering({"ok": True, "entries": [entry()]})) as daemon:
        assert run_hook(prompt(f"#private {CANARY}", **own("p-1"))).context == ""
        assert daemon.asked == []
        for given in turn("p-1" if with_ids else None, CANARY):
            run_hook(given)
        # The client tells of a task that the private turn began: still no turn of the person's.
        notice = f"<task-notification>{CANARY}</task-notification>"
        run_hook(prompt(notice, **own("p-2")))
        for given in turn("p-2" if with_ids else None, CANARY):
            run_hook(given)
        # The person's next prompt is heard again; a late event and summaries of everything are not.
        run_hook(prompt("deploy on Friday?", **own("p-3")))
        run_hook(event("Stop", last_assistant_message="heard again", **own("p-3")))
        if with_ids:
            run_hook(event("Stop", prompt_id="p-1", last_assistant_message=CANARY))
        run_hook(event("PreCompact", trigger="manual", custom_instructions=CANARY, **own("p-3")))
        run_hook(event("SubagentStop", agent_type="", last_assistant_message=CANARY, **own("p-3")))
        run_hook(event("PostCompact", trigger="manual", compact_summary=CANARY, **own("p-3")))
        summary = f"This session is being continued from a previous conversation: {CANARY}"
        run_hook(prompt(summary, **own("p-4")))
        run_hook(event("SessionEnd", reason="other"))
        assert all(CANARY not in json.dumps(asked) for asked in daemon.asked)
    assert CANARY.encode() not in everything_below(home.root)
    names = [line["event"] for line in lines(home.events)]
    assert names == [
        "UserPromptSubmit",
        "Stop",
        "PreCompact",
        "SubagentStop",
        "PostCompact",
        "UserPromptSubmit",
        "SessionEnd",
    ]
    assert lines(home.events)[1]["last_assistant_message"] == "heard again"


def test_a_private_turn_of_one_session_does_not_silence_another(home: Home) -> None:
    run_hook(prompt("#private x", session="s-1"))
    run_hook(event("Stop", session="s-2", prompt_id="p-1", last_assistant_message="heard"))
    assert [line["session_id"] for line in lines(home.events)] == ["s-2"]


def test_a_session_forked_from_a_private_one_keeps_no_summary(home: Home) -> None:
    run_hook(event("SessionStart", session="fork", source="fork"))
    run_hook(event("PostCompact", session="fork", compact_summary=CANARY))
    assert CANARY.encode() not in everything_below(home.root)
    run_hook(event("PostCompact", session="other", compact_summary="kept"))
    assert lines(home.events)[-1]["compact_summary"] == "kept"


def test_private_parts_of_a_prompt_are_cut_and_the_rest_is_heard(home: Home) -> None:
    run_hook(prompt(f"always use uv <private>{CANARY}</private> for this"))
    assert lines(home.events)[0]["prompt"] == "always use uv  for this"
    assert CANARY.encode() not in everything_below(home.root)
