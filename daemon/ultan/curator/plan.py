"""From what the models asked for to what will happen: a plan. Pure; nothing is written here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ultan.curator import actions as acts
from ultan.curator import changes, structure
from ultan.curator.actions import Act
from ultan.curator.changes import Circumstances, Impossible, stamped
from ultan.curator.draft import Draft
from ultan.curator.facts import Sight, belongs_global, duplicate, facts, text_of
from ultan.curator.grounding import Ground, best, ground
from ultan.curator.packet import Packet
from ultan.curator.policy import Decision, Verb, decide
from ultan.library.entry import body_hash
from ultan.library.errors import UnreadableEntry
from ultan.wire.batch import Action as Change
from ultan.wire.failures import BadPath
from ultan.wire.redact import redact_value

# How strongly something is kept, by what made it worth keeping; the lifecycle refines it.
STRENGTH = {"contradicts": 0.8, "drift": 0.6, "novel": 0.6, "reinforces": 0.5, "used_helpfully": 0.5}
BY = {"person": "user", "approval": "user", "assistant": "agent", "tool": "tool", "pasted": "tool"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one action. id: the entry that it is about, as it is called in the library."""

    action: Act
    verb: Verb
    why: str
    id: str = ""

    def as_json(self) -> dict[str, object]:
        """For the journal and the audit."""
        kind = str(getattr(self.action, "action", ""))
        return {"action": kind, "id": self.id, "verb": self.verb, "why": self.why}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A change that the person is to decide: what it would write, and what the record of it says."""

    changes: list[Change]
    reason: str
    meta: dict[str, object]


@dataclass(slots=True)
class Plan:
    """What is to happen for one packet. changes: of what is carried out, in one batch. nudges: lines for the
    session's next prompt. used: (entry, turn) of the uses that are counted."""

    outcomes: list[Outcome] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    proposals: list[Waiting] = field(default_factory=list)
    nudges: list[str] = field(default_factory=list)
    used: list[tuple[str, int]] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """One line for the log: what was learned."""
        done = [one for one in self.outcomes if one.verb == "apply"]
        return "; ".join(f"{_VERBS[str(getattr(one.action, 'action', ''))]} {one.id}" for one in done)


_VERBS = {
    "create_entry": "learned",
    "update_entry": "updated",
    "reinforce": "heard again",
    "mark_used": "used",
    "deprecate_entry": "no longer holds:",
    "merge_entries": "merged into",
    "split_folder": "split",
    "move_entry": "moved",
    "add_wikilink": "linked",
    "abstract_entries": "abstracted",
    "archive_entry": "archived",
    "resurrect_entry": "brought back",
    "set_trigger": "a trigger for",
    "write_readme": "described",
    "nudge": "a nudge",
    "noop": "nothing",
}


def plan(packet: Packet, asked: Sequence[Act], draft: Draft, sight: Sight, now: float) -> Plan:
    """What becomes of the actions of one packet, in their order, each on what those before it left."""
    found = Plan()
    renamed: dict[str, str] = {}
    counted = set(sight.counted)
    proposed = set(sight.pending)
    for action in asked:
        action = _cleaned(_renamed(_placed(packet, draft, action), renamed))
        action = _again(packet, draft, _known(draft, action))
        current = replace(sight, counted=frozenset(counted), pending=frozenset(proposed))
        known = facts(packet, draft, action, current)
        decision = decide(known)
        if decision.verb in ("skip", "refuse"):
            found.outcomes.append(Outcome(action, decision.verb, decision.why, _about(action)))
            continue
        group = draft.copy()
        try:
            id = carry_out(group, action, _at(packet, action, now))
        except (Impossible, UnreadableEntry, BadPath) as error:
            found.outcomes.append(Outcome(action, "refuse", _line(error), _about(action)))
            continue
        if isinstance(action, acts.CreateEntry | acts.AbstractEntries):
            renamed[action.id] = id
        followers = followers_of(action, id, draft)
        if decision.verb == "apply":
            draft = group
            if isinstance(action, acts.Nudge):
                found.nudges.append(action.text)
            if isinstance(action, acts.MarkUsed):
                uses = [(id, evidence.turn) for evidence in action.evidence]
                found.used += uses
                counted.update(uses)
            found.outcomes.append(Outcome(action, "apply", decision.why, id))
            for one in followers:
                draft = _follow(packet, draft, one, current, now, found)
            continue
        with_followers(group, followers, _at(packet, action, now))
        _propose(packet, draft, group, action, decision, id, current, now, found)
        proposed.add(current.hash_of(text_of(action)) if text_of(action) else "")
    found.changes = draft.actions()
    return found


