"""Bringing a home of an older format up to date, one journaled batch a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ultan.library.errors import ForeignHome
from ultan.library.store import Store
from ultan.wire.batch import Action, Batch
from ultan.wire.format import FORMAT, read_format
from ultan.wire.home import Home
from ultan.wire.journal import LOCK_SECONDS, Writer

# What changes in the library from one format to the next: called with the store under the lock.
Migration = Callable[[Store], list[Action]]
# format -> the step to the next one. Format 1 is the first.
MIGRATIONS: Mapping[int, Migration] = {}


def open_home(
    home: Home,
    now: float | None = None,
    wanted: int = FORMAT,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    timeout: float = LOCK_SECONDS,
) -> list[int]:
    """Make a home ready to be written: stamp a fresh one, repair after a crash, migrate an older one.

    Returns the formats it went through. Raises ForeignHome for a newer home (which is then only read) and
    for a format without a way to the present one.
    """
    steps: list[int] = []
    while True:
        found = read_format(home)
        number, written_by = found if found is not None else (wanted, "")
        if number >= wanted:
            with Writer(home, timeout, format=wanted):
                return steps
        if number not in migrations:
            raise ForeignHome(
                f"{home.root} has format {number} of Ultan {written_by}, too old to be brought up to date.",
                "Use an Ultan version in between first.",
                number,
                written_by,
            )
        try:
            with Writer(home, timeout, format=number) as writer:
                actions = migrations[number](Store(home))
                reason = f"bring the library from format {number} to {number + 1}"
                writer.apply(Batch(actions, "ultan", reason, format=number + 1), now)
        except ForeignHome:
            # A step that a crash had interrupted was finished on entering, or another process was faster.
            if read_format(home) == found:
                raise
        steps.append(number)
