from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from filelock import FileLock as PackageLock
from filelock import Timeout
from hypothesis import given
from hypothesis import strategies as st
from ultan.wire import files
from ultan.wire.files import FileLock, FileTooLarge, LockTimeout, NotARegularFile


def test_a_written_file_holds_exactly_the_bytes_and_is_private(tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    old_umask = os.umask(0)
    try:
        files.write_atomic(str(target), b"one\r\n")
    finally:
        os.umask(old_umask)
    assert target.read_bytes() == b"one\r\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_name_as_long_as_a_name_can_be_is_written(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 252 + ".md")
    files.write_atomic(str(target), b"x")
    assert target.read_bytes() == b"x"


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_failure_at_any_step_keeps_the_old_file_and_leaves_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    target = tmp_path / "a.md"
    target.write_bytes(b"old")

    def fail(*_arguments: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        files.write_atomic(str(target), b"new")
    monkeypatch.undo()
    assert target.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["a.md", "user"]


def test_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"theirs")
    link = tmp_path / "link.md"
    link.symlink_to(outside)
    files.write_atomic(str(link), b"ours")
    assert outside.read_bytes() == b"theirs"
    assert link.read_bytes() == b"ours" and not link.is_symlink()


def test_reading_stops_at_the_limit_and_refuses_what_is_no_file(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"12345")
    assert files.read_limited(str(target), 5) == b"12345"
    with pytest.raises(FileTooLarge):
        files.read_limited(str(target), 4)
    with pytest.raises(NotARegularFile):
        files.read_limited(str(tmp_path), 4)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotARegularFile):
        files.read_limited(str(tmp_path / "pipe"), 4)
    with pytest.raises(FileNotFoundError):
        files.read_limited(str(tmp_path / "absent"), 4)


@given(data=st.binary(max_size=2000), limit=st.integers(0, 2000))
def test_limited_reading_gives_the_whole_file_or_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, limit: int
) -> None:
    target = tmp_path_factory.getbasetemp() / "limited"
    target.write_bytes(data)
    if len(data) <= limit:
        assert files.read_limited(str(target), limit) == data
    else:
        with pytest.raises(FileTooLarge):
            files.read_limited(str(target), limit)


def test_timestamps_are_utc_to_the_second() -> None:
    assert files.utc_now(1796092800.9) == "2026-12-01T02:40:00Z"
    assert len(files.utc_now()) == 20


def test_two_holders_exclude_each_other_and_the_loser_learns_who_holds_it(tmp_path: Path) -> None:
    path = str(tmp_path / "library.lock")
    with FileLock(path, holder="the daemon"), pytest.raises(LockTimeout) as caught:
        FileLock(path, timeout=0).acquire()
    assert caught.value.holder == "the daemon"
    assert "the daemon" in str(caught.value)
    with FileLock(path, timeout=0) as lock:
        assert lock.held
    assert not lock.held


def test_the_lock_and_the_filelock_package_exclude_each_other(tmp_path: Path) -> None:
    path = str(tmp_path / "library.lock")
    with FileLock(path), pytest.raises(Timeout):
        PackageLock(path, timeout=0).acquire()
    with PackageLock(path, timeout=0), pytest.raises(LockTimeout):
        FileLock(path, timeout=0).acquire()
    with FileLock(path, timeout=0):
        pass


def test_a_waiting_holder_gets_the_lock_when_it_is_released(tmp_path: Path) -> None:
    path = str(tmp_path / "library.lock")
    first = FileLock(path)
    first.acquire()
    got = threading.Event()

    def wait() -> None:
        with FileLock(path, timeout=30):
            got.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert not got.is_set()
    first.release()
    waiter.join(30)
    assert got.is_set()


def test_a_lock_file_removed_meanwhile_excludes_all_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "library.lock")
    first = FileLock(path)
    first.acquire()
    os.unlink(path)
    with FileLock(path, timeout=0):
        pass
    first.release()
    with FileLock(path, timeout=0), pytest.raises(LockTimeout):
        FileLock(path, timeout=0).acquire()


def test_a_dead_holder_frees_the_lock(tmp_path: Path) -> None:
    path = str(tmp_path / "library.lock")
    code = (
        "import os, sys; from ultan.wire.files import FileLock;"
        "FileLock(sys.argv[1]).acquire(); print('held', flush=True); os._exit(9)"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(files.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code, path], env=environ, capture_output=True, timeout=60)
    assert done.stdout == b"held\n"
    with FileLock(path, timeout=0):
        pass


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    outside.write_bytes(b"kept")
    (tmp_path / "library.lock").symlink_to(outside)
    with pytest.raises(OSError):
        FileLock(str(tmp_path / "library.lock"), timeout=0).acquire()
    assert outside.read_bytes() == b"kept"
