"""The frame that every hook script runs in: read the input, decide whether to listen, record, never fail.

A hook exits 0 with valid output or none, within its deadline, whatever is broken. What went wrong is a line
in `hook-errors.jsonl`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from ultan.wire import errors, events, guard, runtime, settings
from ultan.wire.home import Home
from ultan.wire.session import ANY_PROMPT, SessionMemory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

INPUT_LIMIT = 64 << 20
DEADLINE_SECONDS = 1.9
CONFIG_DIR_CHARS = 2_000
ID_CHARS = 200
# A complaint that each event of a session would repeat is noted once in this time.
COMPLAIN_AGAIN_SECONDS = 300.0


class Rejected(ValueError):
    """The input is not what a client sends; the message says why."""


class Deadline(BaseException):
    """The hook's time is up. Not an Exception, so that no handler on the way swallows it."""


class Call:
    """One run of a hook: its input, and what the hooks share of deciding about it."""

    __slots__ = (
        "_identities",
        "_memory",
        "_settings",
        "emit",
        "environ",
        "event",
        "home",
        "now",
        "payload",
        "plugin_root",
    )

    def __init__(
        self,
        event: str,
        payload: dict[str, object],
        environ: os._Environ[str] | dict[str, str],
        now: float,
        plugin_root: str,
        emit: Callable[[bytes], object],
    ) -> None:
        self.emit = emit
        self.event = event
        self.payload = payload
        self.environ = environ
        self.now = now
        self.plugin_root = plugin_root
        self.home = Home.resolve(environ)
        self._settings: settings.Settings | None = None
        self._memory: SessionMemory | None = None
        self._identities: list[str] | None = None

    def text(self, name: str) -> str:
        """A field of the input as text that any file can hold; "" when it is absent or something else."""
        value = self.payload.get(name)
        if not isinstance(value, str):
            return ""
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")

    @property
    def prompt_id(self) -> str:
        """The prompt that this event belongs to; "" where the client does not say."""
        return self.text("prompt_id")[:ID_CHARS]

    @property
    def settings(self) -> settings.Settings:
        if self._settings is None:
            self._settings = settings.load(self.home)
        return self._settings

    @property
    def memory(self) -> SessionMemory:
        if self._memory is None:
            self._memory = SessionMemory(self.home, self.text("session_id"))
        return self._memory

    @property
    def identities(self) -> list[str]:
        if self._identities is None:
            from ultan.wire import project

            self._identities = project.identities(self.text("cwd"))
        return self._identities

    def slug(self) -> str | None:
        """The library's name for this project, or the name it would get."""
        from ultan.wire.lexical import Catalog
        from ultan.wire.project import default_name

        return Catalog.open(self.home.catalog).project_for(self.identities) or default_name(self.identities)

    def listens(self) -> bool:
        """Whether this session may be heard: on, configuration known, project not ignored."""
        if not self.settings.current:
            if not errors.last(self.home, "config", COMPLAIN_AGAIN_SECONDS, self.now):
                self.complain(
                    "config", "hook-config.json does not match config.toml: nothing is recorded until it does"
                )
            self.start_daemon()
            return False
        if not self.settings.daemon:
            return False
        if not self.settings.knows_projects:
            return True
        return self.settings.listens_to(self.text("cwd"), self.identities, self.slug())

    def in_private_turn(self) -> bool:
        """Whether this event belongs to a prompt that the person marked as private."""
        return self.memory.is_private(self.prompt_id)

    def begin_private_turn(self) -> None:
        """Keep nothing of this prompt, nor of what happens until the person's next one."""
        self.memory.add(self.now, private=self.prompt_id or ANY_PROMPT)

    def forget(self, *names: str) -> None:
        """Take fields out of the input, so that nothing records them."""
        for name in names:
            self.payload.pop(name, None)

    def append(self, **more: object) -> None:
        """Record this event, redacted and cut."""
        record = events.record(self.event, self.payload, self.now, self.settings.never_index_paths)
        record.update(more)
        folder = self.environ.get("CLAUDE_CONFIG_DIR")
        if folder:  # the client's settings that this session was heard under
            record["config_dir"] = folder[:CONFIG_DIR_CHARS]
        events.append(self.home, record)

    def complain(self, kind: str, message: str) -> None:
        errors.note(self.home, self.event, kind, message, self.now)

    def start_daemon(self) -> bool:
        return runtime.start_daemon(self.home, self.environ, self.now, self.settings.auth)


def main(event: str, handle: Callable[[Call], None], plugin_root: str) -> None:
    """Run one hook from standard input to exit; never returns."""
    try:
        os.umask(0o077)
        _arm(DEADLINE_SECONDS)
        raw = sys.stdin.buffer.read(INPUT_LIMIT + 1)
        run(event, handle, raw, os.environ, time.time(), plugin_root, _print)
    except Deadline:
        _complain(event, "deadline", "the hook was not ready in %.1f s" % DEADLINE_SECONDS)
    except BaseException as error:  # a hook that fails takes the person's prompt with it
        _complain(event, "error", "%s: %s" % (type(error).__name__, error))
    # No interpreter shutdown: nothing is left to flush, and it costs milliseconds.
    os._exit(0)


def run(
    event: str,
    handle: Callable[[Call], None],
    raw: bytes,
    environ: os._Environ[str] | dict[str, str],
    now: float,
    plugin_root: str,
    emit: Callable[[bytes], object],
) -> None:
    """Handle one input; what the hook prints goes to `emit`. Rejected input is noted, not raised."""
    if guard.is_curator(environ):
        return
    home = Home.resolve(environ)
    try:
        payload = parse(raw, event)
    except Rejected as error:
        errors.note(home, event, "input", str(error), now)
        return
    if not guard.is_inside_home(home.root, payload.get("cwd"), payload.get("transcript_path")):
        handle(Call(event, payload, environ, now, plugin_root, emit))


def _print(output: bytes) -> None:
    view = memoryview(output)
    while view:
        view = view[os.write(1, view) :]


def parse(raw: bytes, event: str) -> dict[str, object]:
    """The one JSON object in `raw`, an input for `event`. Raises Rejected with the reason."""
    if len(raw) > INPUT_LIMIT:
        raise Rejected("the input is over %d bytes" % INPUT_LIMIT)
    if not raw.strip():
        raise Rejected("the input is empty")
    try:
        payload = json.loads(raw.decode("utf-8", "replace"), parse_constant=_no_json)
    except (ValueError, RecursionError) as error:
        raise Rejected("the input is not one JSON object: %s" % str(error)[:120]) from error
    if not isinstance(payload, dict):
        raise Rejected("the input is a JSON %s, not an object" % type(payload).__name__)
    for name in ("session_id", "hook_event_name"):
        if not isinstance(payload.get(name), str) or not payload[name]:
            raise Rejected("%s is missing or no text" % name)
    if payload["hook_event_name"] != event:
        raise Rejected(
            "this hook is for %s, the input is for another: %.60s" % (event, payload["hook_event_name"])
        )
    return payload


def _no_json(name: str) -> object:
    raise ValueError("%s is no JSON value" % name)


def _arm(seconds: float) -> None:
    def ring(_number: int, _frame: object) -> None:
        raise Deadline

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _complain(event: str, kind: str, message: str) -> None:
    try:
        errors.note(Home.resolve(os.environ), event, kind, message, time.time())
    except BaseException:
        pass
