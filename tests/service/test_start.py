"""One daemon a home: the lock first, then the socket, and no harm to what lives."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import lines
from ultan.service import listening, start
from ultan.wire import home as homes
from ultan.wire import runtime
from ultan.wire.files import FileLock
from ultan.wire.home import Home

LONG = "srv-www-611f7cf9/worktrees/issue-1505-a-rather-long-branch-name/devenv-state/名前付きの長いフォルダ"


def state(home: Home) -> dict[str, object]:
    return dict(json.loads(Path(home.daemon_pid).read_text()))


def log_lines(home: Home) -> list[str]:
    return Path(home.daemon_log).read_text().splitlines()


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of sockets whose home is too long, in the test's own folder."""
    folder = Path("/tmp") / f"ut-{os.getpid()}-{os.urandom(3).hex()}"
    monkeypatch.setattr(homes, "short_folder", lambda: str(folder))
    yield folder
    if folder.is_dir() and not folder.is_symlink():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    else:
        folder.unlink(missing_ok=True)


@pytest.fixture
def long_home(tmp_path: Path) -> Home:
    home = Home(str(tmp_path / LONG / ".agent-mem"))
    Path(home.root).mkdir(parents=True)
    assert len(os.fsencode(home.path("priming.sock"))) > 108
    return home


def test_a_second_daemon_ends_at_once_and_leaves_everything_as_it_is(home: Home) -> None:
    with FileLock(home.daemon_lock):
        assert start.run(home) == 0
    assert not Path(home.daemon_pid).exists() and not Path(home.daemon_log).exists()


def test_a_hook_that_just_looks_at_the_lock_does_not_keep_the_daemon_from_starting(home: Home) -> None:
    lock = start.claim(home)
    assert lock is not None and runtime.daemon_holds_lock(home)
    lock.release()
    descriptor = os.open(home.daemon_lock, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    os.close(descriptor)
    again = start.claim(home)
    assert again is not None
    again.release()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_where_no_lock_can_be_had_there_is_no_daemon_and_one_clear_line(
    home: Home, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert start.run(home) == 1
    (line,) = log_lines(home)
    assert "daemon.lock cannot be locked" in line and "AGENT_MEM_HOME" in line
    assert state(home)["state"] == "failed" and os.strerror(code) in str(state(home)["error"])
    assert not Path(home.socket).exists()
    assert runtime.failed_lately(
        home, os.stat(home.daemon_pid).st_mtime
    )  # so that hooks do not try it at once


def test_a_socket_that_a_dead_daemon_left_is_replaced(home: Home) -> None:
    old = socket.socket(socket.AF_UNIX)
    old.bind(home.socket)
    old.close()
    listener = listening.listen(home)
    assert stat.S_IMODE(os.stat(home.socket).st_mode) == 0o600
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(home.socket)
    listener.close()


@pytest.fixture
def stranger(home: Home) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(home.socket)
    listener.listen(1)
    yield listener
    listener.close()


def test_a_socket_that_answers_is_never_removed(home: Home, stranger: socket.socket) -> None:
    inode = os.stat(home.socket).st_ino
    assert start.run(home) == 1
    assert os.stat(home.socket).st_ino == inode
    assert "Another process answers" in str(state(home)["error"])
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(home.socket)


def test_a_stranger_that_is_too_busy_to_accept_is_not_removed_either(
    home: Home, stranger: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "PROBE_SECONDS", 0.05)
    waiting = []
    for _ in range(4):
        peer = socket.socket(socket.AF_UNIX)
        peer.setblocking(False)
        peer.connect_ex(home.socket)
        waiting.append(peer)
    with pytest.raises(listening.CannotStart, match="Another process answers"):
        listening.listen(home)
    assert Path(home.socket).exists()
    for peer in waiting:
        peer.close()


def test_what_is_no_socket_is_left_alone(home: Home) -> None:
    Path(home.socket).write_text("mine")
    assert start.run(home) == 1
    assert Path(home.socket).read_text() == "mine"
    assert "is in the way" in log_lines(home)[0]


def test_a_home_whose_path_is_too_long_has_its_socket_in_a_short_private_place(
    long_home: Home, short: Path
) -> None:
    listener = listening.listen(long_home)
    assert Path(long_home.socket).parent == short
    assert stat.S_IMODE(short.stat().st_mode) == 0o700
    assert long_home.socket_folder_is_safe()
    listener.close()


def test_two_long_homes_with_the_same_beginning_have_two_sockets(long_home: Home, short: Path) -> None:
    other = Home(long_home.root + "-2")
    assert os.fsencode(other.root)[:100] == os.fsencode(long_home.root)[:100]
    listeners = [listening.listen(long_home), listening.listen(other)]
    assert long_home.socket != other.socket
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize("trouble", ["open to others", "a link", "a file"])
def test_a_short_place_that_is_not_private_is_refused_in_one_clear_line(
    long_home: Home, short: Path, tmp_path: Path, trouble: str
) -> None:
    if trouble == "open to others":
        short.mkdir(mode=0o700)
        short.chmod(0o755)
    elif trouble == "a link":
        short.symlink_to(tmp_path)
    else:
        short.touch()
    assert start.run(long_home) == 1
    (line,) = log_lines(long_home)
    assert str(short) in line and "100 bytes" in line and long_home.path("priming.sock") in line
    assert state(long_home)["state"] == "failed"
    assert state(long_home)["socket"] == long_home.socket
    assert not Path(long_home.socket).exists()


def test_a_home_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    assert start.run(Home(str(blocker / "home"))) == 1


def test_only_our_own_socket_is_taken_away_at_the_end(home: Home) -> None:
    listener = listening.listen(home)
    inode = os.stat(home.socket).st_ino
    listening.unlink_own(home.socket, inode + 1)
    assert Path(home.socket).exists()
    listening.unlink_own(home.socket, inode)
    assert not Path(home.socket).exists()
    listener.close()
    assert lines(home.events) == []
