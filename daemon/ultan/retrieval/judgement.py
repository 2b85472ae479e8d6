"""Why the gate gave a candidate its probability: which of its models decided, and what each feature added."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, log

from ultan.retrieval.gate import Gate, Logistic
from ultan.wire.lexical import NAMED

VECTORS, WORDS, EXACT = "vectors", "words", "exact name"
# Scores and probabilities are kept with four digits, so a sum of them is that much off.
_NEAR = 0.005


@dataclass(frozen=True, slots=True)
class Judgement:
    """by: the model that decided. parts: name -> what it added to the log-odds; `bias` is where they start,
    `scale` brings the words, or vectors without token vectors, onto the gate's threshold. Empty where an
    exact name was enough.
    """

    by: str
    parts: Mapping[str, float] = field(default_factory=dict)


def judgement(gate: Gate, scores: Mapping[str, float], probability: float) -> Judgement | None:
    """What explains the probability of a candidate with these scores; None where this gate does not."""
    found = []
    for model in (gate.full, gate.plain):
        if model is not None:
            found.append(Judgement(VECTORS, _scaled(_parts(model, scores), model, gate)))
    found.append(Judgement(WORDS, _scaled(_parts(gate.words, scores), gate.words, gate)))
    for one in found:
        if one.parts and abs(_probability(sum(one.parts.values())) - probability) < _NEAR:
            return one
    return Judgement(EXACT) if scores.get("named") and abs(probability - NAMED) < _NEAR else None


def fingerprint(gate: Gate) -> str:
    """Eight digits that another fit does not have."""
    models = [model for model in (gate.words, gate.full, gate.plain) if model is not None]
    held = [
        [
            sorted(model.weights.items()),
            *(model.bias, model.threshold, model.background),
            [model.asks.bias, *model.asks.weights.tolist()] if model.asks is not None else [],
        ]
        for model in models
    ]
    return hashlib.sha256(json.dumps(held).encode()).hexdigest()[:8]


def _parts(model: Logistic, scores: Mapping[str, float]) -> dict[str, float]:
    try:
        return model.contributions(scores)
    except KeyError:  # a stage did not speak, so this model did not either
        return {}


def _scaled(parts: dict[str, float], model: Logistic, gate: Gate) -> dict[str, float]:
    """The same, and what brings them onto the threshold of the gate."""
    if parts and gate.threshold != model.threshold:
        parts["scale"] = _log_odds(gate.threshold) - _log_odds(model.threshold)
    return parts


def _log_odds(probability: float) -> float:
    return log(probability / (1.0 - probability))


def _probability(log_odds: float) -> float:
    return 1.0 / (1.0 + exp(-max(-50.0, min(50.0, log_odds))))
