"""Whether the library and its journal can be read and written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ultan.library import lint
from ultan.library.entry import Problem
from ultan.library.errors import ForeignHome
from ultan.library.journal import Journal
from ultan.library.store import Store
from ultan.service.checks.finding import Finding
from ultan.wire.format import check_writable
from ultan.wire.home import Home

# Advice about order, not damage.
ADVICE = frozenset({"full-folder"})


def check(home: Home, now: float) -> Iterator[Finding]:
    """The home's format, what lint finds, records that were set aside, notes that wait."""
    try:
        check_writable(home)
    except ForeignHome as error:
        yield Finding("library", "error", f"{error.what} It is read, never written.", error.advice)
    folder = Path(home.knowledge)
    if not folder.is_dir():
        if folder.is_symlink() or folder.exists():
            message = f"{folder} " + (
                "is a link that leads nowhere" if folder.is_symlink() else "is no folder"
            )
            yield Finding("library", "error", message, "mount what it leads to, or put a folder there")
            return
        yield Finding("library", "note", "there is no library yet", 'ultan add "we use uv here, never pip"')
        return
    snapshot = Store(home).scan()
    yield from broken(lint.lint(snapshot, now), len(snapshot.entries))
    set_aside = Journal(home).broken()
    if set_aside:
        message = (
            f"{len(set_aside)} journal records cannot be read and were set aside, the last {set_aside[-1]}"
        )
        yield Finding("library", "warning", message, f"look at them in {home.journal}, then delete them")
    waiting = len(list(Path(home.spool, "remember").glob("*.json")))
    if waiting:
        notes = "1 note waits" if waiting == 1 else f"{waiting} notes wait"
        fix = f"the daemon saves them; what it cannot save is in {home.spool}/remember"
        yield Finding("library", "note", f"{notes} to be saved", fix)


def broken(problems: Sequence[Problem], entries: int) -> Iterator[Finding]:
    """One finding a kind of problem, with its first place, but one for each pattern that is refused: a rule
    that somebody relies on is not in force. Advice counts as a note.
    """
    by_code: dict[str, list[Problem]] = {}
    for problem in problems:
        by_code.setdefault(problem.code, []).append(problem)
    for code, found in sorted(by_code.items()):
        if code == "bad-pattern":
            for one in found:
                yield Finding("library", "warning", f"{one.path}: {one.message} ({code})", one.fix)
            continue
        first = found[0]
        more = f" and {len(found) - 1} more ({code})" if len(found) > 1 else f" ({code})"
        level = "note" if code in ADVICE else "warning"
        message = f"{first.path}:{first.line}: {first.message}{more}"
        yield Finding("library", level, message, f"{first.fix}; all of them: ultan lint")
    if not by_code:
        yield Finding(
            "library", "ok", f"{entries} {'entry' if entries == 1 else 'entries'}, nothing to put right"
        )
