"""The gate: a calibrated probability that an entry applies, and the threshold below which nothing is shown.

A logistic over a few features. Its coefficients, and how they came about, stand in gate.json beside this
file: for each embedder that was measured one set with token vectors and one without (`.../plain`), and
`words` for when no vector speaks. What a person fits for a model of theirs stands in their home.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultan.retrieval.language import DOUBTFUL_SHARE, foreign_share
from ultan.retrieval.scene import Scene
from ultan.wire.lexical import FEW_ENTRIES, NAMED

PATH = Path(__file__).with_name("gate.json")
WORDS = "words"
PLAIN = "/plain"
LOG_ODDS = 6.0


@dataclass(frozen=True, slots=True)
class Asks:
    """Whether a prompt is one that notes apply to at all, by its vector: a task or a decision, not an
    approval, a chore or a question of fact. weights: float64[dims].
    """

    bias: float
    weights: NDArray[np.float64]

    def log_odds(self, vector: NDArray[np.float32]) -> float:
        """0, which says nothing, for a vector of another model."""
        if vector.shape != self.weights.shape:
            return 0.0
        return float(np.clip(self.bias + vector.astype(np.float64) @ self.weights, -LOG_ODDS, LOG_ODDS))


@dataclass(frozen=True, slots=True)
class Logistic:
    """probability = 1 / (1 + exp(-(bias + sum of weights[name] * feature))). background: see Evidence."""

    weights: Mapping[str, float]
    bias: float
    threshold: float
    background: float = 0.0
    asks: Asks | None = None

    def probability(self, evidence: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """float64[k] between 0 and 1."""
        total = np.full(len(next(iter(evidence.values()))), self.bias)
        for name, weight in self.weights.items():
            total = total + weight * evidence[name]
        found: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.clip(total, -50.0, 50.0)))
        return found

    def contributions(self, evidence: Mapping[str, float]) -> dict[str, float]:
        """name -> weight * value for one candidate, and "bias"; their sum is its log-odds.

        Raises KeyError where a feature is missing.
        """
        return {"bias": self.bias, **{name: weight * evidence[name] for name, weight in self.weights.items()}}


class Gate:
    """Turns evidence into probabilities, all on the scale of one threshold.

    plain: the set for when there are no token vectors (yet). Where no vectors speak (no embedder, a foreign
    script, an entry not embedded yet, a model without a set of its own), the words decide. In a mixed script
    the better of both counts: an English model never vetoes another language. In a library of a few entries
    an exact identifier is enough.
    """

    name = "gate"

    def __init__(
        self, words: Logistic, full: Logistic | None, english_only: bool = True, plain: Logistic | None = None
    ) -> None:
        self.words = words
        self.full = full
        self.plain = plain
        self.english_only = english_only

    @property
    def threshold(self) -> float:
        return self.full.threshold if self.full is not None else self.words.threshold

    @property
    def background(self) -> float:
        return self.full.background if self.full is not None else 0.0

    @property
    def asks(self) -> Asks | None:
        return self.full.asks if self.full is not None else None

    def weighs(self, name: str) -> bool:
        """Whether a kind of evidence makes a difference."""
        return self.full is not None and any(feature.startswith(name) for feature in self.full.weights)

    def fitting(self, evidence: Collection[str]) -> Logistic | None:
        """The set whose features are all there; None: the words decide."""
        sets = (one for one in (self.full, self.plain) if one is not None)
        return next((one for one in sets if all(name in evidence for name in one.weights)), None)

    def run(self, scene: Scene) -> None:
        evidence = scene.evidence
        if not len(scene.shortlist):
            return
        by_words = on_scale(self.words.probability(evidence), self.words.threshold, self.threshold)
        few = len(scene.snapshot) < FEW_ENTRIES
        sure = few * (evidence["named"] > 0) * (evidence["coverage"] >= 0.5)
        by_words = np.maximum(by_words, np.where(sure, NAMED, 0.0))
        scene.probability = by_words
        fits = self.fitting(evidence)
        if fits is None:
            return
        found = on_scale(fits.probability(evidence), fits.threshold, self.threshold)
        found = np.maximum(found, np.where(sure, NAMED, 0.0))
        if self.english_only and foreign_share(scene.text) > DOUBTFUL_SHARE:
            found = np.maximum(found, by_words)
        embedded = scene.snapshot.embedded[scene.short_rows]
        scene.probability = np.where(embedded, found, by_words)


def on_scale(probability: NDArray[np.float64], threshold: float, wanted: float) -> NDArray[np.float64]:
    """Shift log-odds so that `threshold` becomes `wanted`."""
    if threshold == wanted:
        return probability
    clipped = np.clip(probability, 1e-9, 1 - 1e-9)
    shift = np.log(wanted / (1 - wanted)) - np.log(threshold / (1 - threshold))
    found: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-(np.log(clipped / (1 - clipped)) + shift)))
    return found


def load(
    embedder_id: str | None,
    english_only: bool = True,
    path: Path = PATH,
    own: Mapping[str, Any] | None = None,
) -> Gate:
    """The gate for an embedder (its id up to the slash names the set). own: sets that stand before those of
    the file, except for the words', which the hooks know by heart.
    """
    sets = json.loads(path.read_text("utf-8"))["sets"]
    sets.update({name: one for name, one in (own or {}).items() if name != WORDS})
    model = (embedder_id or "").partition("/")[0]
    full = logistic(sets[model]) if model in sets and model != WORDS else None
    plain = logistic(sets[model + PLAIN]) if model + PLAIN in sets else None
    return Gate(logistic(sets[WORDS]), full, english_only, plain)


def logistic(fields: Mapping[str, object]) -> Logistic:
    weights, asks = fields["weights"], fields.get("asks")
    assert isinstance(weights, dict)
    return Logistic(
        weights={str(name): float(value) for name, value in weights.items()},
        bias=float(str(fields["bias"])),
        threshold=float(str(fields["threshold"])),
        background=float(str(fields.get("background", 0.0))),
        asks=Asks(float(asks["bias"]), np.array(asks["weights"], dtype=np.float64))
        if isinstance(asks, dict)
        else None,
    )
