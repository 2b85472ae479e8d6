"""Carrying out what the curator may do to single entries, on a draft. Pure: bytes in, bytes out.

Each function changes the draft or raises Impossible, which leaves the draft in an undefined state: callers
try on a copy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ultan.curator.actions import (
    AddWikilink,
    CreateEntry,
    DeprecateEntry,
    MarkUsed,
    Reinforce,
    SetTrigger,
    UpdateEntry,
    WriteReadme,
)
from ultan.curator.draft import Draft
from ultan.library import markers
from ultan.library.edit import FieldValue, edit, render_new, replace_body, set_field, set_fields
from ultan.library.entry import Entry, body_hash, parse, scope_of
from ultan.library.links import find
from ultan.library.lint import broken_links
from ultan.library.scopes import render_readme
from ultan.wire.classify import file_name
from ultan.wire.failures import BadPath
from ultan.wire.files import utc_now
from ultan.wire.paths import check_new, fold

# The curator's aim for the entries of one folder.
MOST_IN_FOLDER = 5
MOST_DEPTH = 6
RELATED = "## Related"


class Impossible(Exception):
    """The action cannot be carried out; the message says why, for the log and the models."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a change is stamped with. project: the session's slug, "" for none; identities: what a new project
    is known by; by: whose word it is (user, agent, tool); strength: encoding strength by signal."""

    now: float
    session: str = ""
    project: str = ""
    identities: tuple[str, ...] = ()
    by: str = "user"
    quote: str = ""
    strength: float = 0.5
    supersedes: tuple[str, ...] = ()


def stamped(at: Circumstances) -> dict[str, object]:
    """Circumstances as a record keeps them; `now` is when it is carried out."""
    found = dataclasses.asdict(at)
    del found["now"]
    return found


def restored(values: Mapping[str, object], now: float) -> Circumstances:
    """The circumstances that a record keeps. Raises TypeError or ValueError for what is none."""
    fields = dict(values)
    for name in ("identities", "supersedes"):
        fields[name] = tuple(str(item) for item in fields.get(name) or ())  # type: ignore[attr-defined]
    return Circumstances(now=now, **fields)  # type: ignore[arg-type]


def create(draft: Draft, action: CreateEntry, at: Circumstances) -> str:
    """Write a new entry; returns the id that it got: its folder may be full, its name taken."""
    id = place(draft, action.id, action.tags)
    body = linked(draft, action.body, action.links, id)
    source = {"by": at.by, "session": at.session, "project": at.project, "quote": at.quote}
    fields: dict[str, FieldValue] = {
        "id": id,
        "title": action.title,
        "type": action.type,
        "scope": scope_of(id + ".md"),
        "status": "active",
        "encoding_strength": at.strength,
        "source": {key: value for key, value in source.items() if value},
    }
    if action.applies_when.strip():
        fields["applies_when"] = " ".join(action.applies_when.split())
    if action.tags:
        fields["tags"] = list(action.tags)
    if at.supersedes:
        fields["supersedes"] = list(at.supersedes)
    draft.put(id + ".md", with_hash(render_new(fields, body, at.now), id + ".md"))
    _claim(draft, id, at)
    return id


def update(draft: Draft, action: UpdateEntry, at: Circumstances) -> None:
    """Give an entry another text; `curated` follows the new body."""
    entry, raw = existing(draft, action.id)
    fields: dict[str, FieldValue] = {}
    if action.title is not None:
        fields["title"] = action.title
    if action.applies_when is not None:
        fields["applies_when"] = " ".join(action.applies_when.split())
    if action.tags is not None:
        fields["tags"] = list(action.tags)
    changed = edit(raw, fields, at.now, entry.path)
    if action.body is not None:
        changed = replace_body(changed, "\n" + action.body.strip("\n") + "\n", entry.path)
        changed = set_field(with_hash(changed, entry.path), "updated", utc_now(at.now)[:10], entry.path)
    if changed == raw:
        raise Impossible(f"{entry.id} says this already")
    draft.put(entry.path, changed)


def reinforce(draft: Draft, action: Reinforce, at: Circumstances) -> None:
    """One more time that the person said it: a count and a date, nothing else."""
    entry, raw = existing(draft, action.id)
    fields: dict[str, FieldValue] = {
        "reinforced": entry.reinforced + 1,
        "last_reinforced": utc_now(at.now)[:10],
    }
    draft.put(entry.path, set_fields(raw, fields, entry.path))


def mark_used(draft: Draft, action: MarkUsed) -> None:
    """One more time that the agent relied on it."""
    entry, raw = existing(draft, action.id)
    draft.put(entry.path, set_field(raw, "fired_helpful", entry.fired_helpful + 1, entry.path))


def deprecate(draft: Draft, action: DeprecateEntry, at: Circumstances) -> None:
    """Take an entry out of use; it and its successor name each other."""
    entry, raw = existing(draft, action.id)
    fields: dict[str, FieldValue] = {"status": "deprecated"}
    if action.successor:
        successor, theirs = existing(draft, action.successor)
        if successor.id == entry.id:
            raise Impossible("an entry cannot be its own successor")
        fields["superseded_by"] = unique([*entry.superseded_by, successor.id])
        named = unique([*successor.supersedes, entry.id])
        if list(successor.supersedes) != named:
            draft.put(successor.path, set_field(theirs, "supersedes", named, successor.path))
    draft.put(entry.path, edit(raw, fields, at.now, entry.path))


def add_wikilink(draft: Draft, action: AddWikilink, at: Circumstances) -> None:
    """Name an entry in the list at the end of another."""
    entry, raw = existing(draft, action.id)
    other, _ = existing(draft, action.to)
    body = linked(draft, entry.body, [other.id], entry.id)
    if body == entry.body or other.id == entry.id:
        raise Impossible(f"{entry.id} names {other.id} already")
    changed = replace_body(raw, body, entry.path)
    draft.put(entry.path, changed if entry.hand_edited else with_hash(changed, entry.path))


def set_trigger(draft: Draft, action: SetTrigger, at: Circumstances) -> None:
    """Add patterns to those that an entry has."""
    entry, raw = existing(draft, action.id)
    rows = [{"tool": t.tool, "field": t.field, "pattern": t.pattern} for t in entry.block_triggers]
    rows += [{"tool": t.tool, "field": t.field, "pattern": t.pattern} for t in action.patterns]
    fresh = [row for number, row in enumerate(rows) if row not in rows[:number]]
    if len(fresh) == len(entry.block_triggers) and action.severity == entry.severity:
        raise Impossible(f"{entry.id} has these patterns already")
    fields: dict[str, FieldValue] = {"block_triggers": fresh}
    if action.severity != entry.severity:
        fields["severity"] = action.severity
    draft.put(entry.path, edit(raw, fields, at.now, entry.path))


def write_readme(draft: Draft, action: WriteReadme) -> None:
    """Put a text above a folder's list of children."""
    page = draft.snapshot.readme(action.folder)
    path = page.path if page is not None else f"{action.folder}/README.md"
    raw = draft.raw(path)
    title = "# " + action.folder.rpartition("/")[2]
    text = raw.decode("utf-8", "strict") if raw is not None else title + "\n"
    head, mark, rest = text.partition("<!-- ultan:")
    first = head.rstrip().splitlines()[0] if head.strip() and not head.startswith("---") else title
    kept = head.rstrip() if head.startswith("---") else first
    draft.put(path, (f"{kept}\n\n{action.text.strip()}\n\n{mark}{rest}".rstrip() + "\n").encode("utf-8"))


