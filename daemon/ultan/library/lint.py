"""What a person should put right in the library: each problem with its file, line and fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ultan.library import markers
from ultan.library.entry import Entry, Problem
from ultan.library.links import Link, Names, find
from ultan.library.patterns import check
from ultan.library.scopes import projects
from ultan.library.store import Snapshot
from ultan.wire.files import utc_now
from ultan.wire.paths import fold

FOLDER_AIM = 5
DAY = 86400.0


def lint(snapshot: Snapshot, now: float) -> list[Problem]:
    """Every problem of the library, sorted by file and line. Pure: reads no file, changes nothing."""
    names = page_names(snapshot)
    found = list(snapshot.problems)
    for entry in snapshot.entries.values():
        found += entry.problems
        if entry.readable:
            found += _links(entry, names, snapshot)
            found += _relations(entry, snapshot)
            found += _dates(entry, now)
            found += _patterns(entry)
    found += _twins(snapshot)
    found += _full_folders(snapshot)
    found += _projects(snapshot)
    found += _pages(snapshot)
    return sorted(found, key=lambda p: (p.path, p.line, p.code, p.message))


def page_names(snapshot: Snapshot) -> Names:
    """The names that links may use: entries, and READMEs by their path."""
    return Names([*snapshot.entries, *(path.removesuffix(".md") for path in snapshot.pages)])


def broken_links(entry: Entry, names: Names) -> list[tuple[Link, tuple[str, ...]]]:
    """The links of an entry that lead nowhere, or to several pages (then these are given)."""
    found = []
    for link in find(entry.body):
        target = names.resolve(link, entry.id)
        if target.id is None:
            found.append((link, target.candidates))
    return found


def _links(entry: Entry, names: Names, snapshot: Snapshot) -> Iterator[Problem]:
    for link, candidates in broken_links(entry, names):
        line = entry.body_line + link.line - 1
        if candidates:
            several = ", ".join(candidates)
            yield Problem(
                entry.path, line, "ambiguous-link", f"{link.target} may be {several}", "write the whole id"
            )
        elif link.target.strip("/") in snapshot.archived:
            fix = "remove the link, or bring the page back"
            yield Problem(entry.path, line, "archived-link", f"{link.target} is archived", fix)
        else:
            fix = "correct the link, or write that page"
            yield Problem(entry.path, line, "broken-link", f"there is no page {link.target}", fix)


def _relations(entry: Entry, snapshot: Snapshot) -> Iterator[Problem]:
    for key, ids in (("supersedes", entry.supersedes), ("superseded_by", entry.superseded_by)):
        for id in ids:
            if id not in snapshot.entries and id not in snapshot.archived:
                yield Problem(
                    entry.path, 1, "broken-relation", f"{key} names {id}, which is not there", "correct it"
                )


def _dates(entry: Entry, now: float) -> Iterator[Problem]:
    tomorrow = utc_now(now + DAY)[:10]
    for key in ("created", "updated", "last_reinforced"):
        date: str = getattr(entry, key)
        if date[:10] > tomorrow:
            yield Problem(entry.path, 1, "future-date", f"{key} is {date}, in the future", "correct the date")


def _patterns(entry: Entry) -> Iterator[Problem]:
    for trigger in entry.block_triggers:
        refused = check(trigger.pattern).refused
        if refused:
            message = f"the pattern {trigger.pattern!r} is refused: {refused}"
            fix = "write it in another way; `ultan trigger test` tries it"
            yield Problem(entry.path, 1, "bad-pattern", message, fix)


def _twins(snapshot: Snapshot) -> Iterator[Problem]:
    """Names that are one file where case does not count: folders once each, then files."""
    groups: dict[str, set[str]] = {}
    for path in [*(entry.path for entry in snapshot.entries.values()), *snapshot.pages]:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            sofar = "/".join(parts[:depth])
            groups.setdefault(fold(sofar), set()).add(sofar)
    for twins in groups.values():
        if len(twins) < 2 or len({twin.rpartition("/")[0] for twin in twins}) > 1:
            continue  # alone, or their folders are the twins and reported as such
        first, *others = sorted(twins)
        for other in others:
            message = f"differs from {first} only in case; some systems take them for one"
            yield Problem(other, 1, "case-twins", message, "rename or merge one of them")


def _full_folders(snapshot: Snapshot) -> Iterator[Problem]:
    counts = Counter(entry.folder for entry in snapshot.entries.values())
    for folder, count in sorted(counts.items()):
        if count > FOLDER_AIM:
            message = f"{count} entries in one folder"
            yield Problem(
                folder or ".", 1, "full-folder", message, "group them in subfolders when convenient"
            )


def _projects(snapshot: Snapshot) -> Iterator[Problem]:
    owner: dict[str, str] = {}
    for slug, theirs in projects(snapshot).items():
        for identity in theirs:
            first = owner.setdefault(identity, slug)
            if first != slug:
                page = snapshot.readme(f"projects/{slug}")
                path = page.path if page else f"projects/{slug}"
                message = f"{identity} is also listed by the project {first}"
                yield Problem(path, 1, "shared-identity", message, "keep it in one of the two")


def _pages(snapshot: Snapshot) -> Iterator[Problem]:
    for path, page in snapshot.pages.items():
        try:
            markers.own_text(page.raw.decode("utf-8"))
        except UnicodeDecodeError:
            yield Problem(path, 1, "not-utf8", "the file is not UTF-8", "save it as UTF-8 in your editor")
        except markers.BrokenMarkers as error:
            yield Problem(
                path, 1, "broken-markers", str(error), "remove the `<!-- ultan:` lines; they come back"
            )


def summary(problems: Sequence[Problem]) -> dict[str, int]:
    """How many problems there are of each code."""
    return dict(sorted(Counter(problem.code for problem in problems).items()))
