"""Scores of a priming run: does it surface what applies, at most three entries, and nothing when none does?

Pure. Grade 2 is an entry without which the agent would likely do the wrong thing, grade 1 one that is fair to
surface; a prompt without labels should be met with silence.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

LIMIT = 3
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened for one prompt. grades: id -> 1 or 2. surfaced: ids, best first, at most LIMIT."""

    kind: str
    grades: Mapping[str, int]
    surfaced: tuple[str, ...]

    @property
    def is_negative(self) -> bool:
        return not self.grades

    @property
    def must(self) -> frozenset[str]:
        return frozenset(id for id, grade in self.grades.items() if grade == 2)

    @property
    def silent(self) -> bool:
        return not self.surfaced

    @property
    def false_count(self) -> int:
        """Surfaced entries without a label."""
        return sum(id not in self.grades for id in self.surfaced)

    @property
    def recall(self) -> float:
        """Grade-2 entries surfaced, of as many as could be."""
        return len(self.must & set(self.surfaced)) / min(LIMIT, len(self.must))

    @property
    def ndcg(self) -> float:
        """Gains of 3 for grade 2 and 1 for grade 1, discounted by log2(rank + 1)."""

        def gain(grades: Sequence[int]) -> float:
            return sum((2.0**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(grades[:LIMIT]))

        ideal = gain(sorted(self.grades.values(), reverse=True))
        return gain([self.grades.get(id, 0) for id in self.surfaced]) / ideal

    def first_has_grade(self, least: int) -> bool:
        return bool(self.surfaced) and self.grades.get(self.surfaced[0], 0) >= least


def mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def harmonic(first: float, second: float) -> float:
    return 2 * first * second / (first + second) if first + second else 0.0


def precision(outcomes: Sequence[Outcome]) -> float:
    """Share of surfaced entries that have any label, over all the entries surfaced."""
    shown = sum(len(outcome.surfaced) for outcome in outcomes)
    return (shown - sum(outcome.false_count for outcome in outcomes)) / shown if shown else 0.0


def interval(
    recalls: Sequence[float], silences: Sequence[float], resamples: int = RESAMPLES
) -> tuple[float, float]:
    """A 95 % bootstrap interval of the prime score; positives and negatives are resampled apart."""
    if not recalls or not silences or not resamples:
        return 0.0, 0.0
    rng = random.Random(0)
    scores = sorted(
        harmonic(mean(rng.choices(recalls, k=len(recalls))), mean(rng.choices(silences, k=len(silences))))
        for _ in range(resamples)
    )
    return scores[int(0.025 * resamples)], scores[int(0.975 * resamples) - 1]


def figures(outcomes: Sequence[Outcome], resamples: int = RESAMPLES) -> dict[str, object]:
    """All figures of a run. prime_score: harmonic mean of recall_at_3 (over prompts with a grade-2 entry) and
    silence (share of negatives with nothing surfaced); the rest as named. resamples: of the interval.
    """
    positives = [outcome for outcome in outcomes if outcome.must]
    negatives = [outcome for outcome in outcomes if outcome.is_negative]
    recalls = [outcome.recall for outcome in positives]
    silences = [float(outcome.silent) for outcome in negatives]
    low, high = interval(recalls, silences, resamples)
    return {
        "queries": len(outcomes),
        "positives": len(positives),
        "negatives": len(negatives),
        "prime_score": harmonic(mean(recalls), mean(silences)),
        "prime_score_low": low,
        "prime_score_high": high,
        "recall_at_3": mean(recalls),
        "hit_at_1_grade_2": mean(outcome.first_has_grade(2) for outcome in positives),
        "hit_at_1_any": mean(outcome.first_has_grade(1) for outcome in positives),
        "precision_at_3_positives": precision(positives),
        "precision_at_3_all": precision(outcomes),
        "ndcg_at_3": mean(outcome.ndcg for outcome in positives),
        "silence": mean(silences),
        "silence_easy": mean(outcome.silent for outcome in negatives if outcome.kind == "negative-easy"),
        "silence_hard": mean(outcome.silent for outcome in negatives if outcome.kind == "negative-hard"),
        "mute_on_positives": mean(outcome.silent for outcome in positives),
        "by_kind": by_kind(outcomes),
    }


def by_kind(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float | None]]:
    """Figures for each kind of prompt; recall_at_3 is None for kinds without a grade-2 entry."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.kind, []).append(outcome)
    return {
        kind: {
            "queries": len(group),
            "recall_at_3": mean(o.recall for o in group if o.must) if any(o.must for o in group) else None,
            "false_surface_rate": mean(outcome.false_count > 0 for outcome in group),
            "false_entries_per_query": mean(outcome.false_count for outcome in group),
        }
        for kind, group in sorted(groups.items())
    }