def has_prose(draft: Draft, folder: str) -> bool:
    """Whether a folder's README says something of a person's own."""
    page = draft.snapshot.readme(folder)
    if page is None:
        return False
    try:
        own = markers.own_text(page.raw.decode("utf-8"))
    except (UnicodeDecodeError, markers.BrokenMarkers):
        return True
    if own.startswith("---\n"):
        own = own[4:].partition("\n---\n")[2]
    return any(line.strip() and not line.startswith("# ") for line in own.splitlines())


def existing(draft: Draft, id: str) -> tuple[Entry, bytes]:
    """An entry that can be changed, and its bytes. Raises Impossible."""
    entry = draft.entry(id)
    if entry is None:
        raise Impossible(f"there is no entry {id}")
    raw = draft.raw(entry.path)
    if raw is None or not entry.readable or not entry.editable:
        raise Impossible(f"{id} cannot be changed: its header cannot be read for sure")
    return parse(entry.path, raw), raw


def place(draft: Draft, wanted: str, tags: Iterable[str] = ()) -> str:
    """The id that a new entry gets: in a full folder a subfolder is begun, a taken name gets a number."""
    folder, _, name = wanted.strip("/").rpartition("/")
    folder = draft.spelled(folder)
    topics = [file_name(tag, set()) for tag in tags]
    while len(draft.in_folder(folder)) >= MOST_IN_FOLDER and folder.count("/") < MOST_DEPTH:
        used = folder.split("/")
        topic = next((topic for topic in topics if topic not in used), None)
        if topic is None:
            break
        folder = draft.spelled(f"{folder}/{topic}")
    taken = {fold(other) for other in draft.in_folder(folder)}
    unique_name, number = name, 1
    while fold(unique_name) in taken:
        number += 1
        unique_name = f"{name}-{number}"
    id = f"{folder}/{unique_name}"
    try:
        check_new(id + ".md")
    except BadPath as error:
        raise Impossible(str(error)) from None
    return id


def linked(draft: Draft, body: str, links: Iterable[str], source: str) -> str:
    """A body whose `## Related` list names these entries, each once; unknown ids are left out."""
    text = body.strip("\n")
    names = draft.names()
    known = draft.ids()
    present = {names.resolve(link, source).id for link in find(text)}
    fresh = [id for id in unique(links) if id in known and id != source and id not in present]
    if not fresh:
        return body
    lines = [f"- [[{id}]]" for id in fresh]
    _, mark, rest = text.rpartition(RELATED + "\n")
    if mark and "\n#" not in rest:
        return f"{text}\n" + "\n".join(lines) + "\n"
    return f"{text}\n\n{RELATED}\n\n" + "\n".join(lines) + "\n"


def dangling(draft: Draft, id: str) -> list[str]:
    """The links of an entry that lead nowhere."""
    entry = draft.entry(id)
    return [link.target for link, _ in broken_links(entry, draft.names())] if entry is not None else []


def with_hash(raw: bytes, path: str) -> bytes:
    """A file whose `curated` is the hash of its body."""
    return set_field(raw, "curated", body_hash(parse(path, raw).body), path)


def unique(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))


def _claim(draft: Draft, id: str, at: Circumstances) -> None:
    """Make a project's README where this is its first entry, so that its repository is known by it."""
    parts = id.split("/")
    if parts[0] != "projects" or len(parts) < 3:
        return
    folder = "/".join(parts[:2])
    path = f"{folder}/README.md"
    if draft.snapshot.readme(folder) is None and draft.raw(path) is None:
        mine = list(at.identities[:1]) if parts[1] == at.project else []
        draft.put(path, render_readme(parts[1], mine, at.now))
