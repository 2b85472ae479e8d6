"""No daemon, several cold hooks at once, a daemon that is stuck: the person never waits for it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import (
    CASES,
    ROOT,
    Peer,
    StubRuntime,
    answering,
    entry,
    environment,
    event,
    fill,
    lines,
    prompt,
    run_hook,
)
from ultan.wire.files import FileLock
from ultan.wire.home import Home

KNOWLEDGE = CASES / "hook-output-envelope" / "knowledge"
RULE = "(global/deploy/no-friday-deploys)"
QUESTION = "shall we deploy to production this Friday?"
# The hook's own deadline is 1.9 s; this is about not hanging, on a machine that does other things too.
HANGS_SECONDS = 10.0


@pytest.fixture
def runtime(tmp_path: Path) -> StubRuntime:
    return StubRuntime(tmp_path / "runtime")


@pytest.fixture
def long_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    root = (
        tmp_path
        / "worktrees"
        / "issue-1505-a-rather-long-branch-name"
        / "名前付きの長いフォルダ"
        / ".agent-mem"
    )
    monkeypatch.setenv("AGENT_MEM_HOME", str(root))
    home = Home.resolve()
    home.ensure()
    yield home
    Path(home.socket).unlink(missing_ok=True)


def mute(peer: Peer, connection: socket.socket) -> None:
    peer.asked.append({})
    peer.over.wait(60)


def drip(peer: Peer, connection: socket.socket) -> None:
    for byte in b'{"ok": true, "text": "' + b"x" * 400:
        connection.sendall(bytes([byte]))
        if peer.over.wait(0.1):
            return


def garbage(peer: Peer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 500 no\r\n\r\n<html>")


def flood(peer: Peer, connection: socket.socket) -> None:
    while not peer.over.is_set():
        connection.sendall(b"A" * 65536)


def hang_up(peer: Peer, connection: socket.socket) -> None:
    connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("mode", [mute, drip, garbage, flood, hang_up], ids=lambda mode: mode.__name__)
def test_a_daemon_that_does_not_answer_is_replaced_by_the_catalog_in_time(
    mode: object, home: Home, runtime: StubRuntime
) -> None:
    fill(home, KNOWLEDGE)
    with Peer(home, mode), FileLock(home.daemon_lock):  # type: ignore[arg-type] # one of the functions above
        ran = run_hook(prompt(QUESTION), ULTAN_RUNTIME=str(runtime.folder))
    assert RULE in ran.context
    assert ran.seconds < HANGS_SECONDS
    (complaint,) = lines(home.hook_errors)
    assert complaint["kind"] == "daemon" and "no proper answer" in complaint["message"]
    assert Path(home.path("daemon.starting")).read_bytes() == b""  # somebody holds the lock: no second one


def test_after_a_daemon_that_did_not_answer_the_next_prompts_wait_less(home: Home) -> None:
    fill(home, KNOWLEDGE)
    with Peer(home, mute):
        for number in range(3):
            assert RULE in run_hook(prompt(QUESTION, session=f"s-{number}")).context
    waits = [line["message"].split(" in ")[1].split(" s")[0] for line in lines(home.hook_errors)]
    assert waits == ["0.80", "0.25", "0.25"]


HOLDER = """#!{python}
import fcntl, os, sys
lock = open(os.path.join(os.environ["AGENT_MEM_HOME"], "daemon.lock"), "a")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    sys.exit()
print(" ".join(sys.argv[1:]), file=open({started!r}, "a"), flush=True)
open({release!r}).read()
"""


def test_eight_cold_hooks_at_once_start_one_daemon_and_lose_no_event(
    home: Home, runtime: StubRuntime
) -> None:
    release = runtime.folder / "release"
    os.mkfifo(release)
    names = {"python": sys.executable, "started": str(runtime.started), "release": str(release)}
    (runtime.folder / "python").write_text(HOLDER.format(**names))
    command = [sys.executable, "-I", "-S", str(ROOT / "hooks" / "user_prompt_submit.py")]
    environ = environment(ULTAN_RUNTIME=str(runtime.folder))
    pipe = subprocess.PIPE
    hooks = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ) for _ in range(8)]
    barrier = threading.Barrier(8)
    outputs: list[tuple[bytes, bytes]] = []

    def feed(hook: subprocess.Popen[bytes], number: int) -> None:
        given = json.dumps(prompt("hello", session="R", prompt_id=f"p-{number}")).encode()
        barrier.wait(60)
        outputs.append(hook.communicate(given, timeout=60))

    threads = [threading.Thread(target=feed, args=pair) for pair in zip(hooks, range(8), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [hook.returncode for hook in hooks] == [0] * 8
    assert outputs == [(b"", b"")] * 8
    assert sorted(line["prompt_id"] for line in lines(home.events)) == [f"p-{number}" for number in range(8)]
    assert runtime.starts(1) == [f"-I {runtime.folder}/code/boot.py daemon run"]
    release.write_text("")  # it was alive, with the lock, all the time


def test_the_daemon_gets_a_chosen_environment_and_the_home(home: Home, runtime: StubRuntime) -> None:
    secrets = {"CLAUDE_PLUGIN_ROOT": "/p", "GITHUB_TOKEN": "x", "CLAUDECODE": "1", "LC_ALL": "C.UTF-8"}
    run_hook(event("SessionStart", source="startup"), ULTAN_RUNTIME=str(runtime.folder), **secrets)
    runtime.starts(1)
    (got,) = runtime.environments()
    assert got["AGENT_MEM_HOME"] == home.root and got["LC_ALL"] == "C.UTF-8"
    assert not {"CLAUDE_PLUGIN_ROOT", "GITHUB_TOKEN", "CLAUDECODE"} & set(got)


def test_a_hook_never_waits_for_the_daemon_that_it_starts(home: Home, tmp_path: Path) -> None:
    runtime = StubRuntime(tmp_path / "runtime")
    python = runtime.folder / "python"
    release = tmp_path / "release"
    os.mkfifo(release)
    python.write_text(f'#!/bin/sh\nread line < "{release}"\necho done >> "{runtime.started}"\n')
    ran = run_hook(event("SessionStart", source="startup"), ULTAN_RUNTIME=str(runtime.folder))
    assert ran.context == ""  # its output is closed though the child lives
    assert not runtime.started.exists()
    release.write_text("go\n")
    assert runtime.starts(1) == ["done"]


def test_a_start_that_failed_lately_is_not_repeated(home: Home, runtime: StubRuntime) -> None:
    Path(home.daemon_pid).write_text(json.dumps({"state": "failed"}))
    run_hook(prompt("hello"), ULTAN_RUNTIME=str(runtime.folder))
    assert not Path(home.path("daemon.starting")).exists()


def test_a_stale_socket_counts_as_no_daemon(home: Home) -> None:
    fill(home, KNOWLEDGE)
    left = socket.socket(socket.AF_UNIX)
    left.bind(home.socket)
    left.close()
    assert RULE in run_hook(prompt(QUESTION)).context
    assert lines(home.hook_errors) == []
    assert os.path.exists(home.socket)  # only the holder of the lock may remove it


def test_a_home_with_a_long_path_is_reached_at_a_short_place_whatever_the_environment(
    long_home: Home,
) -> None:
    fill(long_home, KNOWLEDGE)
    assert len(os.fsencode(long_home.socket)) <= 100
    with Peer(long_home, answering({"ok": True, "entries": [entry()]})) as daemon:
        for number, environ in enumerate([{}, {"TMPDIR": "/x"}, {"XDG_RUNTIME_DIR": "/x", "LANG": "C"}]):
            assert RULE in run_hook(prompt(QUESTION, session=f"s-{number}"), **environ).context
        assert len(daemon.asked) == 3


def test_where_the_short_place_cannot_be_the_catalog_answers(
    long_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In-process, because the place itself is shared with the person's own homes."""
    import time

    from ultan.wire import home as homes
    from ultan.wire import hook
    from ultan.wire import prompt as handler

    fill(long_home, KNOWLEDGE)
    place = tmp_path / "open"
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    monkeypatch.setattr(homes, "short_folder", lambda: str(place))
    printed: list[bytes] = []
    given = json.dumps(prompt(QUESTION)).encode()
    hook.run(
        "UserPromptSubmit", handler.handle, given, dict(os.environ), time.time(), str(ROOT), printed.append
    )
    assert RULE.encode() in printed[0]
