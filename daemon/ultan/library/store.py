"""The library on the disk: its entries, each read once and again only when its file changed."""

from __future__ import annotations

import difflib
import hashlib
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ultan.library.entry import Entry, Problem, parse
from ultan.library.errors import BadPath, NoSuchEntry
from ultan.library.foreign import merge_marker_line, numbered_original
from ultan.library.walk import Listing, Signature, walk
from ultan.wire.files import FileTooLarge, read_limited
from ultan.wire.home import Home
from ultan.wire.paths import check_form, reach

FILE_LIMIT = 1 << 20
# Files at the root that are derived, not entries.
DERIVED = ("index.md", "log.md")
# A file changed this shortly before it was read may change again within one tick of a coarse file
# system's clock, unseen; the next scan reads it again.
RACY_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Page:
    """A README, or index.md or log.md: no entry, but kept in mind with its bytes."""

    path: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the library held at one moment; `Store.scan` gives the same object while nothing changed.

    entries: by id. pages: by path, every README and the root's index.md and log.md. archived: ids of what
    lies below `_archive/`. files: paths of everything that is no markdown. problems: files left out.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    pages: Mapping[str, Page] = field(default_factory=dict)
    archived: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()

    def readme(self, folder: str) -> Page | None:
        """The README of a folder ("" for the root), whatever its case."""
        prefix = f"{folder}/" if folder else ""
        plain = self.pages.get(prefix + "README.md")
        if plain is not None:
            return plain
        return next((page for path, page in self.pages.items() if path.lower() == f"{prefix}readme.md"), None)


@dataclass(frozen=True, slots=True)
class _Known:
    """What one file gave. `signature` None: read it again next time."""

    signature: Signature | None
    digest: str
    found: Entry | Page | Problem


class Store:
    """Reads the library of one home; safe to share between threads."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.root = os.path.realpath(home.knowledge)
        self._known: dict[str, _Known] = {}
        self._listing = Listing()
        self._snapshot: Snapshot | None = None
        self._guard = threading.Lock()

    def scan(self) -> Snapshot:
        """The library as it is now; only files whose stat signature changed are read."""
        with self._guard:
            root = os.path.realpath(self.home.knowledge)
            if root != self.root:  # the folder was replaced, by another or by a link to one
                self.root, self._known = root, {}
            listing = walk(root)
            known, changed = self._refreshed(listing)
            if not changed and self._snapshot is not None and _same(listing, self._listing):
                return self._snapshot
            self._listing = listing
            self._snapshot = _assemble(known, listing)
            return self._snapshot

    def read(self, id: str) -> Entry:
        """One entry, fresh from the disk. Raises NoSuchEntry (naming similar ids) or BadPath."""
        path = id + ".md"
        check_form(path)
        try:
            return parse(path, self.raw(path))
        except OSError:
            entries = self.scan().entries
        if id in entries:  # its name on the disk is in another Unicode form than its id
            return entries[id]
        raise NoSuchEntry(id, near(id, entries))

    def raw(self, path: str) -> bytes:
        """The bytes of a file of the library. Raises BadPath or OSError."""
        return read_limited(self.resolve(path), FILE_LIMIT)

    def resolve(self, path: str) -> str:
        """The absolute path of `path`, relative to knowledge/. Raises BadPath where it is malformed or
        where a part of it is a link."""
        check_form(path)
        return reach(self.root, path)

    def _refreshed(self, listing: Listing) -> tuple[dict[str, _Known], bool]:
        changed = len(listing.pages) != len(self._known)
        known: dict[str, _Known] = {}
        for path, signature in listing.pages.items():
            before = self._known.get(path)
            if before is not None and before.signature == signature:
                known[path] = before
                continue
            after = _load(self.root, path, signature, before)
            changed = changed or before is None or after is None or after.found is not before.found
            if after is not None:
                known[path] = after
        self._known = known
        return known, changed


def near(id: str, entries: Mapping[str, Entry]) -> list[str]:
    """Up to three ids that a mistyped one may have meant: by its whole, else by its last part."""
    found = difflib.get_close_matches(id, entries, n=3, cutoff=0.75)
    name = id.rpartition("/")[2]
    return found or sorted(other for other in entries if other.rpartition("/")[2] == name)[:3]


def _same(one: Listing, other: Listing) -> bool:
    return one.files == other.files and one.archived == other.archived and one.problems == other.problems


def _load(root: str, path: str, signature: Signature, before: _Known | None) -> _Known | None:
    """Read one file; None if it is gone meanwhile. Unchanged bytes keep the object that was there."""
    try:
        raw = read_limited(reach(root, path), FILE_LIMIT)
    except FileNotFoundError:
        return None
    except FileTooLarge:
        problem = Problem(path, 1, "too-large", "the file is over 1 MiB", "split it")
        return _Known(signature, "", _kept(problem, before))
    except (OSError, BadPath) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = Problem(path, 1, "cannot-read", reason, "check its permissions")
        return _Known(None, "", _kept(problem, before))
    digest = hashlib.sha256(raw).hexdigest()
    same = before is not None and before.digest == digest
    found = before.found if before is not None and same else _understand(path, raw)
    racy = abs(time.time_ns() - signature[0]) < RACY_NS
    return _Known(None if racy else signature, digest, found)


def _kept(problem: Problem, before: _Known | None) -> Entry | Page | Problem:
    return before.found if before is not None and before.found == problem else problem


def _understand(path: str, raw: bytes) -> Entry | Page | Problem:
    if path in DERIVED or path.rpartition("/")[2].lower() == "readme.md":
        return Page(path, raw)
    if b"<<<<<<< " in raw:
        line = merge_marker_line(raw.decode("utf-8", "replace"))
        if line is not None:
            return Problem(path, line, "merge-markers", "a merge was not finished", "resolve it and save")
    return parse(path, raw)


def _assemble(known: Mapping[str, _Known], listing: Listing) -> Snapshot:
    entries: dict[str, Entry] = {}
    pages: dict[str, Page] = {}
    problems = list(listing.problems)
    for path in sorted(known):
        found = known[path].found
        if isinstance(found, Problem):
            problems.append(found)
        elif isinstance(found, Page):
            pages[path] = found
        elif _is_copy(found, known):
            problems.append(
                Problem(path, 1, "conflict-copy", "a copy of the file beside it", "merge or delete it")
            )
        elif found.id in entries:
            problems.append(
                Problem(path, 1, "same-id", f"{entries[found.id].path} has the same id", "rename one")
            )
        else:
            entries[found.id] = found
    return Snapshot(
        entries,
        pages,
        frozenset(listing.archived),
        frozenset(listing.files),
        tuple(sorted(problems, key=_place)),
    )


def _place(problem: Problem) -> tuple[str, int, str]:
    return problem.path, problem.line, problem.code


def _is_copy(entry: Entry, known: Mapping[str, _Known]) -> bool:
    """Whether `x 2.md` is a sync tool's copy of `x.md`: it holds the same id or the same bytes."""
    path = numbered_original(entry.path)
    original = known[path].found if path is not None and path in known else None
    if not isinstance(original, Entry):
        return False
    return entry.declared_id == original.id or entry.content_hash == original.content_hash
