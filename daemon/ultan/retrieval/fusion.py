"""Ways to make one ranking of two. Both are measured (`ultan eval`); the weighted sum is what ships."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Ranks of one leg count 1 / (60 + rank), the constant of Cormack, Clarke and Büttcher (2009).
RRF_K = 60
# The share of the vectors. On conversations (LoCoMo) recall is flat from 0.3 to 0.6 and falls at 0.7; on
# prompts (tests/evals/priming) it grows up to 0.7.
DENSE_SHARE = 0.6


def reciprocal_rank_fusion(legs: Sequence[Floats], k: int = RRF_K) -> Floats:
    """float64[n]: sum over the legs of 1 / (k + rank), rank 1 for the highest score; ties by position.

    legs: score rows of equal length n, higher is better.
    """
    total = np.zeros(len(legs[0]) if legs else 0)
    for scores in legs:
        ranks = np.empty(len(scores))
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        total += 1.0 / (k + ranks)
    return total


def weighted_sum(legs: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """float64[n]: sum over the legs of weight * min-max normalised score; a leg that is flat adds nothing."""
    total = np.zeros(len(legs[0]) if legs else 0)
    for scores, weight in zip(legs, weights, strict=True):
        total += weight * min_max(scores)
    return total


def min_max(scores: Floats) -> Floats:
    """Scores between 0 and 1; zeros where all are equal."""
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros(len(scores))
