"""Carries a packet's plan out, under the library's lock: what waits for the person first, then one batch.

Whatever crashes in between, the next try finds what was done by the packet's id and does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ultan.curator import plan as plans
from ultan.curator.actions import Act
from ultan.curator.draft import Draft
from ultan.curator.facts import Sight
from ultan.curator.packet import Packet
from ultan.curator.plan import Plan
from ultan.library.journal import Journal
from ultan.library.store import Store
from ultan.wire.batch import Batch
from ultan.wire.failures import ChangedMeanwhile
from ultan.wire.journal import Writer
from ultan.wire.redact import redact_value

BY = "curator"
# How far back a packet's own record is looked for: it was written minutes ago, or before a crash.
RECENT = 500
# An editor may save a file between two looks at it; after so many times what is left waits for the person.
TRIES = 4


class Executor:
    """Writes to one library. `refused` and `hash_of` as in facts.Sight; `review` asks for the setting."""

    def __init__(
        self,
        store: Store,
        journal: Journal,
        refused: Callable[[str], str],
        hash_of: Callable[[str], str],
        review: Callable[[], bool] = lambda: False,
    ) -> None:
        self.store = store
        self.journal = journal
        self.refused = refused
        self.hash_of = hash_of
        self.review = review

    def carry_out(
        self, packet: Packet, asked: Sequence[Act], baselines: Mapping[str, str] | None, now: float
    ) -> Plan | None:
        """Do what the policy lets be done; None where this packet was carried out before.

        Raises LibraryBusy, BatchFailed, ForeignHome or OSError; the packet is then to be tried again.
        """
        for left in reversed(range(TRIES)):
            try:
                with self.journal.writer() as writer:
                    return self._once(writer, packet, asked, baselines, now)
            except ChangedMeanwhile:
                if not left:
                    raise
        raise AssertionError("the last try returns or raises")

    def veto(self, packet: Packet, asked: Sequence[Act], reason: str, now: float) -> None:
        """Keep for the log that the Scholar refused a packet's proposal, and why."""
        with self.journal.writer() as writer:
            recent = self.journal.log(RECENT)
            if any(batch.meta.get("packet") == packet.id and batch.meta.get("vetoed") for batch in recent):
                return
            meta: dict[str, object] = {
                "packet": packet.id,
                "session": packet.session_id,
                "vetoed": True,
                "actions": redact_value(
                    [action.model_dump(mode="json", exclude_defaults=True) for action in asked]
                ),
            }
            writer.put(Batch([], "scholar", f"vetoed: {redact_value(reason)}", meta=meta), "rejected", now)

    def _once(
        self,
        writer: Writer,
        packet: Packet,
        asked: Sequence[Act],
        baselines: Mapping[str, str] | None,
        now: float,
    ) -> Plan | None:
        recent = self.journal.log(RECENT)
        mine = [batch for batch in recent if batch.meta.get("packet") == packet.id]
        if any(batch.meta.get("outcomes") is not None for batch in mine):
            return None
        waiting = self.journal.pending()
        sight = Sight(
            self.refused,
            self.hash_of,
            plans.hashes(b.meta for b in waiting if b.meta.get("packet") != packet.id),
            baselines,
            _counted(recent, packet.session_id),
            self.review(),
        )
        plan = plans.plan(packet, asked, Draft(self.store.scan(), writer.current), sight, now)
        put = [batch.meta.get("action") for batch in mine]
        for proposal in plan.proposals:
            if proposal.meta["action"] not in put:
                writer.put(Batch(proposal.changes, BY, proposal.reason, meta=proposal.meta), "proposed", now)
        if plan.changes:
            writer.apply(self._batch(packet, plan), now)
        return plan

    def _batch(self, packet: Packet, plan: Plan) -> Batch:
        done = [one for one in plan.outcomes if one.verb == "apply"]
        meta: dict[str, object] = {
            "packet": packet.id,
            "session": packet.session_id,
            "outcomes": [outcome.as_json() for outcome in plan.outcomes],
            "evidence": [quote for one in done for quote in plans.evidence_of(packet, one.action)],
        }
        if plan.used:
            meta["used"] = [list(use) for use in plan.used]
        return Batch(plan.changes, BY, plan.reason, meta=meta)


def _counted(batches: Sequence[Batch], session: str) -> frozenset[tuple[str, int]]:
    """(entry, turn) of the uses that were counted for a session."""
    found: set[tuple[str, int]] = set()
    for batch in batches:
        used = batch.meta.get("used")
        if batch.meta.get("session") == session and isinstance(used, list):
            found.update((str(id), int(turn)) for id, turn in used)
    return frozenset(found)
