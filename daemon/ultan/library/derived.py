"""The derived files of the home: what the hooks read instead of the library. Pure."""

from __future__ import annotations

import json

from ultan.library.entry import Entry, Trigger
from ultan.library.excerpt import excerpt
from ultan.library.patterns import check
from ultan.library.scopes import identity_map, overridden, projects
from ultan.library.store import Snapshot

TRIGGERS_VERSION = 1


def catalog_rows(snapshot: Snapshot) -> list[dict[str, object]]:
    """One row an entry, sorted by id, for `build_catalog`.

    status is the entry's, or "unreadable", or "superseded" where an active global entry supersedes it;
    overridden_in (only where not empty) names the projects whose own entries stand before it.
    """
    everywhere = overridden(snapshot.entries, None)
    by_project = _overridden_in(snapshot)
    rows = []
    for id in sorted(snapshot.entries):
        entry = snapshot.entries[id]
        row: dict[str, object] = {
            "id": entry.id,
            "title": entry.title,
            "type": entry.type,
            "scope": entry.scope,
            "status": _status(entry, id in everywhere),
            "updated": entry.updated,
            "applies_when": entry.applies_when,
            "tags": list(entry.tags),
            "body": entry.body,
            "excerpt": excerpt(entry),
        }
        if by_project.get(id):
            row["overridden_in"] = by_project[id]
        rows.append(row)
    return rows


def catalog_projects(snapshot: Snapshot) -> dict[str, str]:
    """identity -> slug; a project folder without identities is there as `name:<slug>`."""
    return identity_map(snapshot)


def triggers(snapshot: Snapshot) -> bytes:
    """The bytes of triggers.json: the patterns of every active entry that none supersedes everywhere.

    A pattern that is refused is there with the reason: what is not even valid can never be held against
    anything, but of an entry that blocks, the person is asked.
    """
    everywhere = overridden(snapshot.entries, None)
    by_project = _overridden_in(snapshot)
    entries = []
    for id in sorted(snapshot.entries):
        entry = snapshot.entries[id]
        if not entry.block_triggers or not entry.primable or id in everywhere:
            continue
        found: dict[str, object] = {
            "id": entry.id,
            "title": entry.title,
            "type": entry.type,
            "excerpt": excerpt(entry),
            "scope": entry.scope,
            "severity": entry.severity,
            "updated": entry.updated,
            "triggers": [trigger_row(trigger) for trigger in entry.block_triggers],
        }
        if by_project.get(id):
            found["overridden_in"] = by_project[id]
        entries.append(found)
    lines = ",\n".join(json.dumps(entry, ensure_ascii=True) for entry in entries)
    return f'{{"v": {TRIGGERS_VERSION}, "entries": [\n{lines}\n]}}\n'.encode("ascii")


def trigger_row(trigger: Trigger) -> dict[str, object]:
    """A pattern as triggers.json has it."""
    found = check(trigger.pattern)
    row: dict[str, object] = {"tool": trigger.tool, "field": trigger.field, "pattern": trigger.pattern}
    if found.refused:
        row["refused"] = found.refused
    elif found.literals:
        row["literals"] = list(found.literals)
    return row


def _status(entry: Entry, superseded: bool) -> str:
    if not entry.readable:
        return "unreadable"
    return "superseded" if superseded and entry.status == "active" else entry.status


def _overridden_in(snapshot: Snapshot) -> dict[str, list[str]]:
    """id -> slugs of the projects that override it by an entry of their own."""
    everywhere = overridden(snapshot.entries, None)
    found: dict[str, list[str]] = {}
    for slug in projects(snapshot):
        for id in overridden(snapshot.entries, slug) - everywhere:
            found.setdefault(id, []).append(slug)
    return found
