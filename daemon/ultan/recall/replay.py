"""`ultan replay`: what past prompts would bring today. Pure functions: records in, differences out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from ultan.recall.verdict import percent
from ultan.wire import recall
from ultan.wire.files import utc_now

UNCHANGED, CHANGED, SKIPPED = "unchanged", "changed", "skipped"
PART = "the record holds only part of the prompt"
BROKEN = "the record is not complete"
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@dataclass(frozen=True, slots=True)
class Moved:
    """A note that is newly or no longer shown. was, now: where it stood, in words."""

    id: str
    title: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """One prompt then and now. before, after: ids to show, best first; reason: why it was skipped."""

    ts: str
    session_id: str
    prompt_id: str
    project: str | None
    prompt: str
    via: str
    outcome: str
    reason: str = ""
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    new: list[Moved] = field(default_factory=list)
    gone: list[Moved] = field(default_factory=list)
    reordered: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def since(text: str, now: float) -> str:
    """The UTC time that is meant by `7d`, `12h`, a date or a time. Raises ValueError."""
    ago = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if ago:
        return utc_now(max(0.0, now - int(ago[1]) * _UNITS[ago[2]]))
    moment = datetime.fromisoformat(text.strip())
    return utc_now((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def distinct(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One record a prompt, in their order: where the daemon was late the fallback left one as well."""
    found: dict[object, Mapping[str, Any]] = {}
    for number, record in enumerate(records):
        prompt_id = record.get("prompt_id")
        key = (str(record.get("session_id")), str(prompt_id)) if prompt_id else number
        if key not in found or found[key].get("via") == "fallback" != record.get("via"):
            found[key] = record
    return list(found.values())


def unusable(record: Mapping[str, Any]) -> str:
    """Why a record cannot be ranked again; "" where it can."""
    prompt, project = record.get("prompt"), record.get("project")
    if not isinstance(prompt, str) or not isinstance(record.get("candidates"), list):
        return BROKEN
    if project is not None and not isinstance(project, str):
        return BROKEN
    return PART if recall.is_cut(dict(record)) else ""


def excluded(record: Mapping[str, Any]) -> frozenset[str]:
    """The ids that the session had been shown before; of old records those that the candidates tell."""
    listed = record.get("exclude")
    ids = listed if isinstance(listed, list) else []
    told = [str(held.get("id")) for held in _candidates(record) if held.get("cut") == "already shown"]
    return frozenset([*(id for id in ids if isinstance(id, str)), *told])


def skipped(record: Mapping[str, Any], reason: str) -> Replayed:
    return Replayed(**_heading(record), outcome=SKIPPED, reason=reason)


def compared(
    record: Mapping[str, Any],
    today: Mapping[str, Any],
    after: Sequence[str],
    known: Callable[[str], bool],
) -> Replayed:
    """A prompt's record, and what became of it today.

    today: the record that it would leave now; after: the ids it would show; known: whether the library has
    an id.
    """
    then, now = _by_id(record), _by_id(today)
    before = [id for id, held in then.items() if held.get("cut") is None]

    def moved(id: str) -> Moved:
        title = (now.get(id) or then.get(id) or {}).get("title")
        return Moved(id, str(title or ""), stand(then.get(id)), stand(now.get(id), known(id)))

    new, gone = [id for id in after if id not in before], [id for id in before if id not in after]
    stayed = [id for id in after if id in before]
    reordered = stayed != [id for id in before if id in after]
    return Replayed(
        **_heading(record),
        outcome=CHANGED if new or gone or reordered else UNCHANGED,
        before=before,
        after=list(after),
        new=[moved(id) for id in new],
        gone=[moved(id) for id in gone],
        reordered=reordered,
    )


def stand(candidate: Mapping[str, Any] | None, known: bool = True) -> str:
    """Where a candidate stood, in words. known: whether the library has it."""
    if not known:
        return "not in the library"
    if candidate is None:
        return "not considered"
    cut, because = candidate.get("cut"), candidate.get("because")
    sure = percent(candidate.get("probability"))
    told = "shown" if cut is None else str(cut)
    more = str(because) if because else sure if sure != "-" else ""
    return f"{told} ({more})" if more else told


def summary(replayed: Sequence[Replayed], older: int = 0) -> dict[str, Any]:
    """Counts over the prompts. older: how many the limit left out."""
    ranked = [one for one in replayed if one.outcome != SKIPPED]
    changed = [one for one in ranked if one.outcome == CHANGED]
    return {
        "prompts": len(replayed),
        "unchanged": len(ranked) - len(changed),
        "changed": len(changed),
        "skipped": len(replayed) - len(ranked),
        "skipped_in_part": sum(one.reason == PART for one in replayed),
        "newly_shown": sum(len(one.new) for one in ranked),
        "no_longer_shown": sum(len(one.gone) for one in ranked),
        "reordered": sum(one.reordered for one in ranked),
        "changed_from_fallback": sum(one.via == "fallback" for one in changed),
        "notes_before": sum(len(one.before) for one in ranked),
        "notes_after": sum(len(one.after) for one in ranked),
        "silent_before": sum(not one.before for one in ranked),
        "silent_after": sum(not one.after for one in ranked),
        "left_out_by_limit": older,
    }


def _heading(record: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: str(record.get(name) or "") for name in ("ts", "session_id", "prompt_id", "prompt", "via")}
    project = record.get("project")
    return {**found, "project": None if project is None else str(project)}


def _candidates(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    held = record.get("candidates")
    return [item for item in held if isinstance(item, dict)] if isinstance(held, list) else []


def _by_id(record: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """id -> candidate, best first."""
    return {str(held.get("id")): held for held in _candidates(record)}
