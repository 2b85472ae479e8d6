"""What is known of an action by program: the facts that the policy decides on. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ultan.curator import actions as acts
from ultan.curator.actions import Act
from ultan.curator.changes import has_prose
from ultan.curator.draft import Draft
from ultan.curator.grounding import Ground, best, content_words, plain, support
from ultan.curator.packet import Packet
from ultan.curator.policy import COUNTS, Facts
from ultan.library.entry import Entry, body_hash
from ultan.library.patterns import check
from ultan.retrieval.overrides import alike
from ultan.wire.classify import is_global, same_saying
from ultan.wire.failures import BadPath
from ultan.wire.paths import check_new

# How alike entries of two projects are that say one thing (share of their different words that both hold).
ALIKE = 0.5
# A folder's text is made of what its entries say.
LEAST_FROM_ENTRIES = 0.6
_ID = re.compile(r"(?:global|projects)/\S")


@dataclass(frozen=True, slots=True)
class Sight:
    """What the decisions need to know beside packet and library.

    refused: why a text may not be kept again, "" where it may. pending: hashes of the texts that wait for the
    person; hash_of: makes them. baselines: id -> body hash of the entries as the models read them; None:
    nothing is known of that, and nothing is compared. counted: (entry, turn) of this session's uses that were
    counted. review: `autonomy = "review"`.
    """

    refused: Callable[[str], str] = lambda text: ""
    hash_of: Callable[[str], str] = lambda text: plain(text)
    pending: frozenset[str] = frozenset()
    baselines: Mapping[str, str] | None = None
    counted: frozenset[tuple[str, int]] = field(default=frozenset())
    review: bool = False


def facts(packet: Packet, draft: Draft, action: Act, sight: Sight) -> Facts:
    """The facts about one action."""
    kind = str(getattr(action, "action", ""))
    found = best(packet, action.evidence)
    touched = [entry for id in touches(action) if (entry := draft.entry(id)) is not None]
    text = text_of(action)
    return Facts(
        kind=kind,
        type=_type(action, touched),
        source=found.source,
        says_more=_says_more(packet, draft, action, touched, found),
        invalid=invalid(packet, draft, action),
        duplicate=duplicate(draft, action),
        refused=_refused(sight, text),
        approval=any(entry.requires_approval for entry in touched),
        pinned=any(entry.pinned for entry in touched),
        hand_edited=kind not in COUNTS and any(entry.hand_edited for entry in touched),
        block=any(entry.severity == "block" for entry in touched),
        changed=kind not in COUNTS and _changed(sight, touched),
        successor=isinstance(action, acts.DeprecateEntry) and bool(action.successor),
        shown=isinstance(action, acts.MarkUsed) and action.id in packet.shown,
        counted=isinstance(action, acts.MarkUsed) and _counted(sight, action),
        makes_block=isinstance(action, acts.SetTrigger) and action.severity == "block",
        readme_prose=isinstance(action, acts.WriteReadme) and has_prose(draft, action.folder),
        review=sight.review,
    )


def touches(action: Act) -> tuple[str, ...]:
    """The ids of the existing entries that an action changes."""
    match action:
        case acts.CreateEntry() | acts.WriteReadme() | acts.Nudge() | acts.Noop():
            return ()
        case acts.MergeEntries():
            return action.ids
        case acts.AbstractEntries():
            return action.children
        case acts.SplitFolder():
            return tuple(action.moves)
        case _:
            return (str(getattr(action, "id", "")),)


def text_of(action: Act) -> str:
    """The text that an action would keep; "" for none. What a rejection is remembered by."""
    match action:
        case acts.CreateEntry() | acts.MergeEntries() | acts.AbstractEntries():
            return action.body
        case acts.UpdateEntry():
            return action.body or ""
        case acts.WriteReadme() | acts.Nudge():
            return action.text
        case _:
            return ""


def invalid(packet: Packet, draft: Draft, action: Act) -> str:
    """What is wrong with an action whoever asked for it; "" for nothing."""
    missing = [id for id in acts.targets(action) if _needed(action, id) and draft.entry(id) is None]
    if missing:
        return f"there is no entry {missing[0]}"
    if isinstance(action, acts.CreateEntry | acts.AbstractEntries):
        return bad_id(packet, draft, action.id) or _bad_body(action.body)
    if isinstance(action, acts.UpdateEntry | acts.MergeEntries) and action.body is not None:
        return _bad_body(action.body)
    if isinstance(action, acts.SetTrigger):
        for pattern in action.patterns:
            checked = check(pattern.pattern)
            if checked.refused:
                return f"the pattern {pattern.pattern!r} is refused: {checked.refused}"
            if not checked.literals:
                return f"the pattern {pattern.pattern!r} holds no word that a match must hold"
    if isinstance(action, acts.WriteReadme):
        folder = action.folder.strip("/")
        if not any(id.startswith(folder + "/") for id in draft.ids()):
            return f"there is no folder {folder}"
    return ""


def bad_id(packet: Packet, draft: Draft, id: str) -> str:
    """What is wrong with the id of a new entry; "" for nothing."""
    if not _ID.match(id) or (id.startswith("projects/") and id.count("/") < 2):
        return f"{id}: ids begin with global/<topic>/ or projects/<project>/"
    try:
        check_new(id + ".md")
    except BadPath as error:
        return str(error)
    if id.rpartition("/")[2].lower() in ("readme", "index", "log"):
        return f"{id}: this name is taken by the library's own pages"
    if id.startswith("projects/") and id.split("/")[1] != packet.project:
        return f"{id} belongs to another project than the session"
    return ""


def belongs_global(packet: Packet, draft: Draft, action: acts.CreateEntry) -> bool:
    """Whether a new entry may hold everywhere: the person said so, was in no project, or it is in two."""
    if not packet.project:
        return True
    turns = [packet.turn(evidence.turn) for evidence in action.evidence]
    if any(turn is not None and is_global(turn.said_by("user"), True) for turn in turns):
        return True
    mine = Entry(action.id, "", action.title, "", applies_when=action.applies_when, body=action.body)
    others = (
        entry
        for entry in draft.snapshot.entries.values()
        if entry.scope.startswith("project:") and entry.scope != f"project:{packet.project}"
    )
    return any(entry.primable and alike(mine, entry) >= ALIKE for entry in others)


def duplicate(draft: Draft, action: Act) -> str:
    """The id of an active entry that says what a new one would say; "" for none."""
    if not isinstance(action, acts.CreateEntry):
        return ""
    scope = "project:" + action.id.split("/")[1] if action.id.startswith("projects/") else "global"
    telling = sorted(set(re.findall(r"\w{4,}", action.body.casefold())), key=len)[-4:]
    for id in sorted(draft.ids()):
        entry = draft.entry(id)
        if entry is None or not entry.primable or entry.scope not in (scope, "global"):
            continue
        folded = entry.body.casefold()
        if telling and not any(word in folded for word in telling):
            continue
        if id not in action.contradicts and same_saying(action.body, entry.body):
            return id
    return ""


def _needed(action: Act, id: str) -> bool:
    """Whether an action makes no sense without this entry. A new entry does without those that it names, and
    the archive is apart."""
    return not isinstance(action, acts.CreateEntry | acts.ResurrectEntry)


def _bad_body(body: str) -> str:
    if not body.strip():
        return "the text is empty"
    if body.lstrip().startswith("---\n") or "<!-- ultan:" in body or "<!-- /ultan:" in body or "\0" in body:
        return "the text holds marks that only the library itself writes"
    return ""


def _type(action: Act, touched: Iterable[Entry]) -> str:
    if isinstance(action, acts.CreateEntry):
        return action.type
    if isinstance(action, acts.AbstractEntries):
        return "abstraction"
    return next((entry.type for entry in touched), "")


def _says_more(packet: Packet, draft: Draft, action: Act, touched: list[Entry], found: Ground) -> bool:
    match action:
        case acts.CreateEntry():
            return support(packet, f"{action.title}\n{action.body}").says_more
        case acts.UpdateEntry():
            old = content_words(" ".join(f"{e.title} {e.applies_when} {e.body}" for e in touched))
            new = content_words(f"{action.title or ''} {action.body or ''}")
            return support(packet, " ".join(new - old)).says_more
        case acts.Nudge():
            return support(packet, action.text).says_more
        case acts.WriteReadme():
            inside = [draft.entry(id) for id in draft.ids() if id.startswith(action.folder.strip("/") + "/")]
            theirs = content_words(
                " ".join(f"{e.id} {e.title} {e.applies_when} {e.body}" for e in inside if e)
            )
            mine = content_words(action.text)
            return len(mine & theirs) < LEAST_FROM_ENTRIES * len(mine)
        case acts.SetTrigger():
            said = plain(found.quote) + " " + plain(" ".join(f"{e.title} {e.body}" for e in touched))
            return not all(
                any(literal.strip() in said for literal in check(pattern.pattern).literals)
                for pattern in action.patterns
            )
        case _:
            return False


def _refused(sight: Sight, text: str) -> str:
    if not text.strip():
        return ""
    return sight.refused(text) or (
        "it waits for the person's decision already" if sight.hash_of(text) in sight.pending else ""
    )


def _changed(sight: Sight, touched: Iterable[Entry]) -> bool:
    if sight.baselines is None:
        return False
    return any(sight.baselines.get(entry.id) != body_hash(entry.body) for entry in touched)


def _counted(sight: Sight, action: acts.MarkUsed) -> bool:
    turns = [evidence.turn for evidence in action.evidence]
    return any((action.id, turn) in sight.counted for turn in turns)
