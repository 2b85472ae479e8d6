"""The base of every error that a person may see."""

from __future__ import annotations


class UltanError(Exception):
    """What happened, what was kept, what to do next: three short texts, each may be empty but the first."""

    def __init__(self, what: str, kept: str = "", advice: str = "") -> None:
        super().__init__(" ".join(part for part in (what, kept, advice) if part))
        self.what = what
        self.kept = kept
        self.advice = advice


class LibraryBusy(UltanError):
    """Another process held the library's lock for longer than the caller waits."""

    def __init__(self, seconds: float, holder: str) -> None:
        super().__init__(
            "The library is being written by %s and was not free within %g s."
            % (holder or "another process", seconds),
            "Nothing was changed.",
            "Try again in a moment.",
        )
        self.seconds = seconds
        self.holder = holder


class BadPath(UltanError):
    """A path is malformed, leads out of the library, goes through a link or has a twin in another case."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__("%r cannot be a path in the library: %s." % (path, why), "Nothing was changed.")
        self.path = path
        self.why = why


class ChangedMeanwhile(UltanError):
    """Files are no longer what the writer had read; `paths` names them."""

    def __init__(self, paths: list[str], what: str = "", advice: str = "") -> None:
        super().__init__(
            what or "Changed since they were read: %s." % ", ".join(paths),
            "Nothing was written.",
            advice or "Read them again and repeat the change.",
        )
        self.paths = paths


class BatchFailed(UltanError):
    """The disk refused a step of a batch. `undone`: all is as before; else the next start repairs it."""

    def __init__(self, why: str, undone: bool) -> None:
        super().__init__(
            "The change could not be written: %s." % why,
            "Everything is as it was before."
            if undone
            else "It is half done and will be completed or taken back at the next start.",
            "Free some space or fix the folder's permissions, then repeat it.",
        )
        self.undone = undone


class ForeignHome(UltanError):
    """The home's format is not this version's: it is read, never written. Fields: format, written_by."""

    def __init__(self, what: str, advice: str, format: int | None, written_by: str) -> None:
        super().__init__(what, "Nothing was written.", advice)
        self.format = format
        self.written_by = written_by
