from __future__ import annotations

import errno
import fcntl
import json
import os
from pathlib import Path

import pytest
from support import StubRuntime
from ultan.wire import runtime
from ultan.wire.files import FileLock
from ultan.wire.home import Home
from ultan.wire.version import VERSION

NOW = 1_800_000_000.0


@pytest.fixture
def stub(home: Home) -> StubRuntime:
    return StubRuntime(Path(home.runtime))


@pytest.fixture
def detached(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have been started."""
    commands: list[list[str]] = []
    monkeypatch.setattr(runtime, "detach", lambda argv, env, log: commands.append(argv))
    return commands


def test_a_whole_copy_is_found_in_the_home_or_where_the_environment_says(home: Home, tmp_path: Path) -> None:
    assert runtime.find(home, {}) is None
    StubRuntime(Path(home.runtime), "1.2.3")
    StubRuntime(tmp_path / "other", "4.5.6")
    found = runtime.find(home, {})
    assert found is not None and found.version == "1.2.3" and found.boot.endswith("/code/boot.py")
    other = runtime.find(home, {"ULTAN_RUNTIME": str(tmp_path / "other")})
    assert other is not None and other.version == "4.5.6"


@pytest.mark.parametrize("named", ["runtimes/mine", "~/runtimes/mine", "/home/dev/runtimes/mine"])
def test_a_runtime_that_is_named_stands_at_one_place_whatever_folder_a_hook_runs_in(
    home: Home, named: str
) -> None:
    assert runtime.folder(home, {"HOME": "/home/dev", "ULTAN_RUNTIME": named}) == "/home/dev/runtimes/mine"


@pytest.mark.parametrize("broken", ["boot", "python", "mode"])
def test_a_copy_that_is_not_whole_is_none(home: Home, stub: StubRuntime, broken: str) -> None:
    if broken == "boot":
        (stub.folder / "code" / "boot.py").unlink()
    elif broken == "python":
        (stub.folder / "python").unlink()
    else:
        (stub.folder / "python").chmod(0o600)
        if os.access(stub.folder / "python", os.X_OK):
            pytest.skip("this user may run anything")
    assert runtime.find(home, {}) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", '{"version": "1"}', "[" * 5000])
def test_a_broken_note_about_the_copy_is_none(home: Home, text: str) -> None:
    os.mkdir(home.runtime)
    Path(home.runtime, "current.json").write_text(text)
    assert runtime.find(home, {}) is None


@pytest.mark.parametrize(
    ("version", "older"),
    [
        ("0.0.9", True),
        ("0", True),
        ("", True),
        ("x", True),
        ("²", True),
        (VERSION, False),
        ("99", False),
        (VERSION + "+local", False),
        ("0.10.0", False),
    ],
)
def test_versions_are_compared_by_number(version: str, older: bool) -> None:
    assert runtime.is_older(version) is older


def test_a_daemon_is_started_once_and_again_only_when_it_had_time(
    home: Home, stub: StubRuntime, detached: list[list[str]]
) -> None:
    assert runtime.start_daemon(home, {}, NOW)
    assert not runtime.start_daemon(home, {}, NOW + 0.5)
    assert not runtime.start_daemon(home, {}, NOW - 0.5)  # a clock that was set back
    assert runtime.start_daemon(home, {}, NOW + runtime.START_SECONDS)
    assert len(detached) == 2
    assert detached[0] == [
        str(stub.folder / "python"),
        "-I",
        str(stub.folder / "code" / "boot.py"),
        "daemon",
        "run",
    ]


def test_while_a_process_holds_the_lock_no_daemon_is_started(
    home: Home, stub: StubRuntime, detached: list[list[str]]
) -> None:
    with FileLock(home.daemon_lock):
        assert runtime.daemon_holds_lock(home)
        assert not runtime.start_daemon(home, {}, NOW)
    assert not runtime.daemon_holds_lock(home)
    assert runtime.start_daemon(home, {}, NOW)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_where_nothing_can_be_locked_no_daemon_is_started(
    home: Home, stub: StubRuntime, detached: list[list[str]], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert not runtime.start_daemon(home, {}, NOW)
    assert detached == []


def test_a_start_that_failed_within_the_minute_is_not_repeated(
    home: Home, stub: StubRuntime, detached: list[list[str]]
) -> None:
    Path(home.daemon_pid).write_text(json.dumps({"state": "failed"}))
    os.utime(home.daemon_pid, (NOW, NOW))
    assert not runtime.start_daemon(home, {}, NOW + 59)
    assert runtime.start_daemon(home, {}, NOW + 61)
    Path(home.daemon_pid).write_text("[]")
    assert runtime.start_daemon(home, {}, NOW + 70)


def test_after_settings_were_changed_a_failed_start_is_tried_again_at_once(home: Home) -> None:
    Path(home.config).write_text("[[[")
    Path(home.daemon_pid).write_text(json.dumps({"state": "failed"}))
    failed = os.stat(home.daemon_pid).st_mtime
    os.utime(home.config, (failed - 5, failed - 5))
    assert runtime.failed_lately(home, failed + 1)
    os.utime(home.config, (failed + 1, failed + 1))
    assert not runtime.failed_lately(home, failed + 2)


def test_without_a_copy_nothing_is_started_or_made(home: Home, detached: list[list[str]]) -> None:
    assert not runtime.start_daemon(home, {}, NOW)
    assert os.listdir(home.root) == [] and detached == []


def test_the_installer_is_started_from_the_plugin_and_not_twice_a_minute(
    home: Home, tmp_path: Path, detached: list[list[str]]
) -> None:
    assert not runtime.start_installer(home, str(tmp_path), {}, NOW)
    launcher = tmp_path / "tools" / "ultan"
    launcher.parent.mkdir()
    launcher.touch()
    assert runtime.start_installer(home, str(tmp_path), {}, NOW)
    assert detached == [["/bin/sh", str(launcher), "setup", "--background"]]
    os.mkdir(home.runtime)
    state = Path(home.runtime, "state.json")
    state.touch()
    os.utime(state, (NOW, NOW))
    assert not runtime.start_installer(home, str(tmp_path), {}, NOW + 59)
    assert runtime.start_installer(home, str(tmp_path), {}, NOW + 61)
