"""Jobs run when they are due, in one thread, whatever one of them does."""

from __future__ import annotations

import threading

import pytest
from ultan.service.schedule import LONGEST_PAUSE, Job, Worker


class Clock:
    """Jobs that note when they ran, and a worker that is given the time."""

    def __init__(self, *jobs: tuple[str, float]) -> None:
        self.now = 0.0
        self.ran: list[tuple[str, float]] = []
        self.troubles: list[str] = []
        found = [Job(name, every, lambda name=name: self.note(name)) for name, every in jobs]
        self.worker = Worker("test", found, lambda name, error: self.troubles.append(name), lambda: self.now)

    def note(self, name: str) -> None:
        self.ran.append((name, self.now))

    def until(self, end: float) -> None:
        while self.now <= end:
            self.now += max(self.worker.step(self.now), 0.001)


def test_a_job_runs_at_its_interval() -> None:
    clock = Clock(("a", 10.0), ("b", 4.0))
    clock.until(20.5)
    assert [round(at) for name, at in clock.ran if name == "a"] == [0, 10, 20]
    assert [round(at) for name, at in clock.ran if name == "b"] == [0, 4, 8, 12, 16, 20]


def test_a_job_that_fails_is_reported_and_tried_again_and_others_go_on() -> None:
    clock = Clock(("b", 5.0))

    def fail() -> None:
        raise OSError("full")

    clock.worker.jobs.insert(0, Job("a", 5.0, fail))
    clock.until(11.0)
    assert clock.troubles == ["a", "a", "a"]
    assert len(clock.ran) == 3


def test_a_job_that_wants_to_go_on_is_due_at_once() -> None:
    clock = Clock()
    left = [True, True, False]
    clock.worker.jobs.append(Job("a", 100.0, lambda: left.pop(0)))
    assert [clock.worker.step(0.0) for _ in range(3)] == [0.0, 0.0, LONGEST_PAUSE]


def test_a_job_can_be_hastened_and_put_off() -> None:
    clock = Clock(("a", 100.0))
    clock.worker.step(0.0)
    clock.worker.at("a", 50.0)
    assert clock.worker.step(0.0) == 50.0
    clock.worker.at("a", 80.0)  # no sooner than it is due anyway
    assert clock.worker.step(0.0) == 50.0
    clock.worker.at("a", 55.0, later=True)
    assert clock.worker.step(0.0) == 55.0
    assert clock.ran == [("a", 0.0)]


def test_what_is_submitted_is_done_between_jobs_and_its_error_goes_to_who_asked() -> None:
    clock = Clock()
    good, bad = clock.worker.submit(lambda: 7), clock.worker.submit(lambda: 1 // 0)
    gone = clock.worker.submit(lambda: pytest.fail("it was cancelled"))
    gone.cancel()
    clock.worker.step(0.0)
    assert good.result(0) == 7
    with pytest.raises(ZeroDivisionError):
        bad.result(0)
    assert clock.troubles == []


def test_a_worker_with_a_thread_ends_when_it_is_told_to() -> None:
    ran = threading.Event()
    worker = Worker("test", [Job("a", 3600.0, ran.set)], lambda *_: None)
    worker.start()
    assert ran.wait(20)
    assert worker.submit(threading.get_ident).result(20) != threading.get_ident()
    assert worker.end(20)


def test_a_worker_that_was_never_started_ends_too() -> None:
    assert Worker("test", [], lambda *_: None).end(0)
