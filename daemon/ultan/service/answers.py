"""What each question is answered: the thin layer between the protocol and those who know."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from ultan.library.config import Config
from ultan.library.store import Store
from ultan.service.protocol import (
    Advise,
    Flush,
    Prime,
    Question,
    Read,
    Refusal,
    Remember,
    Search,
    Shutdown,
    client_version,
    encode,
    parse,
)
from ultan.wire import remember
from ultan.wire.home import Home

T = TypeVar("T")

WORKERS = 2
# So many questions may wait for a worker; a person's next prompt does not wait behind more.
MOST_WAITING = 16


class Primed(Protocol):
    @property
    def shown(self) -> list[dict[str, Any]]: ...


class Recaller(Protocol):
    """What the daemon needs of the engine that ranks (ultan.recall.engine.Engine); see there."""

    store: Store

    def refresh(self, *, embed: bool = True) -> bool: ...
    @property
    def pending(self) -> int: ...
    def embed_pending(self, seconds: float) -> int: ...
    def configure(self, config: Config) -> None: ...
    def prime(
        self,
        prompt: str,
        cwd: str = "",
        session_id: str = "",
        prompt_id: str = "",
        *,
        exclude: frozenset[str] = frozenset(),
        now: float | None = None,
        remember: bool = True,
    ) -> Primed: ...
    def search(self, text: str, project: str | None = None, limit: int = 10) -> list[dict[str, Any]]: ...
    def read(self, id: str) -> dict[str, Any] | None: ...
    def status(self) -> dict[str, Any]: ...
    def save(self) -> None: ...
    def close(self) -> None: ...


@dataclass(slots=True)
class Controls:
    """What questions can set in motion in the daemon; each returns at once but `flush`, which is awaited."""

    status: Callable[[], dict[str, Any]]
    flush: Callable[[], Awaitable[dict[str, Any]]]
    shutdown: Callable[[], object]
    heard_version: Callable[[str], object]
    changed: Callable[[], object]
    trouble: Callable[[str, Exception], object]


@dataclass(slots=True)
class Counts:
    """Questions since the start, by op, and the refused ones by type."""

    asked: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)


class Answers:
    """Answers lines. `engine` is None until the daemon is ready."""

    def __init__(self, home: Home, controls: Controls, clock: Callable[[], float] = time.time) -> None:
        self.home = home
        self.controls = controls
        self.clock = clock
        self.engine: Recaller | None = None
        self.counts = Counts()
        self.last_asked = clock()
        self._pool = ThreadPoolExecutor(WORKERS, "answers")
        self._waiting = 0

    async def answer(self, raw: bytes, accepted: float) -> bytes:
        """The line to send back for a line; never raises but for cancellation."""
        try:
            question, version = parse(raw)
            self.counts.asked[question.op] = self.counts.asked.get(question.op, 0) + 1
            if question.op != "status":
                self.last_asked = self.clock()
            return encode(await self._answer(question, accepted))
        except Refusal as refusal:
            version = client_version(raw)
            self.counts.refused[refusal.type] = self.counts.refused.get(refusal.type, 0) + 1
            return encode(refusal.as_answer())
        finally:
            self.controls.heard_version(version)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _answer(self, question: Question, accepted: float) -> dict[str, Any]:
        if isinstance(question, Advise):
            raise Refusal("unavailable", "this version has no advisor yet")
        if isinstance(question, Shutdown):
            self.controls.shutdown()
            return {}
        if isinstance(question, Flush):
            return await self._guarded(self.controls.flush())
        if isinstance(question, Remember):
            return await self._work(lambda: self._remember(question))
        if isinstance(question, Prime | Search):
            engine, end = self._ready(), _end(accepted, question.deadline_ms)
            if isinstance(question, Prime):
                return await self._work(lambda: self._prime(engine, question), end)
            found = lambda: engine.search(question.text, question.project, question.limit)  # noqa: E731
            return {"results": await self._work(found, end)}
        if isinstance(question, Read):
            engine = self._ready()
            entry = await self._work(lambda: engine.read(question.id))
            if entry is None:
                raise Refusal("not-found", "there is no entry of that id")
            return {"entry": entry}
        return self.controls.status()

    def _ready(self) -> Recaller:
        if self.engine is None:
            raise Refusal("warming", "the daemon is still starting")
        return self.engine

    def _prime(self, engine: Recaller, question: Prime) -> dict[str, Any]:
        primed = engine.prime(
            question.prompt,
            question.cwd,
            question.session_id,
            question.prompt_id,
            exclude=frozenset(question.exclude),
            now=self.clock(),
        )
        return {"entries": primed.shown}

    def _remember(self, question: Remember) -> dict[str, Any]:
        saved = remember.save(self.home, question.text, question.cwd, question.session_id, self.clock())
        self.controls.changed()
        return {"saved": saved.as_json()}

    async def _work(self, work: Callable[[], T], end: float | None = None) -> T:
        """Do something that takes a while in a worker thread, so that others are answered meanwhile.

        end: when (monotonic) nobody waits for it any more. Raises Refusal.
        """
        if self._waiting >= MOST_WAITING:
            raise Refusal("busy", "too many questions wait already")

        def in_time() -> T:
            if end is not None and time.monotonic() >= end:
                raise Refusal("late", "nobody waits for this answer any more")
            return work()

        self._waiting += 1
        try:
            return await self._guarded(asyncio.get_running_loop().run_in_executor(self._pool, in_time))
        finally:
            self._waiting -= 1

    async def _guarded(self, work: Awaitable[T]) -> T:
        """Await what may fail; a failure is noted where nobody's words are, and refused. Raises Refusal."""
        try:
            return await work
        except (Refusal, asyncio.CancelledError):
            raise
        except Exception as error:
            self.controls.trouble("answer", error)
            raise Refusal("failed", f"it could not be answered ({type(error).__name__})") from None


def _end(accepted: float, deadline_ms: int | None) -> float | None:
    return None if deadline_ms is None else accepted + deadline_ms / 1000
