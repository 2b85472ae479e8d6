"""What the doctor finds, and that it says how to put it right."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import StubRuntime
from ultan.library import config
from ultan.service.checks import capture, daemon, install, library, place
from ultan.service.checks.finding import Finding, ago, timestamp
from ultan.service.condition import look
from ultan.service.doctor import examine, healthy
from ultan.wire import errors, events
from ultan.wire.files import FileLock, utc_now
from ultan.wire.home import Home
from ultan.wire.version import VERSION

NOW = 1_796_100_000.0


def of(found: Iterator[Finding] | list[Finding], level: str = "") -> list[Finding]:
    return [finding for finding in found if not level or finding.level == level]


def say(home: Home, state: str, **more: Any) -> None:
    """Write a daemon.pid as a daemon does."""
    home.ensure()
    values = {"pid": 4242, "version": VERSION, "state": state, "since": utc_now(NOW - 180), **more}
    Path(home.daemon_pid).write_text(json.dumps(values))


@pytest.fixture
def answering(home: Home) -> Iterator[dict[str, Any]]:
    """Somebody who gives this answer on the home's socket, as often as asked."""
    answer: dict[str, Any] = {"ok": True, "state": "ready", "version": VERSION}
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(home.socket)
    listener.listen(8)

    def serve() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                peer.recv(65536)
                if answer:
                    peer.sendall(json.dumps(answer).encode() + b"\n")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield answer
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)


def test_a_daemon_that_answers_is_ready(home: Home, answering: dict[str, Any]) -> None:
    say(home, "ready")
    found = look(home, NOW)
    assert (found.state, found.pid, found.version) == ("ready", 4242, VERSION)
    assert [f.level for f in daemon.check(home, NOW)] == ["ok"]


def test_a_daemon_of_another_version_is_a_warning(home: Home, answering: dict[str, Any]) -> None:
    answering["version"] = "0.0.1"
    found = of(daemon.check(home, NOW), "warning")
    assert "0.0.1" in found[0].message and "ultan daemon stop" in found[0].fix


def test_a_daemon_that_warms_up_is_starting(home: Home, answering: dict[str, Any]) -> None:
    answering.update(ok=False, error={"type": "warming", "message": ""})
    assert look(home, NOW).state == "starting"


def test_a_daemon_whose_start_failed_is_not_ready_while_it_ends(
    home: Home, answering: dict[str, Any]
) -> None:
    answering.update(state="failed", error="config.toml is not valid")
    found = look(home, NOW)
    assert (found.state, found.reason) == ("failed", "config.toml is not valid")


def test_a_socket_that_answers_nonsense_is_unresponsive(home: Home, answering: dict[str, Any]) -> None:
    answering.clear()
    assert look(home, NOW, seconds=0.3).state == "unresponsive"


def test_a_daemon_that_never_was_is_down_and_no_fault(home: Home) -> None:
    found = list(daemon.check(home, NOW))
    assert [(f.level, "next prompt" in f.message) for f in found] == [("note", True)]


@pytest.mark.parametrize(
    ("state", "age", "seen"),
    [("starting", 60, "starting"), ("starting", 5000, "unresponsive"), ("ready", 60, "unresponsive")],
)
def test_a_held_lock_without_an_answer_is_told_by_the_last_words(
    home: Home, state: str, age: float, seen: str
) -> None:
    say(home, state, since=utc_now(NOW - age))
    with FileLock(home.daemon_lock):
        found = look(home, NOW)
        assert found.state == seen
        if seen == "unresponsive":
            assert of(daemon.check(home, NOW), "error")


def test_a_start_that_failed_says_why_and_since_when(home: Home) -> None:
    say(home, "failed", error="The socket cannot be made.")
    found = next(iter(daemon.check(home, NOW)))
    assert (
        found.level == "error" and "3 minutes ago" in found.message and "The socket cannot" in found.message
    )
    assert home.daemon_log in found.fix


def test_a_daemon_that_was_killed_is_told(home: Home) -> None:
    say(home, "ready")
    assert "killed or crashed" in next(iter(daemon.check(home, NOW))).message
    say(home, "stopped")
    assert "killed" not in next(iter(daemon.check(home, NOW))).message


def test_no_runtime_is_a_warning_that_says_how_to_install(home: Home) -> None:
    found = of(install.check(home, dict(os.environ)), "warning")
    assert "no runtime" in found[0].message and "./tools/ultan setup" in found[0].fix


def test_an_installer_that_works_or_failed_is_quoted(home: Home) -> None:
    Path(home.runtime).mkdir(parents=True)
    state = {"phase": "failed", "message": "Installing packages", "error": "no space left"}
    Path(home.runtime, "state.json").write_text(json.dumps(state))
    assert "no space left" in of(install.check(home, dict(os.environ)), "warning")[0].message


@pytest.mark.parametrize(("version", "level"), [(VERSION, "ok"), ("99.0.0", "ok"), ("0.0.1", "warning")])
def test_an_older_runtime_is_a_warning(home: Home, version: str, level: str) -> None:
    StubRuntime(Path(home.runtime), version)
    assert next(iter(install.check(home, {}))).level == level


def test_the_last_event_tells_how_fresh_the_capture_is(home: Home) -> None:
    assert "no session" in of(capture.check(home, NOW), "note")[0].message
    events.append(home, {"v": 1, "event": "Stop", "session_id": "s", "ts": utc_now(NOW - 7300)})
    assert "2 hours ago (Stop)" in of(capture.check(home, NOW), "ok")[0].message


