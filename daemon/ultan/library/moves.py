"""Moving a page: its file, its id and scope, and every link to it, in one batch."""

from __future__ import annotations

from ultan.library.edit import decode, edit, set_field
from ultan.library.entry import Entry, scope_of
from ultan.library.errors import NoSuchEntry, UnreadableEntry
from ultan.library.header import split
from ultan.library.links import Names, repoint
from ultan.library.lint import page_names
from ultan.library.store import Snapshot, Store, near
from ultan.wire.batch import Action


def move(store: Store, snapshot: Snapshot, old: str, new: str, now: float) -> list[Action]:
    """The actions that move the entry `old` to the id `new` and point every link to it there.

    Links keep alias, heading and embed mark; code is left alone. Raises NoSuchEntry, or UnreadableEntry where
    the page itself, or one that names it in its header, cannot be edited.
    """
    entry = snapshot.entries.get(old)
    if entry is None:
        raise NoSuchEntry(old, near(old, snapshot.entries))
    names = page_names(snapshot)
    moved = {old: new}
    raw = store.raw(entry.path)
    after = _own(entry, repoint_file(raw, moved, names, old, new), new, now)
    actions = [Action(entry.path, raw, None), Action(new + ".md", None, after)]
    for other in snapshot.entries.values():
        if other.id != old and (old.rpartition("/")[2] in other.body or _named(other, old)):
            raw = store.raw(other.path)
            changed = _relations(other, repoint_file(raw, moved, names, other.id), old, new)
            if changed != raw:
                actions.append(Action(other.path, raw, changed))
    return actions


def repoint_file(raw: bytes, moved: dict[str, str], names: Names, source: str, new_source: str = "") -> bytes:
    """`raw` with the links of its body changed by `links.repoint`; files that cannot be read stay as is."""
    try:
        text = decode(raw, source)
        body = split(text).body
    except (UnreadableEntry, ValueError):
        return raw
    return (text[:body] + repoint(text[body:], moved, names, source, new_source)).encode("utf-8")


def _own(entry: Entry, raw: bytes, new: str, now: float) -> bytes:
    """The moved page's header: only an id or scope that it states itself is changed."""
    if not entry.readable:
        raise UnreadableEntry(entry.path, "its header cannot be read", "Fix it first (`ultan lint`).")
    fields = {"id": new} if entry.declared_id else {}
    if scope_of(new + ".md") != entry.scope and entry.declared_id:
        fields["scope"] = scope_of(new + ".md")
    return edit(raw, fields, now, entry.path) if fields else raw


def _named(entry: Entry, id: str) -> bool:
    return id in entry.supersedes or id in entry.superseded_by


def _relations(entry: Entry, raw: bytes, old: str, new: str) -> bytes:
    for key in ("supersedes", "superseded_by"):
        ids: tuple[str, ...] = getattr(entry, key)
        if old in ids:
            raw = set_field(raw, key, [new if id == old else id for id in ids], entry.path)
    return raw
