"""A project's note stands before a global one about the same matter: one of the two is enough.

Said outright with `supersedes`, it holds before anything is ranked (library/scopes.py). Here it is told from
the notes themselves, and only between notes that both passed the gate: then the project's is shown in place
of the other, and nothing is lost but a repetition or a contradiction.
"""

from __future__ import annotations

from collections.abc import Sequence

from ultan.library.entry import Entry
from ultan.library.links import Names, find
from ultan.retrieval.snapshot import Snapshot
from ultan.wire.tokens import tokenize

# Two texts of one matter: the cosine of their vectors, or the share of the words of both that both hold.
# No pair of a project's and a global entry of tests/evals is that near; .82 takes in notes that differ.
NEAR_COSINE = 0.88
NEAR_WORDS = 0.6
# A note that links to the other speaks about it; then a family resemblance is enough.
LINKED_COSINE = 0.75
LINKED_WORDS = 0.3


def displaced(snapshot: Snapshot, passed: Sequence[str], project: str | None) -> dict[str, str]:
    """id of a global entry -> id of the project's entry that stands in its place. passed: ids that would be
    shown.
    """
    if project is None:
        return {}
    entries = [snapshot.entries[id] for id in passed]
    ours = [entry for entry in entries if entry.scope == f"project:{project}"]
    found = {}
    for entry in entries:
        if entry.scope == "global":
            by = next((one.id for one in ours if same_matter(snapshot, one, entry)), None)
            if by is not None:
                found[entry.id] = by
    return found


def same_matter(snapshot: Snapshot, ours: Entry, other: Entry) -> bool:
    """Whether two entries are near-duplicates, or near and the first links to the second."""
    linked = links_to(ours, other)
    one, two = snapshot.rows[ours.id], snapshot.rows[other.id]
    if snapshot.embedded[one] and snapshot.embedded[two]:
        cosine = float(snapshot.vectors[one] @ snapshot.vectors[two])
        if cosine >= (LINKED_COSINE if linked else NEAR_COSINE):
            return True
    return alike(ours, other) >= (LINKED_WORDS if linked else NEAR_WORDS)


def alike(one: Entry, two: Entry) -> float:
    """0 to 1: the share of the different words of both texts that both hold (Jaccard)."""
    first, second = (set(tokenize(f"{e.title} {e.applies_when} {e.body}")) for e in (one, two))
    return len(first & second) / (len(first | second) or 1)


def links_to(entry: Entry, other: Entry) -> bool:
    """Whether the body links to the other, by its id or the end of it."""
    names = Names([other.id])
    return any(names.resolve(link, entry.id).id == other.id for link in find(entry.body))