def test_complaints_of_hooks_are_counted_by_kind_with_the_last_reason(home: Home) -> None:
    errors.note(home, "Stop", "input", "an old one", NOW - 2 * 86400)
    for number in range(3):
        errors.note(home, "Stop", "error", f"number {number}", NOW - 60)
    errors.note(home, "UserPromptSubmit", "daemon", "no answer", NOW - 30)
    found = of(capture.check(home, NOW), "warning")
    assert len(found) == 2
    assert "no answer" in found[0].message
    assert "3 times" in found[1].message and "number 2" in found[1].message


def test_settings_that_the_hooks_do_not_know_are_an_error(home: Home) -> None:
    Path(home.config).write_text("opt_in = true\n")
    assert "record nothing" in of(capture.check(home, NOW), "error")[0].message
    config.derive_hook_config(home, config.load(home))
    assert not of(capture.check(home, NOW), "error")


def test_a_mistake_in_the_settings_is_named(home: Home) -> None:
    Path(home.config).write_text("optin = true\n")
    found = of(capture.check(home, NOW), "error")[0]
    assert "optin" in found.message and "opt_in" in found.fix


def test_being_off_is_no_fault(home: Home) -> None:
    Path(home.config).write_text('daemon = "off"\n')
    config.derive_hook_config(home, config.load(home))
    assert "ultan on" in of(capture.check(home, NOW), "note")[0].fix
    assert "off" in next(iter(daemon.check(home, NOW))).message


def test_broken_files_are_shown_with_path_and_line(home: Home) -> None:
    folder = Path(home.knowledge, "global")
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}.md").write_text("---\ntitle: x\n---\nsee [[nowhere]]\n")
    found = of(library.check(home, NOW), "warning")
    assert [f.message for f in found] == ["global/a.md:4: there is no page nowhere and 1 more (broken-link)"]
    assert "ultan lint" in found[0].fix


def test_a_home_of_a_newer_version_is_an_error_that_names_it(home: Home) -> None:
    Path(home.home_json).write_text(json.dumps({"format": 99, "written_by": "7.0.0"}))
    assert "7.0.0" in of(library.check(home, NOW), "error")[0].message


@pytest.mark.parametrize(
    ("name", "kernel", "root", "level"),
    [
        ("linux", "Linux version 6.1", "/home/ada/.agent-mem", "ok"),
        ("darwin", "", "/Users/ada/.agent-mem", "ok"),
        ("linux", "Linux 5.15.90.1-microsoft-standard-WSL2", "/home/ada/.agent-mem", "ok"),
        ("linux", "Linux 5.15.90.1-microsoft-standard-WSL2", "/mnt/c/Users/ada/.agent-mem", "error"),
        ("linux", "Linux version 6.1", "/mnt/c/data", "ok"),
        ("win32", "", "C:\\", "error"),
        ("freebsd14", "", "/home/ada/.agent-mem", "note"),
    ],
)
def test_the_platform_and_the_place_of_the_home_are_judged(
    name: str, kernel: str, root: str, level: str
) -> None:
    assert place.platform(name, kernel, root).level == level


def test_a_home_that_others_can_read_is_a_warning(home: Home) -> None:
    assert [f.level for f in place.modes(home)] == ["ok"]
    Path(home.root).chmod(0o755)
    found = list(place.modes(home))
    assert (found[0].level, found[0].fix) == ("warning", f"chmod 700 {home.root}")


def test_a_full_disk_is_a_warning_also_before_the_home_exists(tmp_path: Path) -> None:
    assert [f.level for f in place.space(Home(str(tmp_path / "a" / "b")), least=1 << 62)] == ["warning"]


def test_a_check_that_breaks_is_a_finding_and_hides_no_other(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(home: Home, now: float) -> Iterator[Finding]:
        yield Finding("capture", "ok", "before")
        raise RuntimeError("oops")

    monkeypatch.setattr(capture, "check", broken)
    found = examine(home, os.environ, NOW)
    assert next(f.message for f in found if f.area == "capture") == "before"
    assert any("oops" in f.message and f.level == "error" for f in found)
    assert any(f.area == "library" for f in found)


def test_a_library_that_is_not_there_for_now_is_no_new_library(home: Home) -> None:
    assert [f.level for f in library.check(home, NOW)] == ["note"]
    Path(home.knowledge).symlink_to("/nowhere/vault")
    (found,) = library.check(home, NOW)
    assert found.level == "error" and "leads nowhere" in found.message
    Path(home.knowledge).unlink()
    Path(home.knowledge).write_text("")
    assert "is no folder" in of(library.check(home, NOW), "error")[0].message


def test_notes_that_wait_are_counted(home: Home) -> None:
    Path(home.knowledge).mkdir()
    folder = Path(home.spool, "remember")
    folder.mkdir(parents=True)
    for number, words in ((1, "1 note waits"), (2, "2 notes wait")):
        (folder / f"{number}.json").write_text("{}")
        (found,) = of(library.check(home, NOW), "note")
        assert words in found.message and str(folder) in found.fix


def test_only_warnings_and_errors_are_unhealthy() -> None:
    assert healthy([Finding("home", "ok", ""), Finding("home", "note", "")])
    assert not healthy([Finding("home", "warning", "")])


def test_looking_changes_nothing(home: Home) -> None:
    before = sorted(path.name for path in Path(home.root).rglob("*"))
    examine(home, os.environ, NOW)
    assert sorted(path.name for path in Path(home.root).rglob("*")) == before


@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "less than a minute"), (60, "1 minute"), (7300, "2 hours"), (200000, "2 days")]
)
def test_durations_are_told_as_people_do(seconds: float, words: str) -> None:
    assert ago(seconds) == words


def test_a_timestamp_is_read_or_is_none() -> None:
    assert timestamp(utc_now(NOW)) == NOW
    assert timestamp("yesterday") is None and timestamp("") is None
