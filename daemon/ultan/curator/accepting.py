"""A person's yes to a proposal: what it would do is made again from its action, on the library as it is now.

So counters, links and moves that came meanwhile are kept. What it was decided on must still say the same.
"""

from __future__ import annotations

from pydantic import ValidationError

from ultan.curator import actions as acts
from ultan.curator.changes import Circumstances, Impossible, restored
from ultan.curator.draft import Draft
from ultan.curator.plan import carry_out, followers_of, with_followers
from ultan.library.entry import body_hash
from ultan.library.errors import UnreadableEntry, WrongState
from ultan.library.journal import Journal
from ultan.library.store import Store
from ultan.wire.batch import Action, Batch
from ultan.wire.failures import BadPath, ChangedMeanwhile

ADVICE = "Reject it (`ultan review reject {id}`), or make the change by hand (`ultan edit`)."


def accept(store: Store, journal: Journal, id: str, now: float) -> Batch:
    """Carry out a proposed batch. Raises NoSuchBatch, WrongState, or ChangedMeanwhile where an entry says
    something else than when it was proposed; then nothing is written and it still waits."""
    with journal.writer() as writer:
        batch = journal.find(id)
        if batch.state != "proposed":
            raise WrongState(batch.id, batch.state, "proposed")
        if "action" in batch.meta:
            batch.actions = replanned(batch, Draft(store.scan(), writer.current), now)
        return writer.apply(batch, now)


def replanned(batch: Batch, draft: Draft, now: float) -> list[Action]:
    """What a proposed batch would write on the library as it is. Raises ChangedMeanwhile."""
    action, at = _kept(batch, now)
    known = batch.meta.get("baselines")
    for entry_id, digest in (known if isinstance(known, dict) else {}).items():
        entry = draft.entry(entry_id)
        if entry is None or body_hash(entry.body) != digest:
            what = "is no longer there" if entry is None else "says something else now"
            raise ChangedMeanwhile(
                [entry_id + ".md"],
                f"Proposal {batch.id} cannot be carried out: {entry_id} {what}.",
                ADVICE.format(id=batch.id),
            )
    try:
        about = carry_out(draft, action, at)
        with_followers(draft, followers_of(action, about, draft), at)
    except (Impossible, UnreadableEntry, BadPath) as error:
        raise ChangedMeanwhile(
            batch.paths, f"Proposal {batch.id} cannot be carried out: {error}.", ADVICE.format(id=batch.id)
        ) from None
    return draft.actions()


def _kept(batch: Batch, now: float) -> tuple[acts.Act, Circumstances]:
    values, at = batch.meta.get("action"), batch.meta.get("at")
    try:
        if isinstance(values, dict):
            return acts.of(values), restored(at if isinstance(at, dict) else {}, now)
    except (ValidationError, TypeError, ValueError):
        pass
    raise ChangedMeanwhile(
        batch.paths,
        f"Proposal {batch.id} cannot be read: its action is none that this version knows.",
        ADVICE.format(id=batch.id),
    )
