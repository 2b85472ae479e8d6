"""Where the installed copy of Ultan is, and how a hook starts it without waiting for it."""

from __future__ import annotations

import json
import os
import signal

from ultan.wire.environment import chosen
from ultan.wire.files import read_limited
from ultan.wire.home import Home, named_place
from ultan.wire.version import VERSION, newer

_LIMIT = 64 * 1024
RETRY_SECONDS = 60.0
# How long a daemon that was just started may take to lock its home before another one is started.
START_SECONDS = 2.0


class Runtime:
    """An installed copy: `python` runs `code`/boot.py, which is `version`."""

    __slots__ = ("code", "python", "version")

    def __init__(self, version: str, code: str, python: str) -> None:
        self.version = version
        self.code = code
        self.python = python

    @property
    def boot(self) -> str:
        return os.path.join(self.code, "boot.py")


def folder(home: Home, environ: os._Environ[str] | dict[str, str]) -> str:
    """The folder of runtimes: ULTAN_RUNTIME, else the one in the home."""
    named = environ.get("ULTAN_RUNTIME")
    return named_place(named, environ) if named else home.runtime


def find(home: Home, environ: os._Environ[str] | dict[str, str]) -> Runtime | None:
    """The current runtime, or None where none is installed whole."""
    try:
        values = json.loads(read_limited(os.path.join(folder(home, environ), "current.json"), _LIMIT))
        found = Runtime(str(values["version"]), str(values["code"]), str(values["python"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if not os.access(found.python, os.X_OK) or not os.path.isfile(found.boot):
        return None
    return found


def is_older(version: str) -> bool:
    """Whether an installed version is older than this code; what is no version counts as older."""
    return newer(VERSION, than=version)


def daemon_holds_lock(home: Home) -> bool:
    """Whether a process holds the daemon's lock: starting, ready or stuck, it is left alone."""
    import fcntl

    try:
        descriptor = os.open(home.daemon_lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def failed_lately(home: Home, now: float) -> bool:
    """Whether the last start failed in this minute: a broken install is not tried at each prompt.

    Settings that were changed since may be what was wrong, and are tried at once.
    """
    try:
        values = json.loads(read_limited(home.daemon_pid, _LIMIT))
        when = os.stat(home.daemon_pid).st_mtime
        if values.get("state") != "failed" or now - when >= RETRY_SECONDS:
            return False
    except (OSError, ValueError, AttributeError):
        return False
    try:
        return os.stat(home.config).st_mtime <= when
    except OSError:
        return True


def start_daemon(
    home: Home, environ: os._Environ[str] | dict[str, str], now: float, auth: bool = False
) -> bool:
    """Start the daemon detached, unless one lives or cannot; True when a start was made.

    auth: hand on how the person's own model access is configured (`auth = "env"` in the settings).
    """
    runtime = find(home, environ)
    if runtime is None or failed_lately(home, now):
        return False
    home.ensure()
    if not _claim_start(home, now):
        return False
    env = chosen(environ, auth=auth)
    env["AGENT_MEM_HOME"] = home.root
    detach([runtime.python, "-I", runtime.boot, "daemon", "run"], env, home.daemon_log)
    return True


def _claim_start(home: Home, now: float) -> bool:
    """Whether this process is to start the daemon: of several hooks that find none, one is.

    The others also leave the daemon's lock alone, which looking at it takes for a moment.
    """
    import fcntl

    try:
        descriptor = os.open(home.path("daemon.starting"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if abs(now - _number(os.pread(descriptor, 40, 0))) < START_SECONDS or daemon_holds_lock(home):
            return False
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%.3f" % now, 0)
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def start_installer(
    home: Home, plugin_root: str, environ: os._Environ[str] | dict[str, str], now: float
) -> bool:
    """Start the launcher's installer in the background, unless one tried within the last minute."""
    launcher = os.path.join(plugin_root, "tools", "ultan")
    if not os.path.isfile(launcher):
        return False
    state = os.path.join(folder(home, environ), "state.json")
    try:
        if now - os.stat(state).st_mtime < RETRY_SECONDS:
            return False
    except OSError:
        pass
    home.ensure()
    env = chosen(environ, install=True)
    env["AGENT_MEM_HOME"] = home.root
    detach(["/bin/sh", launcher, "setup", "--background"], env, home.daemon_log)
    return True


def detach(argv: list[str], env: dict[str, str], log: str) -> None:
    """Run `argv` in a session of its own, with no descriptor of ours, output appended to `log`.

    The client waits until every copy of a hook's output pipe is closed, so none may be inherited.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        try:
            out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError:
            out = null
        os.dup2(null, 0)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.closerange(3, 256)
        os.chdir("/")
        os.umask(0o077)
        signal.signal(
            signal.SIGPIPE, signal.SIG_DFL
        )  # Python ignores it, and a program started by it would too
        os.execve(argv[0], argv, env)
    except BaseException:  # nothing of this copy may ever return into the hook
        os._exit(127)
