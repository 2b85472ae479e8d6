"""The real daemon, started by a hook inside the real client."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from offline_client.client import conversation
from stage import FRIDAY, TURN_SECONDS, Stage, blocks, wait_for
from ultan.wire import client as wire


def is_ready(stage: Stage) -> bool:
    try:
        return wire.request(stage.home, {"op": "status"}, 2.0).get("state") == "ready"
    except OSError:
        return False


def answered_by(stage: Stage) -> str:
    """Who answered the newest prompt: the daemon or the fallback."""
    from ultan.wire import recall

    newest = recall.newest(stage.home, stage.events()[-1]["session_id"])
    assert newest is not None
    return str(newest["via"])


def test_a_daemon_that_a_hook_started_outlives_the_session_and_answers_the_next(stage: Stage) -> None:
    stage.write(FRIDAY)
    stage.install_runtime(starts=True)
    with stage.session(None, ANTHROPIC_CUSTOM_HEADERS="x: not-for-a-daemon") as session:
        session.say("shall we deploy to production this Friday?")
        assert blocks(session.requests[-1]) == 1
        wait_for(lambda: is_ready(stage), "the daemon")
    pid = stage.daemon()
    assert pid is not None and os.getsid(pid) != os.getsid(0)
    environment = Path(f"/proc/{pid}/environ").read_bytes().decode()
    assert "not-for-a-daemon" not in environment and "sk-ant-dummy" not in environment
    assert not [line for line in environment.split("\0") if line.startswith("CLAUDE")]

    with stage.session() as session:
        session.say("is a deploy to production on Friday all right?")
        assert blocks(session.requests[-1]) == 1
    assert stage.daemon() == pid
    assert answered_by(stage) == "daemon"

    os.kill(pid, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        with stage.session() as session:
            session.say("may I deploy to production on a Friday?", TURN_SECONDS)
            assert blocks(session.requests[-1]) == 1
        assert time.monotonic() - begun < TURN_SECONDS
    finally:
        os.kill(pid, signal.SIGCONT)
    assert answered_by(stage) == "fallback"

    stage.stop_daemon()
    with stage.session() as session:
        session.say("once more: deploy to production on Friday?")
        assert blocks(session.requests[-1]) == 1
        wait_for(lambda: is_ready(stage), "the next daemon")
    assert stage.daemon() not in (None, pid)


def test_a_note_that_was_just_typed_is_known_to_the_next_prompt(stage: Stage) -> None:
    stage.install_runtime(starts=True)
    with stage.session() as session:
        session.say("/ultan We mock HTTP with respx in our tests, never with responses.")
        wait_for(lambda: is_ready(stage), "the daemon")
        shown = ""
        for _ in range(20):
            session.say("which library do we use to mock HTTP requests in the tests?")
            shown = conversation(session.requests[-1])
            if "<ultan-notes>" in shown:
                break
            time.sleep(0.5)
    assert "respx in our tests, never with responses" in shown.partition("<ultan-notes>")[2]
