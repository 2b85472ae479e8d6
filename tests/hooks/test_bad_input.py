"""Whatever the client sends: exit 0, clean output, one line that says why."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import CASES, ROOT, SCRIPTS, environment, event, fill, lines, prompt, run_hook
from ultan.wire import events
from ultan.wire.home import Home

INPUTS = sorted((CASES / "hook-bad-stdin" / "stdin").glob("*.bin"))
SAMPLES = sorted(p for p in (CASES / "payloads").glob("*.json") if not p.stem.startswith("PreToolUse"))


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_bad_input_is_refused_with_one_line_that_says_why(name: str, home: Home) -> None:
    for number, path in enumerate(INPUTS):
        before = len(lines(home.events))
        ran = run_hook(path.read_bytes(), event=name)
        assert (ran.code, ran.out, ran.err) == (0, b"", b""), path.name
        kept = len(lines(home.events)) - before
        assert kept == (1 if path.name == "not-utf8.bin" and name == "UserPromptSubmit" else 0), path.name
        refused = lines(home.hook_errors)
        assert len(refused) + len(lines(home.events)) == number + 1
    for line in lines(home.hook_errors):
        assert line["hook"] == name and line["kind"] == "input" and line["message"]


def test_a_prompt_of_two_megabytes_is_kept_cut_and_answered(home: Home) -> None:
    fill(home, CASES / "hook-output-envelope" / "knowledge")
    text = "deploy on Friday? " * 120_000
    for name in SCRIPTS:
        ran = run_hook(prompt(text), event=name)
        if name == "UserPromptSubmit":
            assert "(global/deploy/no-friday-deploys)" in ran.context
        else:
            assert ran.context == ""
    (line,) = lines(home.events)
    assert line["truncated"] is True
    assert line["prompt"] == text[: events.PROMPT_CHARS]
    assert len(lines(home.hook_errors)) == len(SCRIPTS) - 1


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_what_the_client_really_sends_is_recorded(path: Path, home: Home) -> None:
    given = json.loads(path.read_text("utf-8"))
    ran = run_hook(given)
    assert (ran.code, ran.err) == (0, b"")
    (line,) = lines(home.events)
    assert line["event"] == given["hook_event_name"] and line["session_id"] == given["session_id"]
    for name in ("prompt_id", "tool_use_id", "agent_id", "tool_name", "last_assistant_message", "prompt"):
        assert line.get(name) == given.get(name)
    assert lines(home.hook_errors) == []


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_a_client_that_closes_everything_or_never_ends_its_input_is_not_waited_for(name: str) -> None:
    command = [sys.executable, "-I", "-S", str(ROOT / "hooks" / SCRIPTS[name])]
    closed = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command], env=environment(), timeout=60
    )
    assert closed.returncode == 0
    if name == "UserPromptSubmit":
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
        ) as hook:
            assert hook.wait(timeout=60) == 0


def test_a_reader_that_is_gone_is_no_trouble(home: Home) -> None:
    fill(home, CASES / "hook-output-envelope" / "knowledge")
    command = [sys.executable, "-I", "-S", str(ROOT / "hooks" / SCRIPTS["UserPromptSubmit"])]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment()) as hook:
        assert hook.stdout and hook.stdin and hook.stderr
        hook.stdout.close()
        hook.stdin.write(json.dumps(prompt("deploy to production on Friday?")).encode())
        hook.stdin.close()
        assert hook.stderr.read() == b""
        assert hook.wait(timeout=60) == 0
    assert not Path(home.recall, "sessions", "s-1.jsonl").exists()  # nobody has seen it


@pytest.mark.parametrize(
    "environ", [{"AGENT_MEM_HOME": "/dev/null/x"}, {"AGENT_MEM_HOME": "", "HOME": "/dev/null"}]
)
def test_a_home_that_cannot_be_is_no_trouble(environ: dict[str, str]) -> None:
    for name in SCRIPTS:
        given = prompt("hello") if name == "UserPromptSubmit" else event(name)
        ran = run_hook(given, event=name, **environ)
        assert (ran.code, ran.out, ran.err) == (0, b"", b""), name
