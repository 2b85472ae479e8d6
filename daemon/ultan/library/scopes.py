"""Which project an entry belongs to, and which project the person is working in.

A project is a folder `projects/<slug>/`; `identities:` in the front matter of its README says which
repositories (or folders) it means. A folder without any goes by its name.
"""

from __future__ import annotations

from collections.abc import Mapping

from ultan.library import header as front
from ultan.library.edit import edit, render_new
from ultan.library.entry import Entry
from ultan.library.errors import UnreadableEntry
from ultan.library.store import Page, Snapshot
from ultan.wire import projects as wire_projects
from ultan.wire.batch import Action
from ultan.wire.project import same_project


def in_scope(entry: Entry, project: str | None) -> bool:
    """Whether an entry applies in the project with this slug (None: in no project)."""
    return entry.scope == "global" or (project is not None and entry.scope == f"project:{project}")


def overridden(entries: Mapping[str, Entry], project: str | None) -> frozenset[str]:
    """Ids that an active entry in scope supersedes: the project's rule stands before the global one."""
    return frozenset(
        id
        for entry in entries.values()
        if entry.supersedes and entry.primable and in_scope(entry, project)
        for id in entry.supersedes
    )


def overriders(entries: Mapping[str, Entry], project: str | None, id: str) -> list[str]:
    """The ids of the active entries in scope that supersede one."""
    return [
        entry.id
        for entry in entries.values()
        if id in entry.supersedes and entry.primable and in_scope(entry, project)
    ]


def projects(snapshot: Snapshot) -> dict[str, list[str]]:
    """slug -> identities, of every folder below projects/ that holds a page; sorted."""
    found: dict[str, list[str]] = {}
    for path in (*snapshot.pages, *(entry.path for entry in snapshot.entries.values())):
        parts = path.split("/")
        if parts[0] == "projects" and len(parts) > 2:
            found.setdefault(parts[1], [])
    for slug in found:
        page = snapshot.readme(f"projects/{slug}")
        if page is not None:
            found[slug] = identities(page)
    return dict(sorted(found.items()))


def identities(page: Page) -> list[str]:
    """The `identities:` of a project's README; empty where it has none or cannot be read."""
    try:
        parts = front.split(page.raw.decode("utf-8"))
        item = front.read(parts.header).get("identities") if parts.has_header else None
    except (UnicodeDecodeError, front.HeaderError):
        return []
    value = item.values[-1] if item is not None else None
    if isinstance(value, str):
        return [value]
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def identity_map(snapshot: Snapshot) -> dict[str, str]:
    """identity -> slug, for the catalog. A folder without identities appears as `name:<slug>`."""
    found: dict[str, str] = {}
    for slug, theirs in projects(snapshot).items():
        for identity in theirs or [f"name:{slug}"]:
            found.setdefault(identity, slug)
    return found


def project_for(snapshot: Snapshot, mine: list[str]) -> str | None:
    """The slug of the project that these identities (best first) mean, None if the library has none."""
    return wire_projects.slug_for(projects(snapshot), mine) if mine else None


def claim_project(
    snapshot: Snapshot, mine: list[str], now: float, slug: str | None = None
) -> tuple[str, list[Action]]:
    """(slug, actions) that make the library know the project with these identities.

    No action where it does already. A known project, or the folder named by `slug`, learns the best identity
    that it lacks; a new project gets a README. Raises UnreadableEntry where a README cannot be edited.
    """
    known = projects(snapshot)
    found = slug or project_for(snapshot, mine) or wire_projects.new_slug(known, mine)
    theirs = known.get(found, [])
    missing = mine[:1] if not same_project(theirs, mine[:1]) else []
    page = snapshot.readme(f"projects/{found}")
    if not missing:
        return found, []
    if page is None:
        path = f"projects/{found}/README.md"
        return found, [Action(path, None, render_readme(found, theirs + missing, now))]
    if theirs != identities(page):
        raise UnreadableEntry(page.path, "its identities cannot be told", "Fix its header first.")
    changed = edit(page.raw, {"identities": theirs + missing}, now, page.path)
    return found, [Action(page.path, page.raw, changed)]


def render_readme(slug: str, mine: list[str], now: float) -> bytes:
    """The README of a new project."""
    return render_new({"title": slug, "identities": mine}, f"# {slug}\n", now)
