"""Texts that the client sends as prompts, pending nudges, and commands."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from support import CASES, Peer, answering, entry, fill, lines, prompt, run_hook
from ultan.wire.home import Home

CASE = CASES / "hook-synthetic-prompts"
PAYLOADS = [json.loads(line) for line in (CASE / "payloads.jsonl").read_text("utf-8").splitlines()]


def test_the_clients_own_texts_are_no_speech_and_use_nothing_up(home: Home) -> None:
    fill(home, CASE / "knowledge")
    shutil.copy(CASE / "pending-nudges.md", home.nudges)
    nudge = Path(home.nudges).read_bytes()
    for case in PAYLOADS[:4]:
        assert run_hook(case["stdin"]).context == ""
        assert Path(home.nudges).read_bytes() == nudge
        assert not Path(home.recall).exists()
    text = run_hook(PAYLOADS[4]["stdin"]).context
    assert "(global/deploy/no-friday-deploys)" in text
    assert "You already decided: no deploys on Fridays" in text
    assert not Path(home.nudges).exists()
    assert run_hook(PAYLOADS[5]["stdin"]).context == ""
    kinds = [(line.get("synthetic"), line.get("command")) for line in lines(home.events)]
    assert kinds == [(True, None)] * 4 + [(None, None), (None, "ultan")]


def test_nudges_are_delivered_also_where_no_entry_applies(home: Home) -> None:
    Path(home.nudges).write_text("- check the backups\n")
    text = run_hook(prompt("hello there")).context
    assert "- check the backups" in text
    assert run_hook(prompt("hello there", prompt_id="p-2")).context == ""


def test_a_nudge_that_did_not_fit_waits(home: Home) -> None:
    Path(home.nudges).write_text("".join(f"- nudge {i} {'word ' * 80}\n" for i in range(5)))
    Path(home.knowledge).mkdir()
    found = [entry(f"global/e{i}", excerpt="long words " * 60, title="title " * 20) for i in range(3)]
    with Peer(home, answering({"ok": True, "entries": found})):
        first = run_hook(prompt("deploy?")).context
        rest = Path(home.nudges).read_text()
        told = first.count("nudge ")
        assert told <= 3 and rest.count("- nudge") == 5 - told
    seen = told
    for number in range(2, 8):
        if Path(home.nudges).exists():
            seen += run_hook(prompt("hello", prompt_id=f"p-{number}")).context.count("nudge ")
    assert seen == 5 and not Path(home.nudges).exists()


def test_the_arguments_of_another_command_are_looked_up_and_ultans_own_are_not(home: Home) -> None:
    fill(home, CASE / "knowledge")
    texts = [
        "/review the Friday production deploy",
        "/ultan deploy production on Friday",
        "/compact",
        "/review Friday",
    ]
    with Peer(home, answering({"ok": True, "entries": []})) as daemon:
        for number, text in enumerate(texts):
            run_hook(prompt(text, prompt_id=f"p-{number}"))
        assert [asked["prompt"] for asked in daemon.asked] == ["the Friday production deploy"]
    assert [line["command"] for line in lines(home.events)] == ["review", "ultan", "compact", "review"]
