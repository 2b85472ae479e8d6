"""`ultan why`: what was considered for a prompt, how each candidate fared, what cut it, what was shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ultan.recall.verdict import gate_parts, margins, verdict
from ultan.retrieval.gate import Gate
from ultan.retrieval.judgement import fingerprint
from ultan.retrieval.own_gate import of_home
from ultan.wire import recall
from ultan.wire.home import Home

OTHER_GATE = "the gate was fitted anew since"
NO_GATE = "the words alone answered, without the daemon"
OLD_RECORD = "the record is of an older version"


@dataclass(frozen=True, slots=True)
class Explanation:
    """One prompt's story. `shown` is what the hook really printed; the other fields are the recall log's
    (docs/schema.md), None or empty where an old record has none.

    candidates: those of the record, best first, each with `verdict` (a sentence), `margins` (by score, how
    far it is ahead of the best other) and `gate` ({"by", "parts"}, what each feature added to its log-odds,
    or None). unexplained: why no gate can be told, "" where it can.
    """

    ts: str
    session_id: str
    prompt_id: str
    prompt: str
    project: str | None
    via: str
    shown: list[str]
    candidates: list[dict[str, Any]]
    timings_ms: dict[str, float]
    prompt_chars: int = 0
    threshold: float | None = None
    max_entries: int | None = None
    stages: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    unexplained: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def explain(
    home: Home, session_id: str | None = None, prompt_id: str | None = None, project: str | None = None
) -> Explanation | None:
    """The story of the newest prompt (of a session or a project, or with an id); None without one."""
    wanted = {"session_id": session_id, "prompt_id": prompt_id, "project": project}
    record = next(_matching(home, wanted), None)
    if record is None:
        return None
    session, prompt = str(record.get("session_id") or ""), str(record.get("prompt_id") or "")
    shown = recall.surfaced(home, session, prompt)
    if not set(shown) <= set(_chosen(record)):
        # The daemon was late, and what the fallback said meanwhile was printed: that is the story.
        same = _matching(home, {"session_id": session, "prompt_id": prompt})
        record = next((other for other in same if set(shown) <= set(_chosen(other))), record)
    return told(record, shown, gate_of(record, home))


def told(record: Mapping[str, Any], shown: Sequence[str], gate: Gate | None) -> Explanation:
    """The story in a record. gate: the one that judged, None where that is not to be had."""
    limits = _numbers(record)
    threshold, most = limits.get("threshold"), limits.get("max_entries")
    project = record.get("project")
    held = [_sound(item) for item in record.get("candidates") or [] if isinstance(item, dict)]
    ahead = margins(held)
    for candidate, lead in zip(held, ahead, strict=True):
        candidate["verdict"] = verdict(candidate, shown, threshold, most, project)
        candidate["margins"] = lead
        candidate["gate"] = gate_parts(gate, candidate) if gate is not None else None
    return Explanation(
        ts=str(record.get("ts") or ""),
        session_id=str(record.get("session_id") or ""),
        prompt_id=str(record.get("prompt_id") or ""),
        prompt=str(record.get("prompt") or ""),
        project=project,
        via=str(record.get("via") or ""),
        shown=list(shown),
        candidates=held,
        timings_ms=_numbers(record.get("timings_ms")),
        prompt_chars=int(limits.get("prompt_chars") or len(str(record.get("prompt") or ""))),
        threshold=threshold,
        max_entries=most,
        stages=list(record.get("stages") or []),
        left_out=_mapping(record.get("left_out")),
        models=_mapping(record.get("models")),
        unexplained=_unexplained(record) if gate is None else "",
    )


def _unexplained(record: Mapping[str, Any]) -> str:
    if record.get("via") == "fallback":
        return NO_GATE
    return OTHER_GATE if record.get("gate") else OLD_RECORD


def gate_of(record: Mapping[str, Any], home: Home) -> Gate | None:
    """The gate that judged a record, where today's is still the same fit."""
    if not record.get("gate"):
        return None
    gate, _ = of_home(home, _mapping(record.get("models")).get("dense"))
    return gate if fingerprint(gate) == record["gate"] else None


def _matching(home: Home, wanted: Mapping[str, str | None]) -> Iterator[dict[str, Any]]:
    """The records with these values, newest first; None stands for any."""
    asked = {name: value for name, value in wanted.items() if value is not None}
    for record in recall.records(home):
        if all(record.get(name) == value for name, value in asked.items()):
            yield record


def _sound(candidate: Mapping[str, Any]) -> dict[str, Any]:
    """A candidate of the log, with numbers where numbers belong: anybody may have written to a file."""
    found = dict(candidate)
    for name in ("scores", "ranks", "priors"):
        if name in found:
            found[name] = _numbers(found[name])
    return found


def _numbers(value: object) -> dict[str, Any]:
    return {
        str(name): number
        for name, number in _mapping(value).items()
        if isinstance(number, int | float) and not isinstance(number, bool)
    }


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _chosen(record: Mapping[str, Any]) -> list[str]:
    held = record.get("candidates") or []
    return [str(item.get("id")) for item in held if isinstance(item, dict) and item.get("cut") is None]
