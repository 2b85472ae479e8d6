"""Files that are whole or not there: atomic writes, limited reads, the lock, the clock.

Standard library only and cheap to import: each hook pays for it.
"""

from __future__ import annotations

import errno
import os
import stat
import time

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
# Temporary names are independent of the target's, which may already be as long as a name can be.
TEMPORARY_PREFIX = ".ultan-"
TEMPORARY_SUFFIX = ".tmp"
_POLL_SECONDS = (0.005, 0.05)
_CONTENDED = frozenset((errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK))
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class FileTooLarge(OSError):
    """A file holds more bytes than its reader allows."""


class NotARegularFile(OSError):
    """A path that should be a file is a folder, a pipe, a socket or a device."""


class LockTimeout(OSError):
    """A lock was not free in time. Fields: path, seconds, holder (what the holder wrote, or "")."""

    def __init__(self, path: str, seconds: float, holder: str) -> None:
        by = " It is held by %s." % holder if holder else ""
        super().__init__("%s was not free within %g s.%s" % (path, seconds, by))
        self.path = path
        self.seconds = seconds
        self.holder = holder


def utc_now(now: float | None = None) -> str:
    """`now` (seconds since the epoch; default: the clock) as UTC to the second: 2026-12-01T02:40:00Z."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))


def read_limited(path: str, limit: int) -> bytes:
    """All bytes of the regular file `path`, at most `limit`.

    Never blocks on a pipe. Raises FileTooLarge, NotARegularFile or another OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotARegularFile(errno.EINVAL, "not a regular file", path)
        parts: list[bytes] = []
        left = limit + 1
        while left > 0:
            part = os.read(descriptor, min(left, 1 << 20))
            if not part:
                return b"".join(parts)
            parts.append(part)
            left -= len(part)
    finally:
        os.close(descriptor)
    raise FileTooLarge(errno.EFBIG, "more than %d bytes" % limit, path)


def write_atomic(path: str, data: bytes, mode: int = PRIVATE_FILE) -> None:
    """Replace or create `path` with `data`, whole or not at all, synced to the disk.

    The folder must exist. A link at `path` is replaced, never written through. `mode` is set exactly,
    whatever the umask. Raises OSError; the old content is then still there.
    """
    folder = os.path.dirname(path) or "."
    temporary = os.path.join(folder, TEMPORARY_PREFIX + os.urandom(8).hex() + TEMPORARY_SUFFIX)
    try:
        _write_synced(temporary, data, mode)
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise
    sync_folder(folder)


def _write_synced(path: str, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | _NOFOLLOW
    descriptor = os.open(path, flags, mode)
    try:
        os.fchmod(descriptor, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: str) -> None:
    """Make the names in a folder durable; file systems that cannot sync a folder are left alone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def is_temporary(name: str) -> bool:
    """Whether a file name is one that write_atomic uses before the file is whole."""
    return name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX)


def sweep(folder: str) -> None:
    """Remove files that write_atomic left half-written in a crash. Only where nobody can be writing."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if is_temporary(name):
            try:
                os.unlink(os.path.join(folder, name))
            except OSError:
                pass


class FileLock:
    """An exclusive lock between processes and threads, by flock; the file stays when it is released.

    Excludes the filelock package's FileLock on the same path. Not reentrant. Use as a context manager:
    waits up to `timeout` seconds (0: one try) and raises LockTimeout. The holder's words (default: the
    process id) are left in the file for the message of those who wait; only the lock itself decides.
    """

    __slots__ = ("_descriptor", "holder", "path", "timeout")

    def __init__(self, path: str, timeout: float = 10.0, holder: str = "") -> None:
        self.path = path
        self.timeout = timeout
        self.holder = holder
        self._descriptor = -1

    @property
    def held(self) -> bool:
        return self._descriptor >= 0

    def acquire(self) -> None:
        """Wait for the lock. Raises LockTimeout, or OSError where the file cannot be opened."""
        if self.held:
            raise RuntimeError("this FileLock is already held: %s" % self.path)
        deadline = time.monotonic() + self.timeout
        pause = _POLL_SECONDS[0]
        while not self._try():
            left = deadline - time.monotonic()
            if left <= 0:
                raise LockTimeout(self.path, self.timeout, read_holder(self.path))
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, _POLL_SECONDS[1])

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            _leave_words(descriptor, "")
            os.close(descriptor)

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.release()

    def _try(self) -> bool:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | _NOFOLLOW, PRIVATE_FILE)
        try:
            # Somebody may remove the file between open and lock: that lock would exclude nobody.
            if _lock(descriptor) and _same_file(descriptor, self.path):
                self._descriptor = descriptor
        finally:
            if not self.held:
                os.close(descriptor)
        if self.held:
            _leave_words(descriptor, self.holder or "process %d" % os.getpid())
        return self.held


def _lock(descriptor: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _CONTENDED:
            return False
        raise
    return True


def _leave_words(descriptor: int, words: str) -> None:
    """Say who holds the lock; a full disk is no reason not to hold it."""
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, words.encode("utf-8", "replace"), 0)
    except OSError:
        pass


def read_holder(path: str) -> str:
    """What the present holder of a lock file wrote into it, one short line, or ""."""
    try:
        text = read_limited(path, 4096).decode("utf-8", "replace")
    except OSError:
        return ""
    return "".join(c for c in text.strip() if c.isprintable())[:120]


def _same_file(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False
