"""The whole process: start, answer, listen, make room, end in good order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from light_daemon import LightEngine
from support import CASES, ROOT, Ran, environment, event, run_hook, wait
from ultan.curator.spool import Spool, user_turns
from ultan.service import listening, start
from ultan.service.daemon import Daemon
from ultan.service.log import Log
from ultan.service.state import State
from ultan.wire import client, events
from ultan.wire.home import Home
from ultan.wire.journal import IN_FLIGHT
from ultan.wire.version import VERSION

LIGHT = str(ROOT / "tools" / "bench" / "light_daemon.py")
PATIENCE_SECONDS = 60.0


class House:
    """A home whose daemons (with the light engine) are ours to start and to end."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.daemons: list[subprocess.Popen[bytes]] = []

    def start(self, **more: str) -> subprocess.Popen[bytes]:
        log = os.open(self.home.daemon_log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            self.daemons.append(
                subprocess.Popen(
                    [sys.executable, LIGHT],
                    env=environment(**more),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )
        finally:
            os.close(log)
        return self.daemons[-1]

    def ready(self, **more: str) -> subprocess.Popen[bytes]:
        daemon = self.start(**more)
        for _ in wait(PATIENCE_SECONDS):
            assert daemon.poll() is None, self.log()
            if self.state().get("pid") == daemon.pid and self.state().get("state") == "ready":
                return daemon
        raise AssertionError

    def ask(self, **message: object) -> dict[str, Any]:
        return client.request(self.home, message, PATIENCE_SECONDS)

    def state(self) -> dict[str, Any]:
        try:
            return dict(json.loads(Path(self.home.daemon_pid).read_text()))
        except FileNotFoundError:
            return {}

    def log(self) -> str:
        return Path(self.home.daemon_log).read_text()

    def write(self, name: str, text: str) -> None:
        path = Path(self.home.knowledge, name + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\ntitle: {text}\n---\n{text}\n")

    def found(self, text: str) -> list[str]:
        return [row["id"] for row in self.ask(op="search", text=text)["results"]]

    def until(self, holds: Callable[[], object]) -> None:
        for _ in wait(PATIENCE_SECONDS):
            if holds():
                return

    def ended(self, daemon: subprocess.Popen[bytes]) -> int:
        return daemon.wait(PATIENCE_SECONDS)


@pytest.fixture
def house(home: Home) -> Iterator[House]:
    it = House(home)
    yield it
    for daemon in it.daemons:
        daemon.kill()
        daemon.wait()


def test_it_answers_follows_the_library_and_the_events_and_ends_in_good_order(house: House) -> None:
    house.write("global/a", "zanzibar")
    daemon = house.ready()
    assert house.found("zanzibar") == ["global/a"]
    assert "zanzibar" in Path(house.home.catalog).read_text()

    house.write("global/b", "quetzal")
    house.until(lambda: house.found("quetzal") == ["global/b"])

    assert run_hook(event("UserPromptSubmit", prompt_id="p-9", prompt="zanzibar please")).context
    assert house.ask(op="flush")["behind_bytes"] == 0
    assert [turn.prompt_id for turn in user_turns(Spool(house.home).events("s-1"))] == ["p-9"]

    status = house.ask(op="status")
    assert (status["state"], status["version"], status["pid"]) == ("ready", VERSION, daemon.pid)
    assert (status["entries"], status["events"]["delivered"], status["watch"]) == (2, 1, "events")
    assert status["socket"] == house.home.socket

    assert house.ask(op="shutdown")["ok"] is True
    assert house.ended(daemon) == 0
    assert house.state()["state"] == "stopped"
    assert not Path(house.home.socket).exists()
    assert "zanzibar" not in house.log() and "quetzal" not in house.log()


def test_of_eight_that_start_at_once_one_lives_and_only_that_one_loads_anything(house: House) -> None:
    daemons = [house.start() for _ in range(8)]
    house.until(lambda: house.state().get("state") == "ready")
    house.until(lambda: sum(daemon.poll() is None for daemon in daemons) == 1)
    (living,) = [daemon for daemon in daemons if daemon.poll() is None]
    assert [daemon.returncode for daemon in daemons if daemon is not living] == [0] * 7
    assert house.ask(op="status")["pid"] == living.pid
    assert Path(house.home.path("engines")).read_text().split() == [str(living.pid)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_good_order(house: House, number: signal.Signals) -> None:
    daemon = house.ready()
    daemon.send_signal(number)
    assert house.ended(daemon) == 0
    assert house.state()["state"] == "stopped" and number.name in house.log()
    assert not Path(house.home.socket).exists()


def test_after_a_kill_the_next_start_finds_its_way(house: House) -> None:
    """Stale pid file, socket and lock file; a batch of the journal half done."""
    daemon = house.ready()
    daemon.kill()
    daemon.wait()
    assert Path(house.home.socket).exists() and house.state()["state"] == "ready"
    house.ready()
    assert house.ask(op="status")["ok"]
    assert not Path(house.home.journal, IN_FLIGHT).exists()


def test_a_pid_file_of_a_living_stranger_is_no_reason_not_to_start(house: House) -> None:
    Path(house.home.daemon_pid).write_text(json.dumps({"pid": os.getpid(), "state": "ready"}))
    house.ready()


def test_settings_that_cannot_be_used_are_said_and_it_does_not_run(house: House) -> None:
    Path(house.home.config).write_text('deamon = "on"\n')
    assert house.ended(house.start()) == 1
    assert house.state()["state"] == "failed"
    assert "deamon" in house.state()["error"] and "Did you mean daemon?" in house.state()["error"]
    assert not Path(house.home.socket).exists()


def test_turned_off_it_ends_at_once_without_an_engine(house: House) -> None:
    Path(house.home.config).write_text('daemon = "off"\n')
    assert house.ended(house.start()) == 0
    assert house.state()["state"] == "stopped"
    assert not Path(house.home.path("engines")).exists()
    assert json.loads(Path(house.home.hook_config).read_text())["daemon"] == "off"


def test_turned_off_while_it_runs_it_ends(house: House) -> None:
    daemon = house.ready()
    Path(house.home.config).write_text('daemon = "off"\n')
    assert house.ended(daemon) == 0
    assert "turned off" in house.log()


def install(folder: Path, version: str) -> None:
    (folder / "boot.py").touch()
    values = {"version": version, "code": str(folder), "python": sys.executable}
    (folder / "current.json").write_text(json.dumps(values))


def test_it_makes_room_for_a_newer_copy_once_that_is_installed(house: House, tmp_path: Path) -> None:
    daemon = house.ready(ULTAN_RUNTIME=str(tmp_path))
    newer: dict[str, object] = {"op": "status", "client_version": "99.0.0"}
    assert house.ask(**newer)["ok"]
    install(tmp_path, VERSION)
    assert house.ask(**newer)["ok"]
    assert house.ask(op="status", client_version="0.0.1")["ok"]
    install(tmp_path, "99.0.0")
    assert house.ask(op="status", client_version="0.0.1")["ok"]
    time.sleep(0.2)
    assert daemon.poll() is None
    assert house.ask(**newer)["ok"]
    assert house.ended(daemon) == 0
    assert "99.0.0 takes over" in house.log()


def test_a_home_of_a_newer_version_is_served_and_not_written(house: House) -> None:
    house.write("global/a", "zanzibar")
    Path(house.home.home_json).write_text('{"format": 99, "written_by": "9.9.9"}')
    house.ready()
    assert house.found("zanzibar") == ["global/a"]
    assert "9.9.9" in house.ask(op="status")["read_only"]
    assert sorted(path.name for path in Path(house.home.knowledge).rglob("*.md")) == ["a.md"]


def test_a_socket_that_was_cleaned_away_is_made_again(house: House) -> None:
    house.ready()
    Path(house.home.socket).unlink()
    house.until(lambda: Path(house.home.socket).exists())
    assert house.ask(op="status")["ok"]


def test_a_home_that_was_removed_is_left(house: House) -> None:
    daemon = house.ready()
    Path(house.home.daemon_lock).unlink()
    assert house.ended(daemon) == 0
    assert "removed" in house.log()


def test_events_that_came_before_it_started_are_delivered(house: House) -> None:
    for number in range(50):
        payload: dict[str, object] = {"session_id": "s", "prompt_id": f"p-{number}", "prompt": str(number)}
        events.append(house.home, events.record("UserPromptSubmit", payload))
    house.ready()
    house.until(lambda: len(user_turns(Spool(house.home).events("s"))) == 50)


@pytest.mark.parametrize("round", range(3))
def test_eight_cold_hooks_at_one_instant_start_one_daemon_and_each_event_is_delivered_once(
    house: House, tmp_path: Path, round: int
) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    code = f"import runpy, sys; sys.argv = [{LIGHT!r}]; runpy.run_path({LIGHT!r}, run_name='__main__')\n"
    install(runtime, VERSION)
    (runtime / "boot.py").write_text(code)
    barrier = threading.Barrier(8)
    given = json.loads((CASES / "daemon-start-race" / "payload.json").read_text())

    def hook(number: int) -> Ran:
        barrier.wait()
        return run_hook({**given, "prompt_id": f"p-{number}"}, ULTAN_RUNTIME=str(runtime))

    with ThreadPoolExecutor(8) as pool:
        assert [ran.code for ran in pool.map(hook, range(8))] == [0] * 8
    house.until(lambda: house.state().get("state") == "ready")
    try:
        engines = Path(house.home.path("engines")).read_text().split()
        assert engines == [str(house.state()["pid"])] == [str(house.ask(op="status")["pid"])]
        assert house.ask(op="flush")["behind_bytes"] == 0
        turns = [turn.prompt_id for turn in user_turns(Spool(house.home).events("R"))]
        assert sorted(turns) == [f"p-{number}" for number in range(8)]
    finally:
        house.ask(op="shutdown")
        house.until(lambda: house.state().get("state") == "stopped")


def test_a_daemon_and_a_hook_meet_in_a_home_whose_path_is_too_long_for_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = (CASES / "daemon-socket-path-too-long" / "home.txt").read_text().strip().removeprefix("/tmp/")
    monkeypatch.setenv("AGENT_MEM_HOME", str(tmp_path / name))
    home = Home.resolve()
    home.ensure()
    house = House(home)
    house.write("global/a", "zanzibar")
    try:
        daemon = house.ready()
        assert len(os.fsencode(home.path("priming.sock"))) > 108
        assert house.ask(op="status")["socket"] == home.socket == house.state()["socket"]
        assert run_hook(event("UserPromptSubmit", prompt_id="p", prompt="zanzibar please")).context
        assert not Path(home.hook_errors).exists()
        house.ask(op="shutdown")
        assert house.ended(daemon) == 0
    finally:
        for daemon in house.daemons:
            daemon.kill()
            daemon.wait()


# Parts of it, with a clock of our own.


class Clock:
    now = 1_796_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def still(home: Home) -> Iterator[tuple[Daemon, Clock]]:
    """A daemon that has loaded but does not run."""
    clock = Clock()
    lock = start.claim(home)
    assert lock is not None
    listener = listening.listen(home)
    log = Log(home.daemon_log, clock)
    given = {"HOME": "/home/me", "ANTHROPIC_API_KEY": "sk-1", "HTTPS_PROXY": "http://proxy"}
    state = State(home, clock())
    daemon = Daemon(home, listener, state, log, lambda home, _: LightEngine(home), clock, given)
    daemon._load()
    yield daemon, clock
    listener.close()
    lock.release()


def test_what_the_settings_do_not_ask_for_is_dropped_from_the_environment(
    still: tuple[Daemon, Clock],
) -> None:
    assert still[0].environ == {"HOME": "/home/me", "HTTPS_PROXY": "http://proxy"}


def test_when_nobody_needs_it_it_ends(still: tuple[Daemon, Clock]) -> None:
    daemon, clock = still
    clock.now += 239 * 60
    daemon._check_idle()
    assert daemon._reason == ""
    daemon.answers.last_asked = clock.now
    clock.now += 239 * 60
    daemon._check_idle()
    assert daemon._reason == ""
    clock.now += 60
    daemon._check_idle()
    assert "nobody asked" in daemon._reason


def test_events_that_wait_or_were_just_heard_keep_it(still: tuple[Daemon, Clock]) -> None:
    daemon, clock = still
    clock.now += 240 * 60
    events.append(daemon.home, events.record("Stop", {"session_id": "s"}))
    daemon._check_idle()
    assert daemon._reason == ""
    daemon.tailer.drain(clock.now)
    daemon._check_idle()
    assert daemon._reason == ""
    clock.now += 240 * 60
    daemon._check_idle()
    assert "nobody asked" in daemon._reason


def test_what_is_kept_for_a_time_only_is_removed(still: tuple[Daemon, Clock]) -> None:
    daemon, clock = still
    old = Path(daemon.home.recall, "2026-01-01.jsonl")
    old.parent.mkdir()
    old.write_text("{}\n")
    events.append(daemon.home, events.record("Stop", {"session_id": "s"}, now=clock.now - 2 * 86400))
    daemon._expire()
    daemon._rotate()
    assert not old.exists()
    assert Path(daemon.home.events + ".1").exists() and not Path(daemon.home.events).exists()


def test_of_the_environment_only_what_a_daemon_needs_can_be_read_from_outside(house: House) -> None:
    """Through the real entry, with settings that let it end before it needs a model."""
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "from ultan.service import __main__, start\n"
        "start.run = lambda home: print(open('/proc/self/environ').read().replace(chr(0), chr(10))) or 0\n"
        "__main__.main()\n"
    )
    script = Path(house.home.root, "entry.py")
    script.write_text(code)
    given = {
        "ANTHROPIC_API_KEY": "sk-ant-1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "AWS_SECRET_ACCESS_KEY": "aws-1",
        "OPENAI_API_KEY": "sk-2",
        "HTTPS_PROXY": "http://proxy:3128",
        "SSL_CERT_FILE": "/etc/certs",
    }
    command = [sys.executable, str(script), str(ROOT / "daemon")]
    if not Path("/proc/self/environ").exists():
        pytest.skip("the first environment can be read on Linux alone")

    def seen() -> dict[str, str]:
        done = subprocess.run(command, env=environment(**given), capture_output=True, timeout=60, check=True)
        return dict(line.split("=", 1) for line in done.stdout.decode().splitlines() if "=" in line)

    names = set(seen())
    assert {"HTTPS_PROXY", "SSL_CERT_FILE", "HOME", "AGENT_MEM_HOME"} <= names
    assert not names & {
        "ANTHROPIC_API_KEY",
        "CLAUDE_CODE_ENTRYPOINT",
        "AWS_SECRET_ACCESS_KEY",
        "OPENAI_API_KEY",
    }
    Path(house.home.config).write_text('auth = "env"\n')
    found = seen()
    assert found["ANTHROPIC_API_KEY"] == "sk-ant-1" and "OPENAI_API_KEY" not in found
