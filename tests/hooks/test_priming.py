"""What a prompt brings before the agent, with and without a daemon, through the real script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import CASES, ROOT, Peer, Ran, answering, entry, environment, fill, lines, prompt, run_hook
from ultan.wire import block
from ultan.wire.home import Home

ENVELOPE = CASES / "hook-output-envelope"
RULE = "global/deploy/no-friday-deploys"


def payload(name: str) -> dict[str, Any]:
    return dict(json.loads((ENVELOPE / f"payload-{name}.json").read_text("utf-8")))


def check(ran: Ran) -> None:
    text = ran.context
    assert f"({RULE})" in text and "[P] No deploys on Fridays" in text
    assert "Never start a production deploy on a Friday" in text
    assert block.escaped_length(text) <= 1500
    assert json.loads(ran.out)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"


def test_without_a_daemon_the_catalog_answers(home: Home) -> None:
    fill(home, ENVELOPE / "knowledge")
    check(run_hook(payload("hit")))
    (considered,) = [line for path in Path(home.recall).glob("*.jsonl") for line in lines(path)]
    assert considered["via"] == "fallback" and considered["candidates"][0]["id"] == RULE


def test_without_a_daemon_nothing_is_shown_where_nothing_applies(home: Home) -> None:
    fill(home, ENVELOPE / "knowledge")
    ran = run_hook(payload("miss"))
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert not Path(home.recall, "sessions").exists()
    assert len(lines(home.events)) == 1


def test_with_a_daemon_its_answer_is_shown(home: Home) -> None:
    fill(home, ENVELOPE / "knowledge")
    with Peer(home, answering({"ok": True, "entries": [entry()]})) as daemon:
        check(run_hook(payload("hit")))
        asked = daemon.asked[0]
    assert asked["op"] == "prime" and asked["prompt"] == payload("hit")["prompt"]
    assert asked["session_id"] == "s-1" and asked["cwd"] == "/home/dev/shop" and asked["exclude"] == []
    assert not list(Path(home.recall).glob("*.jsonl"))  # the daemon keeps that log when it answers


def test_with_a_daemon_that_finds_nothing_nothing_is_shown(home: Home) -> None:
    fill(home, ENVELOPE / "knowledge")
    with Peer(home, answering({"ok": True, "entries": []})):
        assert run_hook(payload("hit")).context == ""
    assert not Path(home.recall).exists()


@pytest.mark.parametrize("kind", ["warming", "late", "busy", "version"])
def test_a_daemon_that_cannot_answer_now_is_replaced_by_the_catalog(home: Home, kind: str) -> None:
    fill(home, ENVELOPE / "knowledge")
    with Peer(home, answering({"ok": False, "error": {"type": kind, "message": "x"}})):
        check(run_hook(payload("hit")))
    assert len(lines(home.hook_errors)) == (1 if kind == "version" else 0)


def test_odd_answers_of_a_daemon_never_break_the_hook(home: Home) -> None:
    fill(home, ENVELOPE / "knowledge")
    odd: list[Any] = [
        7,
        None,
        {},
        {"id": 7},
        {"id": ["x"]},
        {"id": "a", "title": 3, "updated": 9},
        entry(),
        entry(),
    ]
    with Peer(home, answering({"ok": True, "entries": [*odd, entry(), entry()]})):
        text = run_hook(payload("hit")).context
    assert text.count(f"({RULE})") == 1 and "(a)" in text


def test_no_more_entries_are_shown_than_allowed(home: Home) -> None:
    fill(home, ENVELOPE / "knowledge")
    with Peer(home, answering({"ok": True, "entries": [entry(f"global/e{i}") for i in range(9)]})):
        assert run_hook(payload("hit")).context.count("\n- ") == 3


def test_what_was_shown_is_not_shown_again_and_the_daemon_is_told(home: Home) -> None:
    fill(home, ENVELOPE / "knowledge")
    with Peer(home, answering({"ok": True, "entries": [entry()]})) as daemon:
        check(run_hook(prompt("deploy on Friday?", prompt_id="p-1")))
        assert run_hook(prompt("deploy on Friday?", prompt_id="p-2")).context == ""
        assert daemon.asked[1]["exclude"] == [RULE]
        check(run_hook(prompt("deploy on Friday?", session="s-2")))


def test_two_wirings_of_one_hook_print_one_block(home: Home) -> None:
    fill(home, ENVELOPE / "knowledge")
    command = [sys.executable, "-I", "-S", str(ROOT / "hooks" / "user_prompt_submit.py")]
    pipe = subprocess.PIPE
    with Peer(home, answering({"ok": True, "entries": [entry()]})):
        for number in range(5):
            given = json.dumps(prompt("deploy?", session="s", prompt_id=f"p-{number}")).encode()
            Path(home.recall, "sessions", "s.jsonl").unlink(missing_ok=True)
            both = [subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment()) for _ in range(2)]
            for hook in both:
                assert hook.stdin is not None
                hook.stdin.write(given)
                hook.stdin.flush()
            outputs = [hook.communicate(timeout=60)[0] for hook in both]
            assert [bool(out) for out in outputs].count(True) == 1


def test_an_entry_cannot_break_out_and_the_prompts_own_tags_change_nothing(home: Home) -> None:
    case = CASES / "security-breakout-in-entry"
    fill(home, case / "knowledge")
    text = run_hook(json.loads((case / "prompt.json").read_text("utf-8"))).context
    assert "(global/inj/break)" in text
    assert text.startswith(block.OPEN) and text.endswith(block.CLOSE)
    assert text.count("<") == text.count(">") == 2
    assert len(text.splitlines()) == 4


@pytest.mark.parametrize("content", [None, b"", b"{", b"\x00" * 100, b'{"v":999}'])
def test_a_missing_or_broken_catalog_is_made_again_by_the_hook(home: Home, content: bytes | None) -> None:
    fill(home, ENVELOPE / "knowledge")
    if content is None:
        os.unlink(home.catalog)
    else:
        Path(home.catalog).write_bytes(content)
    assert "global/deploy/no-friday-deploys" in run_hook(payload("hit")).context
    assert len(lines(home.events)) == 1 and lines(home.hook_errors) == []


def test_a_read_only_home_costs_nothing_but_the_record(home: Home) -> None:
    fill(home, ENVELOPE / "knowledge")
    os.mkdir(home.events)  # as root no mode stops a write
    ran = run_hook(payload("hit"))
    assert (ran.code, ran.err) == (0, b"")


def test_another_project_of_the_same_name_does_not_get_the_notes(home: Home, tmp_path: Path) -> None:
    from ultan.wire.lexical import build_catalog

    mine, theirs = tmp_path / "a" / "shop", tmp_path / "b" / "shop"
    for folder in (mine, theirs, Path(home.knowledge) / "projects" / "shop"):
        folder.mkdir(parents=True)
    identity = f"path:{os.path.realpath(mine)}"
    row = {
        **entry("projects/shop/deploys"),
        "scope": "project:shop",
        "status": "active",
        "applies_when": "",
        "tags": [],
        "body": entry()["excerpt"],
    }
    readme = Path(home.knowledge) / "projects" / "shop" / "README.md"
    question = "shall we deploy to production this Friday?"
    readme.write_text(f"---\nidentities:\n  - {identity}\n---\n")
    Path(home.catalog).write_bytes(build_catalog([row], {identity: "shop"}))
    assert run_hook(prompt(question, session="mine", cwd=str(mine))).context
    assert not run_hook(prompt(question, session="theirs", cwd=str(theirs))).context
    readme.write_text("# Shop\n")  # a folder that lists no identities goes by its name
    Path(home.catalog).write_bytes(build_catalog([row], {}))
    assert run_hook(prompt(question, session="again", cwd=str(theirs))).context
