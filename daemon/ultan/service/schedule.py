"""What is done when: jobs with an interval, worked off in one thread by steps that are given the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

LONGEST_PAUSE = 60.0


@dataclass(slots=True)
class Job:
    """Something to do every so many seconds. `run` returns True where it wants to go on at once."""

    name: str
    every: float
    run: Callable[[], object]
    due: float = 0.0


class Worker:
    """Works off its jobs and what is submitted to it, one at a time, in order.

    A job that fails is reported and tried again at its next time. Tests call `step` with times of their own;
    `start` gives it a thread and the monotonic clock.
    """

    def __init__(
        self,
        name: str,
        jobs: Sequence[Job],
        trouble: Callable[[str, Exception], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.jobs = list(jobs)
        self.trouble = trouble
        self.clock = clock
        self._queue: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._wake = threading.Event()
        self._over = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def step(self, now: float) -> float:
        """Do what was submitted and what is due at `now`; returns the seconds until the next is due."""
        self._do_submitted()
        for job in self.jobs:
            if job.due <= now and not self._over:
                job.due = now + job.every  # before the run, which may want it sooner
                try:
                    if job.run() is True:
                        job.due = now
                except Exception as error:
                    self.trouble(job.name, error)
        soonest = min((job.due for job in self.jobs), default=now + LONGEST_PAUSE)
        return max(0.0, min(LONGEST_PAUSE, soonest - now))

    def at(self, name: str, when: float, later: bool = False) -> None:
        """Have a job done at `when`, if it would be done later; `later`: put it off to `when`, too."""
        for job in self.jobs:
            if job.name == name and (later or when < job.due):
                job.due = when
        self._wake.set()

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Have something done in this worker's thread."""
        future: Future[T] = Future()
        self._queue.put((work, future))
        self._wake.set()
        return future

    def start(self) -> None:
        self._thread.start()

    def end(self, seconds: float) -> bool:
        """Finish what is being done and begin nothing more; whether it ended in time."""
        self._over = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._over:
            pause = self.step(self.clock())
            self._wake.wait(pause)
            self._wake.clear()
        self._do_submitted()

    def _do_submitted(self) -> None:
        while True:
            try:
                work, future = self._queue.get_nowait()
            except Empty:
                return
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