def carry_out(draft: Draft, action: Act, at: Circumstances) -> str:
    """Change the draft as the action says; returns the id of what it is about. Raises Impossible,
    UnreadableEntry or BadPath."""
    match action:
        case acts.CreateEntry():
            return changes.create(draft, action, at)
        case acts.UpdateEntry():
            changes.update(draft, action, at)
        case acts.Reinforce():
            changes.reinforce(draft, action, at)
        case acts.MarkUsed():
            changes.mark_used(draft, action)
        case acts.DeprecateEntry():
            changes.deprecate(draft, action, at)
        case acts.AddWikilink():
            changes.add_wikilink(draft, action, at)
        case acts.SetTrigger():
            changes.set_trigger(draft, action, at)
        case acts.WriteReadme():
            changes.write_readme(draft, action)
        case acts.MergeEntries():
            structure.merge(draft, action, at)
        case acts.SplitFolder():
            structure.split(draft, action, at)
        case acts.MoveEntry():
            structure.move(draft, action, at)
        case acts.AbstractEntries():
            return structure.abstract(draft, action, at)
        case acts.ArchiveEntry():
            structure.archive(draft, action, at)
        case acts.ResurrectEntry():
            structure.resurrect(draft, action, at)
        case _:
            pass
    return _about(action)


def with_followers(draft: Draft, followers: Sequence[Act], at: Circumstances) -> None:
    """Carry out what belongs to a proposal, as far as it can be."""
    for one in followers:
        trial = draft.copy()
        try:
            carry_out(trial, one, at)
        except (Impossible, UnreadableEntry, BadPath):
            continue
        draft.take(trial)


def evidence_of(packet: Packet, action: Act) -> list[dict[str, object]]:
    """The evidence with who said it, for the record that a person reads."""
    found = []
    for evidence in action.evidence:
        one: Ground = ground(packet, evidence)
        found.append({"quote": evidence.quote, "turn": evidence.turn, "speaker": one.source})
    return found


def _follow(packet: Packet, draft: Draft, action: Act, sight: Sight, now: float, found: Plan) -> Draft:
    """What a carried out action brings with it: decided for itself."""
    decision = decide(facts(packet, draft, action, sight))
    group = draft.copy()
    try:
        id = carry_out(group, action, _at(packet, action, now))
    except (Impossible, UnreadableEntry, BadPath) as error:
        found.outcomes.append(Outcome(action, "refuse", _line(error), _about(action)))
        return draft
    if decision.verb == "apply":
        found.outcomes.append(Outcome(action, "apply", decision.why, id))
        return group
    if decision.verb == "propose":
        _propose(packet, draft, group, action, decision, id, sight, now, found)
    else:
        found.outcomes.append(Outcome(action, decision.verb, decision.why, id))
    return draft


def _propose(
    packet: Packet,
    draft: Draft,
    group: Draft,
    action: Act,
    decision: Decision,
    id: str,
    sight: Sight,
    now: float,
    found: Plan,
) -> None:
    """Keep a change for the person: the difference between the draft with it and without it."""
    written = _difference(draft, group)
    if not written:
        found.outcomes.append(Outcome(action, "skip", "it would change nothing", id))
        return
    touched = [draft.entry(one) for one in acts.targets(action)]
    meta: dict[str, object] = {
        "packet": packet.id,
        "session": packet.session_id,
        "why": decision.why,
        "evidence": evidence_of(packet, action),
        "action": action.model_dump(mode="json", exclude_defaults=True),
        "baselines": {entry.id: body_hash(entry.body) for entry in touched if entry is not None},
        "at": stamped(_at(packet, action, now)),
    }
    if text_of(action):
        meta["body_hash"] = sight.hash_of(text_of(action))
    kind = str(getattr(action, "action", "")).replace("_", " ")
    found.proposals.append(Waiting(written, f"{kind} {id}", meta))
    found.outcomes.append(Outcome(action, "propose", decision.why, id))


