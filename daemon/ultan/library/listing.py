"""The derived pages of the library: child lists in READMEs, index.md, log.md. Pure.

Nothing of a person's is overwritten: only what stands between the markers is. A README is made only in the
folders that Ultan itself keeps: below global/ and projects/, where an entry states its id. A vault that
somebody put here, or notes without ids, get none; a README of theirs is filled in only if it has markers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ultan.library import markers
from ultan.library.entry import Entry
from ultan.library.foreign import merge_marker_line
from ultan.library.store import Page, Snapshot
from ultan.wire.batch import Action, Batch
from ultan.wire.block import LETTERS

KEPT = ("global", "projects")
LOG_LINES = 500


@dataclass(frozen=True, slots=True)
class Folder:
    """What one folder holds. total: entries at any depth. kept: Ultan keeps a README here."""

    entries: list[Entry]
    subfolders: set[str]
    total: int
    kept: bool


def tree(snapshot: Snapshot) -> dict[str, Folder]:
    """Every folder that holds entries at any depth ("" for the root)."""
    entries: dict[str, list[Entry]] = {}
    inner: dict[str, set[str]] = {}
    totals: Counter[str] = Counter()
    kept: set[str] = set()
    for entry in sorted(snapshot.entries.values(), key=lambda entry: entry.path):
        folder = entry.folder
        entries.setdefault(folder, []).append(entry)
        ours = bool(entry.declared_id) and folder.split("/")[0] in KEPT
        totals[folder] += 1
        if ours:
            kept.add(folder)
        while folder:
            above = parent(folder)
            inner.setdefault(above, set()).add(folder)
            folder = above
            totals[folder] += 1
            if ours:
                kept.add(folder)
    return {
        folder: Folder(entries.get(folder, []), inner.get(folder, set()), total, folder in kept)
        for folder, total in sorted(totals.items())
    }


def readmes(snapshot: Snapshot, folders: Mapping[str, Folder]) -> Iterator[Action]:
    """READMEs to create, change or remove, by folder."""
    nothing = Folder([], set(), 0, False)
    with_page = {parent(path) for path in snapshot.pages if path.rpartition("/")[2].lower() == "readme.md"}
    for folder in sorted({*folders, *with_page}):
        found = folders.get(folder, nothing)
        page = snapshot.readme(folder)
        name = plain(folder.rpartition("/")[2]) or "Library"
        content = _children(found, folders, snapshot)
        if page is None:
            if found.kept:
                text = markers.put(f"# {name}\n", "children", content)
                yield Action(f"{folder}/README.md".lstrip("/"), None, text.encode("utf-8"))
            continue
        there = _text(page)
        if there is None or not (found.kept or markers.has(there)):
            continue
        if not found.total and markers.own_text(there).strip() == f"# {name}":
            yield Action(page.path, page.raw, None)
            continue
        yield from _filled(page, there, "children", content)


def index(snapshot: Snapshot, folders: Mapping[str, Folder]) -> Iterator[Action]:
    """index.md: every entry by folder."""
    lines: list[str] = []
    for folder, found in folders.items():
        if found.entries:
            lines += ["", f"## {plain(folder) or 'Library'}", ""]
            lines += [_entry_line(entry, entry.path) for entry in found.entries]
    if lines:
        lines = [*lines, ""]
    yield from _whole_page(
        snapshot, "index.md", "# Index", "index", lines, "" in folders and folders[""].kept
    )


def log(snapshot: Snapshot, batches: Sequence[Batch]) -> Iterator[Action]:
    """log.md, newest first: a line a batch. Lines of other machines' journals are kept among them."""
    known = {batch.id for batch in batches}
    lines = [_log_line(batch) for batch in batches]
    page = snapshot.pages.get("log.md")
    if page is not None:
        for line in page.raw.decode("utf-8", "replace").splitlines():
            found = _LOG_LINE.match(line)
            if found and found["id"] not in known:
                lines.append(line)
    lines.sort(key=lambda line: line[2:22], reverse=True)
    yield from _whole_page(snapshot, "log.md", "# Log", "log", lines[:LOG_LINES], bool(lines))


def plain(text: str) -> str:
    """`text` as one line that cannot break out of a list item, a link or a heading."""
    folded = " ".join("".join(c if unicodedata.category(c) not in _UNSEEN else " " for c in text).split())
    escaped = "".join(f"\\{c}" if c in "\\[]`*_<>|" else c for c in folded)
    return escaped.replace("<!", "<\\!")  # a title must not pass for a marker


_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_LOG_LINE = re.compile(r"- (?P<ts>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) `(?P<id>[0-9a-f]{8})` ")


def _log_line(batch: Batch) -> str:
    paths = batch.paths
    shown = ", ".join(plain(path) for path in paths[:3]) + (
        f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    )
    reason = f": {plain(batch.reason)}" if batch.reason else ""
    return f"- {batch.ts} `{batch.id}` {batch.state}, by {plain(batch.by)}{reason} ({shown})"


def _children(folder: Folder, folders: Mapping[str, Folder], snapshot: Snapshot) -> str:
    lines = []
    for path in sorted(folder.subfolders):
        name = path.rpartition("/")[2]
        inner = folders[path]
        there = inner.kept or snapshot.readme(path) is not None
        count = "1 entry" if inner.total == 1 else f"{inner.total} entries"
        lines.append(f"- [{plain(name)}/]({quote(name)}/{'README.md' if there else ''}): {count}\n")
    lines += [f"{_entry_line(entry, entry.path.rpartition('/')[2])}\n" for entry in folder.entries]
    return "".join(lines)


def _whole_page(
    snapshot: Snapshot, path: str, title: str, name: str, lines: Sequence[str], wanted: bool
) -> Iterator[Action]:
    """A page at the root; one of a person's own, without markers, is left alone."""
    content = "".join(f"{line}\n" for line in lines)
    page = snapshot.pages.get(path)
    if page is None:
        if wanted:
            yield Action(path, None, markers.put(f"{title}\n", name, content).encode("utf-8"))
        return
    text = _text(page)
    if text is None or not markers.has(text):
        return
    if not wanted and not lines and markers.own_text(text).strip() == title:
        yield Action(page.path, page.raw, None)
    else:
        yield from _filled(page, text, name, content)


def _text(page: Page) -> str | None:
    """The page's text, or None where it is not for a program to change."""
    try:
        text = page.raw.decode("utf-8")
        markers.own_text(text)
    except (UnicodeDecodeError, markers.BrokenMarkers):
        return None
    return text if merge_marker_line(text) is None else None


def _filled(page: Page, text: str, name: str, content: str) -> Iterator[Action]:
    try:
        raw = markers.put(text, name, content).encode("utf-8")
    except markers.BrokenMarkers:  # those of another list: lint says so
        return
    if raw != page.raw:
        yield Action(page.path, page.raw, raw)


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def _entry_line(entry: Entry, path: str) -> str:
    letter = LETTERS[entry.type]
    note = "" if entry.readable else " (its header cannot be read)"
    if entry.status != "active":
        note += f" ({entry.status})"
    when = f": {plain(entry.applies_when)}" if entry.applies_when else ""
    return f"- [{letter}] [{plain(entry.title)}]({quote(path)}){note}{when}"
