"""The library's typed errors; those that hooks share are defined below the library and named here too."""

from __future__ import annotations

from ultan.wire.failures import (
    BadPath,
    BatchFailed,
    ChangedMeanwhile,
    ForeignHome,
    LibraryBusy,
    UltanError,
)

__all__ = [
    "BadPath",
    "BatchFailed",
    "ChangedMeanwhile",
    "ConfigError",
    "ForeignHome",
    "LibraryBusy",
    "NoSuchBatch",
    "NoSuchEntry",
    "UltanError",
    "UnreadableEntry",
    "WrongState",
]


class ConfigError(UltanError):
    """config.toml cannot be used; `key` is the dotted name at fault, "" for the whole file."""

    def __init__(self, path: str, key: str, why: str, advice: str = "") -> None:
        where = f"{key} in {path}" if key else path
        super().__init__(f"{where}: {why}.", "Nothing is recorded until it is put right.", advice)
        self.path = path
        self.key = key


class NoSuchEntry(UltanError):
    """No entry has this id; `near` lists ids that look like it."""

    def __init__(self, id: str, near: list[str]) -> None:
        hint = "Did you mean {}?".format(" or ".join(near)) if near else "`ultan list` shows all entries."
        super().__init__(f"There is no entry {id!r}.", "", hint)
        self.id = id
        self.near = near


class UnreadableEntry(UltanError):
    """A file is left exactly as it is because its header (or encoding) cannot be understood for sure."""

    def __init__(self, path: str, why: str, advice: str = "") -> None:
        super().__init__(f"{path} cannot be edited: {why}.", "The file was left as it is.", advice)
        self.path = path
        self.why = why


class NoSuchBatch(UltanError):
    """No batch has this id, or there is none to undo."""

    def __init__(self, id: str | None) -> None:
        what = f"There is no batch {id!r} in the journal." if id else "There is no change to undo."
        super().__init__(what, "", "`ultan log` shows the changes of the last 180 days.")
        self.id = id


class WrongState(UltanError):
    """A batch is not in the state that a step needs."""

    def __init__(self, id: str, state: str, needed: str) -> None:
        super().__init__(f"Batch {id} is {state}, not {needed}.", "Nothing was changed.")
        self.id = id
        self.state = state
