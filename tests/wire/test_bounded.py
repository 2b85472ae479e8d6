"""A search that would never end is stopped."""

from __future__ import annotations

import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from ultan.wire.bounded import Budget, TimeUp

ENDLESS = re.compile("(x|xx)+y")
TEXT = "x" * 200


def test_a_pattern_without_an_end_is_stopped_in_its_time() -> None:
    begun = time.process_time()
    with pytest.raises(TimeUp):
        Budget(10.0, 0.02).run(lambda: ENDLESS.search(TEXT))
    assert time.process_time() - begun < 5.0


def test_what_ends_in_time_gives_its_result() -> None:
    assert Budget(1.0, 1.0).run(lambda: 7) == 7


def test_when_the_time_of_all_is_up_nothing_more_is_tried() -> None:
    budget = Budget(0.03, 0.02)
    for _ in range(2):
        with pytest.raises(TimeUp):
            budget.run(lambda: ENDLESS.search(TEXT))
    tried = []
    with pytest.raises(TimeUp):
        budget.run(lambda: tried.append(1))
    assert tried == []


def test_the_timer_and_its_handler_are_as_before() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(TimeUp):
        Budget(1.0, 0.01).run(lambda: ENDLESS.search(TEXT))
    with pytest.raises(ZeroDivisionError):
        Budget(1.0, 0.01).run(lambda: 1 // 0)
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0


def test_in_another_thread_it_is_simply_done() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: Budget(1.0, 0.1).run(lambda: 7)).result() == 7
