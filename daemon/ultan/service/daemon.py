"""The daemon of a home, once it has lock and socket: it loads, answers, listens, and ends in good order."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
import warnings
from collections.abc import Callable, MutableMapping
from concurrent.futures import Future
from typing import Any

from ultan.curator.spool import Spool
from ultan.library import config as configuration
from ultan.library.config import Config
from ultan.library.errors import UltanError
from ultan.library.journal import Journal
from ultan.recall import log as recall_log
from ultan.service import rotation
from ultan.service.answers import Answers, Controls, Recaller
from ultan.service.keeper import Keeper
from ultan.service.listening import CannotStart, listen, unlink_own
from ultan.service.log import Log, described
from ultan.service.opening import open_for
from ultan.service.pages import Pages
from ultan.service.protocol import Refusal
from ultan.service.schedule import Job, Worker
from ultan.service.server import Limits, Server
from ultan.service.state import FAILED, READY, STOPPED, State
from ultan.service.tailer import Tailer
from ultan.wire import runtime
from ultan.wire.files import utc_now
from ultan.wire.home import Home
from ultan.wire.version import VERSION, newer

OpenEngine = Callable[[Home, Config], Recaller]

GRACE_SECONDS = 2.0
JOIN_SECONDS = 5.0
FLUSH_SECONDS = 60.0
TAIL_SECONDS = 0.5
WARM_UP = "which of my notes apply to a prompt such as this one?"


class Daemon:
    """One process that serves one home. `run` returns when it is over."""

    def __init__(
        self,
        home: Home,
        listener: socket.socket,
        state: State,
        log: Log,
        open_engine: OpenEngine | None = None,
        clock: Callable[[], float] = time.time,
        environ: MutableMapping[str, str] = os.environ,
    ) -> None:
        self.home = home
        self.environ = environ
        self.state = state
        self.log = log
        self.clock = clock
        self.open_engine = open_engine or _open_engine
        self.listener = listener
        self.socket_inode = os.stat(home.socket).st_ino
        self.lock_inode = os.stat(home.daemon_lock).st_ino
        self.tailer = Tailer(home, Spool(home), log.write)
        self.keeper: Keeper | None = None
        self.engine: Recaller | None = None
        self.events = Worker("events", self._event_jobs(), log.trouble)
        self.library = Worker("library", [], log.trouble)
        self.pages = Worker("pages", [], log.trouble)
        self.answers = Answers(
            home,
            Controls(
                self.status, self.flush, self._asked_to_end, self._heard_version, self._changed, log.trouble
            ),
            clock,
        )
        self.server = Server(self.answers.answer, log.trouble, Limits())
        self._ending: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reason = ""

    def run(self) -> int:
        """Serve until something ends it; the exit status."""
        # What others log or warn of may quote anything, and standard error leads into our log.
        logging.getLogger().addHandler(logging.NullHandler())
        warnings.simplefilter("ignore")
        self.log.write(f"started, version {VERSION}, on {self.home.socket}")
        try:
            asyncio.run(self._serve())
        finally:
            unlink_own(self.home.socket, self.socket_inode)
        if self.state.name != FAILED:
            self.state.enter(STOPPED, self.clock(), self.state.error)
        self.log.write(f"ended: {self._reason}")
        return 1 if self.state.name == FAILED else 0

    def leave(self, reason: str) -> None:
        """End soon; the first reason counts. From any thread."""
        self._reason = self._reason or reason
        if self._loop is not None and self._ending is not None:
            try:
                self._loop.call_soon_threadsafe(self._ending.set)
            except RuntimeError:
                pass  # over already

    async def _serve(self) -> None:
        self._loop, self._ending = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(self._lost_exception)
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self.leave, signal.Signals(number).name)
        await self.server.open(self.listener)
        self.library.start()
        loading = self.library.submit(self._load)
        loading.add_done_callback(self._loaded)
        await self._ending.wait()
        unlink_own(self.home.socket, self.socket_inode)  # who comes now starts the next one
        await self.server.close(GRACE_SECONDS)
        self.answers.close()
        await asyncio.to_thread(self._end)

    def _load(self) -> None:
        """Everything between the socket and the first answer; runs in the library's worker."""
        config = configuration.load(self.home)
        read_only = open_for(self.home, config, self.environ, self.clock(), self.log.write)
        if config.daemon == "off":
            self.leave("turned off")
            return
        engine = self.open_engine(self.home, config)
        self.engine = engine
        engine.refresh(embed=False)
        pages = Pages(self.home, engine.store, self.log.write)
        pages.read_only = read_only
        keeper = Keeper(
            self.home, engine, pages, config, self.log.write, self.log.trouble, self.leave, self.clock
        )
        try:
            pages.settle_at_start()
        except (UltanError, OSError) as error:
            self.log.trouble("pages", error)  # answers do not need them
        engine.prime(WARM_UP, now=self.clock(), remember=False)
        engine.search(WARM_UP, limit=1)
        keeper.worker, pages.worker = self.library, self.pages
        self.library.jobs += keeper.jobs()
        self.pages.jobs += pages.jobs(self.pages.clock())
        self.keeper = keeper
        self.answers.engine = engine

    def _loaded(self, loading: Future[None]) -> None:
        error = loading.exception()
        if error is not None:
            text = str(error) if isinstance(error, UltanError) else f"It could not start: {described(error)}."
            self.log.write(f"cannot start: {text}")
            self.state.enter(FAILED, self.clock(), text)
            self.leave("the start failed")
            return
        if self.answers.engine is not None and not self._reason:
            self.state.enter(READY, self.clock())
            self.log.write(f"ready in {self.clock() - self.state.started:.2f} s")
            self.pages.start()
            if self.keeper is not None and not self.keeper.pages.read_only:
                self.events.start()  # a newer version's events wait for it

    def _end(self) -> None:
        """Bring everything to the disk."""
        for worker in (self.events, self.pages, self.library):
            if not worker.end(JOIN_SECONDS):
                self.log.write("a job did not end in time")
        if self.keeper is not None:
            self.keeper.watcher.close()
        if self.engine is not None:
            try:
                if self.keeper is not None:
                    self.keeper.save()
                self.engine.close()
            except Exception as error:
                self.log.trouble("closing the index", error)

    # What happens regularly.

    def _event_jobs(self) -> list[Job]:
        return [
            Job("events", TAIL_SECONDS, lambda: self.tailer.step(self.clock())),
            Job("rotation", 60.0, self._rotate),
            Job("expiry", 3600.0, self._expire),
            Job("place", 5.0, self._check_place),
            Job("idle", 30.0, self._check_idle),
        ]

    def _rotate(self) -> None:
        now = self.clock()
        if rotation.is_due(self.home, now):
            rotation.rotate(self.home, self.tailer, now)
        rotation.expire(self.home, self.tailer, now)

    def _expire(self) -> None:
        now = self.clock()
        recall_log.expire(self.home, now)
        if self.keeper is not None and not self.keeper.pages.read_only:
            Journal(self.home, GRACE_SECONDS, "daemon").prune(now)

    def _check_place(self) -> None:
        """Whether this is still the home's daemon: others may have cleaned up."""
        if _inode(self.home.daemon_lock) != self.lock_inode:
            self.leave("the home or its lock was removed")
        elif _inode(self.home.socket) is None and self._loop is not None:
            try:
                listener = listen(self.home)
            except CannotStart as error:
                self.leave(str(error))
                return
            self.socket_inode = os.stat(self.home.socket).st_ino
            self.log.write("the socket was removed; there is a new one")
            asyncio.run_coroutine_threadsafe(self.server.open(listener), self._loop)

    def _check_idle(self) -> None:
        if self.keeper is None:
            return
        minutes = self.keeper.config.service.idle_exit_minutes
        last = max(self.answers.last_asked, self.tailer.last_heard, self.state.started)
        if minutes and self.clock() - last >= minutes * 60 and not self.tailer.behind():
            self.leave(f"nobody asked for {minutes} minutes")

    # What questions set in motion.

    def status(self) -> dict[str, Any]:
        """How it is; sizes of the index are at the top level."""
        found = {**self.state.as_json(), "home": self.home.root, "uptime_s": round(self._uptime(), 1)}
        found.update(self.engine.status() if self.engine is not None else {})
        keeper = self.keeper
        return {
            **found,
            "events": {
                "offset": self.tailer.offset,
                "delivered": self.tailer.counts.delivered,
                "duplicates": self.tailer.counts.duplicates,
                "broken": self.tailer.counts.broken,
                "restarts": self.tailer.counts.restarts,
                "last": self.tailer.last_event,
            },
            "watch": keeper.watcher.mode if keeper else "",
            "read_only": keeper.pages.read_only if keeper else "",
            "config_error": keeper.config_error if keeper else "",
            "troubles": self.log.recent(),
            "asked": dict(self.answers.counts.asked),
            "refused": dict(self.answers.counts.refused),
            "connections": self.server.connections,
            "last_asked": utc_now(self.answers.last_asked),
        }

    async def flush(self) -> dict[str, Any]:
        """Deliver all events and take over the library as it is now."""
        keeper = self.keeper
        if keeper is None:
            raise Refusal("warming", "the daemon is still starting")
        if keeper.pages.read_only:
            raise Refusal("unavailable", keeper.pages.read_only)

        def deliver() -> int:
            self.tailer.drain(self.clock())
            return self.tailer.behind()

        async with asyncio.timeout(FLUSH_SECONDS):
            behind = await asyncio.wrap_future(self.events.submit(deliver))
            await asyncio.wrap_future(self.library.submit(keeper.follow))
            await asyncio.wrap_future(self.pages.submit(keeper.pages.settle))
        return {"delivered": self.tailer.counts.delivered, "behind_bytes": behind}

    def _asked_to_end(self) -> None:
        assert self._loop is not None
        self._loop.call_later(0.05, self.leave, "asked to")  # the answer first

    def _heard_version(self, version: str) -> None:
        """Make room for a newer copy, once it is installed: retiring before that would only cost time."""
        if newer(version) and not self._reason:
            installed = runtime.find(self.home, dict(self.environ))
            if installed is not None and newer(installed.version) and self._loop is not None:
                self._loop.call_later(0.05, self.leave, f"version {installed.version} takes over")

    def _changed(self) -> None:
        if self.keeper is not None:
            self.keeper.changed()

    def _uptime(self) -> float:
        return self.clock() - self.state.started

    def _lost_exception(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception) and not isinstance(error, ConnectionError):
            self.log.trouble("event loop", error)


def _open_engine(home: Home, config: Config) -> Recaller:
    from ultan.recall.engine import Engine

    return Engine.open(home, config)


def _inode(path: str) -> int | None:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return None
