"""Where the memories live: every path below the home, in one place.

Standard library only and cheap to import: each hook pays for it.
"""

from __future__ import annotations

import os
import stat

# sun_path holds 108 bytes on Linux and 104 on macOS, the closing NUL included; one limit for both
# keeps a home that is shared between machines at the same place.
SOCKET_PATH_LIMIT = 100
PRIVATE_FOLDER = 0o700


class UnsafeFolder(OSError):
    """A folder that should be private to this user is a link, is somebody else's or is open to others."""


def named_place(named: str, environ: os._Environ[str] | dict[str, str]) -> str:
    """The absolute path that a variable names; `~` and a relative path start at the person's own folder.

    A relative path would be another place in every folder that a session is started in.
    """
    user = environ.get("HOME") or os.path.expanduser("~")
    if named.split("/")[0] == "~":
        named = user + named[1:]
    return os.path.abspath(os.path.join(user, named))


class Home:
    """The paths below one memory home; building one touches no disk."""

    __slots__ = ("root",)

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)

    @classmethod
    def resolve(cls, environ: os._Environ[str] | dict[str, str] | None = None) -> Home:
        """The home that the environment names: AGENT_MEM_HOME, else ~/.agent-mem."""
        env = os.environ if environ is None else environ
        return cls(named_place(env.get("AGENT_MEM_HOME") or ".agent-mem", env))

    def path(self, *parts: str) -> str:
        return os.path.join(self.root, *parts)

    def ensure(self) -> None:
        """Make the root, private to the user. Raises OSError where that cannot be."""
        os.makedirs(self.root, mode=PRIVATE_FOLDER, exist_ok=True)
        if stat.S_IMODE(os.stat(self.root).st_mode) & 0o077:
            os.chmod(self.root, PRIVATE_FOLDER)

    @property
    def knowledge(self) -> str:
        return self.path("knowledge")

    @property
    def library_lock(self) -> str:
        return self.path("library.lock")

    @property
    def config(self) -> str:
        return self.path("config.toml")

    @property
    def hook_config(self) -> str:
        return self.path("hook-config.json")

    @property
    def home_json(self) -> str:
        return self.path("home.json")

    @property
    def events(self) -> str:
        return self.path("events.jsonl")

    @property
    def events_lock(self) -> str:
        return self.path("events.lock")

    @property
    def hook_errors(self) -> str:
        return self.path("hook-errors.jsonl")

    @property
    def spool(self) -> str:
        return self.path("spool")

    @property
    def journal(self) -> str:
        return self.path("journal")

    @property
    def recall(self) -> str:
        return self.path("recall")

    @property
    def nudges(self) -> str:
        return self.path("pending-nudges.md")

    @property
    def catalog(self) -> str:
        return self.path("catalog.json")

    @property
    def triggers(self) -> str:
        return self.path("triggers.json")

    @property
    def bm25_index(self) -> str:
        return self.path(".bm25.idx")

    @property
    def embeddings_index(self) -> str:
        return self.path(".embeddings.idx")

    @property
    def tokens_index(self) -> str:
        return self.path(".tokens.idx")

    @property
    def gate(self) -> str:
        return self.path("gate.json")

    @property
    def daemon_pid(self) -> str:
        return self.path("daemon.pid")

    @property
    def daemon_lock(self) -> str:
        return self.path("daemon.lock")

    @property
    def daemon_log(self) -> str:
        return self.path("daemon.log")

    @property
    def daemon_offset(self) -> str:
        return self.path("daemon.offset.json")

    @property
    def runtime(self) -> str:
        return self.path("runtime")

    @property
    def models(self) -> str:
        return self.path("models")

    @property
    def socket(self) -> str:
        """The daemon's socket: in the home, or, where that path is too long, in a short private folder.

        The short place depends on the home alone, never on the environment (TMPDIR and XDG_RUNTIME_DIR
        differ between a desktop launch and a terminal), so that hook and daemon always agree.
        """
        wanted = self.path("priming.sock")
        if len(os.fsencode(wanted)) <= SOCKET_PATH_LIMIT:
            return wanted
        import hashlib

        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:24]
        return os.path.join(short_folder(), digest + ".sock")

    def socket_folder_is_safe(self) -> bool:
        """Whether the socket's folder is this user's own, not a link, and closed to others."""
        folder = os.path.dirname(self.socket)
        if folder == self.root:
            return True
        try:
            check_private(folder)
        except OSError:
            return False
        return True


def short_folder() -> str:
    """The folder of sockets whose home path is too long."""
    return "/tmp/ultan-%d" % os.getuid()


def check_private(folder: str) -> None:
    """Raise UnsafeFolder unless `folder` is a real folder of this user with mode 0700."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafeFolder("%s is not a folder (or is a link); remove it" % folder)
    if status.st_uid != os.getuid():
        raise UnsafeFolder("%s belongs to another user" % folder)
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise UnsafeFolder("%s is open to other users; chmod 700 it" % folder)
