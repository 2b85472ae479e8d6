"""Carrying out what moves, joins, archives or brings back entries, on a draft. Pure: bytes in, bytes out.

Functions change the draft or raise Impossible, as those of `changes` do.
"""

from __future__ import annotations

from collections.abc import Mapping

from ultan.curator.actions import (
    AbstractEntries,
    ArchiveEntry,
    MergeEntries,
    MoveEntry,
    ResurrectEntry,
    SplitFolder,
)
from ultan.curator.changes import Circumstances, Impossible, existing, linked, place, unique, with_hash
from ultan.curator.draft import Draft
from ultan.curator.grounding import content_words
from ultan.library.edit import FieldValue, edit, render_new, replace_body, set_field
from ultan.library.entry import parse, scope_of
from ultan.library.moves import repoint_file
from ultan.wire.failures import BadPath
from ultan.wire.files import utc_now
from ultan.wire.paths import check_new, fold

ARCHIVE = "_archive"
# How much of what each of the merged entries says must be in the result.
LEAST_KEPT = 0.75


def merge(draft: Draft, action: MergeEntries, at: Circumstances) -> None:
    """Put what several entries say into one; the others go out of use and name it."""
    if action.into not in action.ids:
        raise Impossible("`into` must be one of the merged entries")
    kept, raw = existing(draft, action.into)
    others = [existing(draft, id) for id in unique(action.ids) if id != action.into]
    if not others:
        raise Impossible("two different entries are needed")
    if len({entry.scope for entry, _ in [(kept, raw), *others]}) > 1:
        raise Impossible("entries of different projects are not merged")
    merged = content_words(f"{action.title} {action.applies_when} {action.body}")
    for entry, _ in [(kept, raw), *others]:
        said = content_words(f"{entry.title} {entry.body}")
        if said and len(said & merged) / len(said) < LEAST_KEPT:
            raise Impossible(f"the merged text leaves out much of what {entry.id} says")
    today = utc_now(at.now)[:10]
    fields: dict[str, FieldValue] = {
        "title": action.title,
        "supersedes": unique([*kept.supersedes, *(entry.id for entry, _ in others)]),
        "reinforced": kept.reinforced + sum(entry.reinforced for entry, _ in others),
        "fired_helpful": kept.fired_helpful + sum(entry.fired_helpful for entry, _ in others),
    }
    if action.applies_when.strip():
        fields["applies_when"] = " ".join(action.applies_when.split())
    if action.tags:
        fields["tags"] = list(action.tags)
    changed = replace_body(edit(raw, fields, at.now, kept.path), _as_body(action.body), kept.path)
    draft.put(kept.path, with_hash(changed, kept.path))
    for entry, theirs in others:
        gone: dict[str, FieldValue] = {
            "status": "deprecated",
            "superseded_by": unique([*entry.superseded_by, kept.id]),
            "updated": today,
        }
        draft.put(entry.path, edit(theirs, gone, at.now, entry.path))


def split(draft: Draft, action: SplitFolder, at: Circumstances) -> None:
    """Move entries of one folder into subfolders of it."""
    for old, new in action.moves.items():
        if old.rpartition("/")[0] != action.folder:
            raise Impossible(f"{old} does not lie in {action.folder}")
        if not new.startswith(action.folder + "/") or new.rpartition("/")[0] == action.folder:
            raise Impossible(f"{new} is no place in a subfolder of {action.folder}")
    relocate(draft, action.moves, at)


def move(draft: Draft, action: MoveEntry, at: Circumstances) -> None:
    """Give one entry another place."""
    relocate(draft, {action.id: action.to}, at)