def _difference(before: Draft, after: Draft) -> list[Change]:
    """What the second draft changes more than the first."""
    there = {change.path: change.after for change in before.actions()}
    return [
        Change(change.path, there.get(change.path, change.before), change.after)
        for change in after.actions()
        if change.path not in there or there[change.path] != change.after
    ]


def followers_of(action: Act, id: str, draft: Draft) -> list[Act]:
    """The deprecations that a contradiction brings: of entries of the same reach. A project's rule that
    contradicts a global one only stands before it there."""
    if not isinstance(action, acts.CreateEntry):
        return []
    mine = id.startswith("projects/")
    targets = [entry for old in action.contradicts if (entry := draft.entry(old)) is not None]
    return [
        acts.DeprecateEntry(
            action="deprecate_entry",
            id=entry.id,
            successor=id,
            reason=f"contradicted by {id}"[:200],
            evidence=action.evidence,
            signal=action.signal,
        )
        for entry in targets
        if entry.status == "active" and not (mine and entry.scope == "global")
    ]


def _at(packet: Packet, action: Act, now: float) -> Circumstances:
    found = best(packet, action.evidence)
    return Circumstances(
        now=now,
        session=packet.session_id,
        project=packet.project,
        identities=packet.identities,
        by=BY.get(found.source, "curator"),
        quote=" ".join(found.quote.split())[:300],
        strength=STRENGTH.get(action.signal or "", 0.5),
        supersedes=action.contradicts if isinstance(action, acts.CreateEntry) else (),
    )


def _placed(packet: Packet, draft: Draft, action: Act) -> Act:
    """A rule that was said in a project is that project's, wherever the model wanted to put it."""
    if not isinstance(action, acts.CreateEntry) or not action.id.startswith("global/"):
        return action
    if belongs_global(packet, draft, action):
        return action
    return action.model_copy(update={"id": f"projects/{packet.project}/{action.id.removeprefix('global/')}"})


def _known(draft: Draft, action: Act) -> Act:
    """A new entry without the contradictions of entries that are not there: it stands all the same."""
    if not isinstance(action, acts.CreateEntry):
        return action
    there = tuple(id for id in action.contradicts if draft.entry(id) is not None)
    return action if there == action.contradicts else action.model_copy(update={"contradicts": there})


def _again(packet: Packet, draft: Draft, action: Act) -> Act:
    """What the library says already and the person says again is counted, not written twice."""
    same = duplicate(draft, action)
    if same and best(packet, action.evidence).source == "person":
        return acts.Reinforce(action="reinforce", id=same, signal="reinforces", evidence=action.evidence)
    return action


def _renamed(action: Act, renamed: dict[str, str]) -> Act:
    """An action that names entries as they came to be called."""
    changed: dict[str, object] = {}
    for name in ("id", "into", "successor", "to"):
        value = getattr(action, name, None)
        if isinstance(value, str) and value in renamed and not isinstance(action, acts.CreateEntry):
            changed[name] = renamed[value]
    for name in ("ids", "children", "contradicts", "links"):
        values = getattr(action, name, None)
        if values:
            changed[name] = tuple(renamed.get(value, value) for value in values)
    return action.model_copy(update=changed) if changed else action


def _cleaned(action: Act) -> Act:
    """An action without secrets in any of its texts."""
    values = action.model_dump(mode="json")
    clean = redact_value(values)
    return acts.of(clean) if clean != values and isinstance(clean, dict) else action


def _about(action: Act) -> str:
    for name in ("id", "into", "folder"):
        value = getattr(action, name, None)
        if isinstance(value, str):
            return value
    return ""


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def hashes(waiting: Iterable[dict[str, object]]) -> frozenset[str]:
    """The body hashes of the records of proposals (their meta)."""
    return frozenset(str(meta["body_hash"]) for meta in waiting if meta.get("body_hash"))
