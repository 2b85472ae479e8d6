"""What is known of an entry beside the prompt: small shifts that reorder the candidates that passed the gate.

Each prior is a shift of the log-odds, 0 for an entry of which nothing is known. None lets an entry in or
keeps one out. All ranges together are narrower than 1, so that a candidate whose probability is higher by
1 in log-odds stays ahead whatever the priors say.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, log1p

from ultan.library.entry import DEFAULT_STRENGTH, Entry

REINFORCED = 0.25
# From so many reinforcements on, more of them say nothing more.
ENOUGH_REINFORCED = 10
# Between equals only: the gate weighs the scope already. From 0.05 on, the first note of one prompt of
# tests/evals/own becomes a less fitting one; at 0.02 no figure of either set moves.
PROJECT = 0.02
USEFUL = 0.15
# The Beta prior of how often a note that was shown is then used: one time in four, worth four showings.
USED, UNUSED = 1.0, 3.0
# So much of a difference in the log-odds of use counts.
USEFUL_SHARE = 0.1
STRENGTH = 0.15
# Probabilities are told apart between these bounds; a shift cannot move what is infinitely sure.
_LEAST = 1e-6


def reinforced(count: int) -> float:
    """0 to REINFORCED: how often the person said it again, by its logarithm, full at ENOUGH_REINFORCED."""
    return REINFORCED * min(1.0, log1p(max(0, count)) / log1p(ENOUGH_REINFORCED))


def project_scope(scope: str, project: str | None) -> float:
    """0, or PROJECT for an entry of the project that is worked in: it stands before a global one."""
    return PROJECT if project is not None and scope == f"project:{project}" else 0.0


def usefulness(helpful: int, fired: int) -> float:
    """-USEFUL to USEFUL: how often the entry was used where it was shown.

    The mean of the Beta posterior, (helpful + USED) / (fired + USED + UNUSED), in log-odds above that of the
    prior. fired: how often it was shown; 0, not known, says nothing.
    """
    if fired <= 0:
        return 0.0
    used = min(max(0, helpful), fired)
    shift = log((used + USED) / (fired - used + UNUSED)) - log(USED / UNUSED)
    return max(-USEFUL, min(USEFUL, USEFUL_SHARE * shift))


def encoding_strength(strength: float) -> float:
    """-STRENGTH/2 to STRENGTH/2: how firmly it was said when it was written down; 0 for the default."""
    return STRENGTH * (min(1.0, max(0.0, strength)) - DEFAULT_STRENGTH)


def priors(entry: Entry, project: str | None, fired: int = 0) -> dict[str, float]:
    """Every prior of an entry by name. project: the slug that is worked in; fired: how often it was shown."""
    return {
        "reinforced": reinforced(entry.reinforced),
        "project_scope": project_scope(entry.scope, project),
        "usefulness": usefulness(entry.fired_helpful, fired),
        "encoding_strength": encoding_strength(entry.encoding_strength),
    }


def standing(probability: float, shifts: Mapping[str, float]) -> float:
    """What candidates are ordered by: the log-odds of the probability, and the priors."""
    sure = min(1.0 - _LEAST, max(_LEAST, round(probability, 6)))
    return log(sure / (1.0 - sure)) + sum(shifts.values())