def relocate(draft: Draft, moves: Mapping[str, str], at: Circumstances) -> None:
    """Give entries other ids, with every link and relation that names them."""
    names = draft.names()
    taken = {fold(id) for id in draft.ids()}
    for old, new in moves.items():
        entry, raw = existing(draft, old)
        try:
            check_new(new + ".md")
        except BadPath as error:
            raise Impossible(str(error)) from None
        if fold(new) in taken:
            raise Impossible(f"{new} is taken")
        if "/" not in new or new.split("/")[0] not in ("global", "projects"):
            raise Impossible(f"{new} lies neither below global/ nor below projects/")
        taken.add(fold(new))
        fields: dict[str, FieldValue] = {"id": new} if entry.declared_id else {}
        if entry.declared_id and scope_of(new + ".md") != entry.scope:
            fields["scope"] = scope_of(new + ".md")
        after = repoint_file(raw, dict(moves), names, old, new)
        draft.put(entry.path, None)
        draft.put(new + ".md", edit(after, fields, at.now, entry.path) if fields else after)
    for id in sorted(draft.ids() - set(moves.values())):
        other = draft.entry(id)
        before = draft.raw(other.path) if other is not None else None
        if other is None or before is None or not other.readable:
            continue
        changed = repoint_file(before, dict(moves), names, id)
        for key, ids in (("supersedes", other.supersedes), ("superseded_by", other.superseded_by)):
            if any(one in moves for one in ids):
                changed = set_field(changed, key, [moves.get(one, one) for one in ids], other.path)
        if changed != before:
            curated = not other.hand_edited
            draft.put(other.path, with_hash(changed, other.path) if curated else changed)


def abstract(draft: Draft, action: AbstractEntries, at: Circumstances) -> str:
    """Write a more general entry above others; they stay, and both sides name each other."""
    children = [existing(draft, id) for id in unique(action.children)]
    if len(children) < 2:
        raise Impossible("two different entries are needed")
    if any(entry.type == "abstraction" for entry, _ in children):
        raise Impossible("an abstraction is no child of another")
    scopes = {entry.scope for entry, _ in children}
    id = place(draft, action.id, action.tags)
    if len(scopes) == 1 and scope_of(id + ".md") not in (*scopes, "global"):
        raise Impossible("the abstraction must lie where its children are")
    if len(scopes) > 1 and scope_of(id + ".md") != "global":
        raise Impossible("an abstraction over several projects is global")
    strongest = max(entry.encoding_strength for entry, _ in children)
    fields: dict[str, FieldValue] = {
        "id": id,
        "title": action.title,
        "type": "abstraction",
        "scope": scope_of(id + ".md"),
        "status": "active",
        # No stronger than what it stands on.
        "encoding_strength": round(min(action.cohesion, strongest), 3),
        "source": {"by": "curator", "session": at.session},
    }
    if action.applies_when.strip():
        fields["applies_when"] = " ".join(action.applies_when.split())
    if action.tags:
        fields["tags"] = list(action.tags)
    body = linked(draft, action.body, [entry.id for entry, _ in children], id)
    draft.put(id + ".md", with_hash(render_new(fields, body, at.now), id + ".md"))
    for entry, raw in children:
        body = linked(draft, entry.body, [id], entry.id)
        changed = replace_body(raw, body, entry.path)
        draft.put(entry.path, changed if entry.hand_edited else with_hash(changed, entry.path))
    return id


def archive(draft: Draft, action: ArchiveEntry, at: Circumstances) -> None:
    """Take an entry out of sight: below `_archive/`, stale, with the date. Nothing is deleted."""
    entry, raw = existing(draft, action.id)
    there = f"{ARCHIVE}/{entry.path}"
    if draft.raw(there) is not None:
        there = f"{ARCHIVE}/{entry.id}-{utc_now(at.now)[:10]}.md"
    if draft.raw(there) is not None:
        raise Impossible(f"{there} is there already")
    fields: dict[str, FieldValue] = {"status": "stale", "archived": utc_now(at.now)[:10]}
    draft.put(there, edit(raw, fields, at.now, entry.path))
    draft.put(entry.path, None)


def resurrect(draft: Draft, action: ResurrectEntry, at: Circumstances) -> None:
    """Bring an archived entry back to where it was."""
    id = action.id.removeprefix(ARCHIVE + "/")
    archived = f"{ARCHIVE}/{id}.md"
    raw = draft.raw(archived)
    if raw is None:
        raise Impossible(f"there is no archived entry {id}")
    if draft.entry(id) is not None:
        raise Impossible(f"{id} is in use already")
    entry = parse(id + ".md", raw)
    if not entry.readable or not entry.editable:
        raise Impossible(f"{archived} cannot be changed: its header cannot be read for sure")
    draft.put(id + ".md", edit(raw, {"status": "active"}, at.now, archived))
    draft.put(archived, None)


def _as_body(text: str) -> str:
    return "\n" + text.strip("\n") + "\n"
