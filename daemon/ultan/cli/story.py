"""A prompt's story as lines of at most 80 columns: the verdicts first, then how each came about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ultan.cli.layout import WIDTH, clipped, fitting, minute, wrapped
from ultan.recall.terms import meaning
from ultan.recall.verdict import against_all, behind, compared, percent, placed_score
from ultan.recall.why import Explanation
from ultan.wire.block import neutralise
from ultan.wire.form import form_of

PROMPT_CHARS = 300
# What adds less than this to the log-odds is told as a number only.
LITTLE = 0.005
_CUTS = 15


def story(found: Explanation, detailed: int, note: str | None = None) -> list[str]:
    """The lines. detailed: how many candidates are told in detail; note: only the one with this id."""
    lines = [*head(found), ""]
    if not found.candidates:
        return [*lines, *wrapped(nothing(found.prompt), "", "  ")]
    lines += [*tally(found), ""]
    numbered = list(enumerate(found.candidates, 1))
    lines += [row(number, candidate, found.shown) for number, candidate in numbered]
    if note is not None:
        asked = [(number, item) for number, item in numbered if item.get("id") == note]
        if not asked:
            lines += ["", *wrapped(unconsidered(note, len(numbered)))]
    else:
        asked = numbered[:detailed]
    for number, candidate in asked:
        lines += ["", *details(number, candidate, found)]
    return [*lines, "", *foot(found, len(asked) < len(numbered) and note is None)]


def head(found: Explanation) -> list[str]:
    """The prompt, where and when."""
    told = clipped(found.prompt, PROMPT_CHARS)
    if found.prompt_chars > len(found.prompt):
        told += f" (its two ends; {found.prompt_chars} characters)"
    where = [f"project {clipped(found.project, 40)}" if found.project else "no project"]
    if found.session_id:
        where.append(f"session {clipped(found.session_id, 40)}")
    total = found.timings_ms.get("total", sum(found.timings_ms.values()))
    by = {"fallback": "the words alone", "now": "asked now"}.get(found.via, f"the {clipped(found.via, 20)}")
    where.append(f"{by}, {total:.0f} ms" if found.timings_ms else by)
    return [*wrapped(told, "> ", "  "), *wrapped(f"{minute(found.ts)}, {', '.join(where)}", "  ", "  ")]


def tally(found: Explanation) -> list[str]:
    """How many were shown, what had to be reached, and what the prompt itself took from all."""
    count = len(found.shown)
    text = f"{count or 'No'} note{'' if count == 1 else 's'} shown of {len(found.candidates)} considered."
    if found.threshold is not None:
        text += f" One is shown from {percent(found.threshold)} sure on"
        text += f", at most {found.max_entries} are." if found.max_entries is not None else "."
    lines = wrapped(text)
    for name, value in against_all(found.candidates).items():
        lines += wrapped(f"Against every note here: {meaning(name)} ({_word(name)} {value:+.2f}).", "", "  ")
    return lines


def row(number: int, candidate: Mapping[str, Any], shown: Sequence[str]) -> str:
    """One candidate on one line: place, verdict, probability, title."""
    cut = "not printed" if candidate.get("cut") is None else clipped(candidate["cut"], _CUTS)
    verdict = "SHOWN" if candidate.get("id") in shown else cut
    left = f"{number:3}  {verdict:{_CUTS}} {percent(candidate.get('probability')):>6}  "
    return left + fitting(name_of(candidate), WIDTH - len(left))


def details(number: int, candidate: Mapping[str, Any], found: Explanation) -> list[str]:
    """The verdict, then what led to it."""
    lines = wrapped(neutralise(str(candidate.get("verdict") or "")), f"{number:2}. ", "    ")
    title, id = neutralise(str(candidate.get("title") or "")), neutralise(str(candidate.get("id")))
    lines += wrapped(title, "    ", "    ") if title else []
    lines += [f"    {id}", *places(candidate)]
    gate = candidate.get("gate")
    if gate:
        lines += made_of(gate, candidate, found.threshold)
    elif not candidate.get("ranks"):
        lines += listed("Scores", (scored(candidate, name) for name in candidate.get("scores") or {}))
    else:
        evidence = [name for name in candidate.get("scores") or {} if name not in candidate["ranks"]]
        lines += listed("Evidence", (scored(candidate, name) for name in evidence))
    lacks = behind(candidate, found.candidates[0])
    lines += listed("Behind the first by", (f"{_word(name)} {value:.2f}" for name, value in lacks.items()))
    shifts = candidate.get("priors") or {}
    lines += listed(
        "Priors", (f"{value:+.2f} {_word(name)}: {meaning(name)}" for name, value in shifts.items())
    )
    return lines


def places(candidate: Mapping[str, Any]) -> list[str]:
    """Its place by each stage, and by how much it leads or follows the best other."""
    margins, ranks = candidate.get("margins") or {}, candidate.get("ranks") or {}
    told = []
    for name, rank in sorted(ranks.items(), key=lambda pair: pair[1]):
        value, lead = placed_score(candidate, name), margins.get(name)
        by = "" if lead is None else f", {figure(abs(lead))} {'ahead' if lead >= 0 else 'behind'}"
        told.append(f"{_word(name)} {ordinal(rank)} ({figure(value)}{by})")
    return listed("Places", told, "; ")


def made_of(gate: Mapping[str, Any], candidate: Mapping[str, Any], threshold: float | None) -> list[str]:
    """What each feature added to the log-odds, those that added most first."""
    parts: dict[str, float] = gate.get("parts") or {}
    by = _word(str(gate.get("by")))
    if not parts:
        return wrapped(
            f"Gate: by {by}. It holds a name of the prompt, which is enough in a small library.", "    "
        )
    lines = [f"    Gate (by {by}), in log-odds: +0.7 doubles the odds, -0.7 halves them"]
    telling = sorted(parts.items(), key=lambda pair: -abs(pair[1]))
    for name, value in telling:
        if abs(value) >= LITTLE:
            left = f"      {value:+6.2f}  {scored(candidate, name):22}  "
            lines += wrapped(meaning(name), left, " " * len(left))
    silent = [_word(name) for name, value in telling if abs(value) < LITTLE]
    if silent:
        lines += wrapped(f"{', '.join(silent)}", f"      {0:+6.2f}  ", " " * 14)
    sure, needed = compared(candidate.get("probability"), threshold)
    end = f"; {needed} is needed" if threshold is not None else ""
    return [*lines, f"      {sum(parts.values()):+6.2f}  together, which is {sure}{end}"]


def foot(found: Explanation, more: bool) -> list[str]:
    """The stages and their times, which were left out and why, and how to see more."""
    times = [f"{_word(name)} {value:.1f}" for name, value in found.timings_ms.items() if value >= 0.05]
    lines = wrapped(f"Time in ms: {', '.join(times)}", "", "  ") if times else []
    silent = [f"{_word(name)} ({clipped(why, 60)})" for name, why in found.left_out.items()]
    lines += wrapped(f"Left out: {', '.join(silent)}", "", "  ") if silent else []
    if found.unexplained:
        text = f"What each score added cannot be told: {found.unexplained}."
        lines += wrapped(f"{text} `ultan why PROMPT` asks the prompt now.", "", "  ")
    if more:
        lines += wrapped("More in detail: -n 20, or --note ID for one.", "", "  ")
    return lines


def nothing(prompt: str) -> str:
    """Why there is no candidate at all."""
    if not prompt.strip():
        return "Nothing was looked up: private parts are not, nor is a command by itself."
    if form_of(prompt).empty:
        return "Nothing was looked up: the prompt only agrees, greets or thanks."
    return "Nothing in the library came near, or nothing in it may speak here."


def unconsidered(note: str, number: int) -> str:
    name = clipped(note, 150)
    return f"{name} is not among these {number}: others came nearer, or there is no such note."


def scored(candidate: Mapping[str, Any], name: str) -> str:
    value = (candidate.get("scores") or {}).get(name)
    return _word(name) if value is None else f"{_word(name)} {figure(value)}"


def name_of(candidate: Mapping[str, Any]) -> str:
    return neutralise(str(candidate.get("title") or candidate.get("id")))


def listed(head: str, told: Iterable[str], between: str = ", ") -> list[str]:
    text = between.join(told)
    return wrapped(text, f"    {head}: ", "      ") if text else []


def figure(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) and not isinstance(value, bool) else "-"


def ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _word(name: str) -> str:
    """A name of a stage or a score; it comes from a file."""
    return clipped(name, 24)
