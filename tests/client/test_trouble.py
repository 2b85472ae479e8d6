"""A daemon that is absent, broken or frozen costs the person nothing: the fallback answers."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from stage import FRIDAY, TURN_SECONDS, Stage, blocks, wait_for

PEERS = {
    "closes at once": "peer.close()",
    "answers with nonsense": "peer.recv(9); peer.sendall(b'{]\\n'); peer.close()",
    "answers with another thing": "peer.recv(9); peer.sendall(b'[true, 7]\\n'); peer.close()",
    "never answers": "kept.append(peer)",
    "drips": "kept.append(peer); peer.sendall(b' ')",
    "floods": "peer.sendall(b'x' * (1 << 22)); peer.close()",
}
SERVER = """
import socket, sys
kept = []
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(64)
print("ready", flush=True)
while True:
    peer, _ = server.accept()
    try:
        {does}
    except OSError:
        pass
"""


@contextlib.contextmanager
def peer(stage: Stage, does: str) -> Iterator[subprocess.Popen[str]]:
    """Something that listens where the daemon should."""
    Path(stage.home.socket).unlink(missing_ok=True)
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER.format(does=does), stage.home.socket], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None and server.stdout.readline() == "ready\n"
        yield server
    finally:
        server.kill()
        server.wait()


def ask(stage: Stage) -> None:
    """One matching prompt: it is answered in time, with the note, whatever the daemon does."""
    begun = time.monotonic()
    with stage.session() as session:
        assert session.say("shall we deploy to production this Friday?", TURN_SECONDS)["subtype"] == "success"
        assert blocks(session.requests[-1]) == 1
    assert time.monotonic() - begun < TURN_SECONDS


@pytest.fixture
def troubled(stage: Stage) -> Stage:
    stage.write(FRIDAY)
    return stage


@pytest.mark.parametrize("kind", list(PEERS))
def test_a_broken_daemon_neither_delays_nor_breaks_a_turn(troubled: Stage, kind: str) -> None:
    with peer(troubled, PEERS[kind]):
        ask(troubled)


def test_a_frozen_daemon_neither_delays_nor_breaks_a_turn(troubled: Stage) -> None:
    with peer(troubled, PEERS["never answers"]) as server:
        server.send_signal(signal.SIGSTOP)
        ask(troubled)


def test_an_absent_daemon_neither_delays_nor_breaks_a_turn(troubled: Stage) -> None:
    ask(troubled)


def test_a_socket_that_was_left_behind_neither_delays_nor_breaks_a_turn(troubled: Stage) -> None:
    with peer(troubled, PEERS["closes at once"]):
        pass
    assert Path(troubled.home.socket).exists()
    ask(troubled)


@pytest.mark.parametrize("broken", ["catalog.json", "hook-config.json", "events.jsonl", "recall"])
def test_a_broken_file_in_the_home_breaks_no_turn(troubled: Stage, broken: str) -> None:
    path = Path(troubled.home.path(broken))
    if broken == "events.jsonl":
        path.mkdir()
    else:
        path.write_bytes(b"\x00{broken")
    with troubled.session() as session:
        assert session.say("shall we deploy to production this Friday?", TURN_SECONDS)["subtype"] == "success"
        assert session.say("/ultan still kept")["subtype"] == "success"
    wait_for(lambda: troubled.notes() == ["still kept\n"], "the note")
