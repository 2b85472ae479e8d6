"""One candidate of a record, told in words and in what its numbers are made of. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ultan.retrieval.gate import Gate
from ultan.retrieval.judgement import judgement

# What adds less than this to the log-odds is not worth a word.
TELLING = 0.1
# Of the parts of a gate's log-odds, those that belong to the gate and to no candidate.
STARTS = ("bias", "scale")


def percent(probability: object) -> str:
    """`19 %`; `99.7 %` and `0.4 %` at the ends, where a whole number would say "sure"; `-` for none."""
    if not isinstance(probability, int | float) or isinstance(probability, bool):
        return "-"
    value = 100.0 * probability
    if value < 1.0 or value > 99.0:
        return f"{min(99.9, value) if value < 100 else value:.1f}".removesuffix(".0") + " %"
    return f"{value:.0f} %"


def compared(probability: object, threshold: object) -> tuple[str, str]:
    """Both as percents that differ where they do: 26.8 % is not 27 %."""
    both = percent(probability), percent(threshold)
    if both[0] == both[1] and isinstance(probability, float) and probability != threshold:
        return f"{100 * probability:.2f} %", f"{100 * float(str(threshold)):.2f} %"
    return both


def verdict(
    candidate: Mapping[str, Any],
    shown: Collection[str],
    threshold: float | None,
    most: int | None,
    project: str | None,
) -> str:
    """What became of a candidate and why, in a sentence. shown: ids that were printed; most: the limit."""
    cut, because = candidate.get("cut"), str(candidate.get("because") or "")
    sure, needed = compared(candidate.get("probability"), threshold)
    enough = f"; {needed} is needed" if threshold is not None else ""
    if candidate.get("id") in shown:
        return f"Shown: {sure} sure that it applies{enough}."
    if cut is None:
        return f"Chosen ({sure} sure), but no hook printed it: the answer came too late, or the turn ended."
    if cut == "below threshold":
        return f"Not shown: only {sure} sure that it applies{enough}."
    if cut == "over the limit":
        above = f", above the {needed} needed" if threshold is not None else ""
        room = f"there is room for only {most}" if most is not None else "there is no more room"
        return f"Not shown: {sure} sure{above}, but {room}."
    if cut == "already shown":
        return f"Not shown again: this session has seen it ({sure} sure{enough})."
    if cut == "scope":
        here = f"the prompt is from {project}" if project else "the prompt is from no project"
        return f"Not asked: it is a note of {because or 'another scope'}, and {here}."
    if cut == "status":
        return f"Not asked: its status is {because or 'not active'}."
    if cut == "unreadable":
        return "Not asked: its file cannot be read; `ultan lint` says why."
    if cut == "overridden":
        return f"Not asked: {because or 'another note'} stands in its place here."
    return f"Not shown: {cut}."


def margins(candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
    """For each candidate, by score that gave it a place: how far it is ahead of the best other candidate."""
    held = [_placed(candidate) for candidate in candidates]
    found = []
    for at, mine in enumerate(held):
        lead = {}
        for name, value in mine.items():
            others = [other[name] for n, other in enumerate(held) if n != at and name in other]
            if others:
                lead[name] = round(value - max(others), 4)
        found.append(lead)
    return found


def gate_parts(gate: Gate, candidate: Mapping[str, Any]) -> dict[str, Any] | None:
    """{"by", "parts"}: what the gate's probability is made of; None where it was not asked or cannot say."""
    probability, scores = candidate.get("probability"), candidate.get("scores")
    if not isinstance(probability, int | float) or not isinstance(scores, dict):
        return None
    found = judgement(gate, scores, float(probability))
    if found is None:
        return None
    return {"by": found.by, "parts": {name: round(value, 4) for name, value in found.parts.items()}}


def behind(candidate: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, float]:
    """What a candidate lacks: feature -> how much less it added than for the first, the most first."""
    mine, best = candidate.get("gate") or {}, first.get("gate") or {}
    if mine.get("by") != best.get("by"):
        return {}
    parts, others = mine.get("parts") or {}, best.get("parts") or {}
    lacks = {name: round(others[name] - value, 4) for name, value in parts.items() if name in others}
    return dict(sorted(((n, v) for n, v in lacks.items() if v > TELLING), key=lambda pair: -pair[1]))


def against_all(candidates: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """feature -> what it took from every candidate alike, the most first: what the prompt itself says."""
    held = [parts for c in candidates if (parts := (c.get("gate") or {}).get("parts"))]
    if len(held) < 2:
        return {}
    alike = {
        name: value
        for name, value in held[0].items()
        if value < -TELLING and name not in STARTS and all(other.get(name) == value for other in held)
    }
    return dict(sorted(alike.items(), key=lambda pair: pair[1]))


def placed_score(candidate: Mapping[str, Any], name: str) -> float | None:
    """The score behind a place: of the stage, or the fused one."""
    scores = candidate.get("scores") or {}
    value = scores.get(name, candidate.get(name))
    return float(value) if isinstance(value, int | float) else None


def _placed(candidate: Mapping[str, Any]) -> dict[str, float]:
    ranks = candidate.get("ranks") or {}
    found = {name: placed_score(candidate, name) for name in ranks}
    return {name: value for name, value in found.items() if value is not None}
