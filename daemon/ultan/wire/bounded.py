"""A search that ends: `re` looks at signals while it backtracks, so that a timer can stop it.

CPU time is counted, not the clock: on a machine that is busy with other things a pattern must not seem slow.
Only the main thread of a process gets signals; in another one the search has no bound.
"""

from __future__ import annotations

import signal
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")


class TimeUp(Exception):
    """It took longer than it may."""


class Budget:
    """CPU seconds for all searches together and for each of them."""

    __slots__ = ("each", "until")

    def __init__(self, total: float, each: float) -> None:
        self.until = time.process_time() + total
        self.each = each

    @property
    def left(self) -> float:
        """Seconds, 0 or more."""
        return max(0.0, self.until - time.process_time())

    def run(self, work: Callable[[], T]) -> T:
        """What `work` returns. Raises TimeUp when its time or the time of all is up."""
        seconds = min(self.left, self.each)
        if seconds <= 0:
            raise TimeUp
        if threading.current_thread() is not threading.main_thread():
            return work()
        before = signal.signal(signal.SIGVTALRM, _ring)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            return work()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)


def _ring(_number: int, _frame: object) -> None:
    raise TimeUp
