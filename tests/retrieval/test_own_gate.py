"""A person's own gate, for a model of theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ultan.retrieval import gate
from ultan.retrieval.judgement import fingerprint
from ultan.retrieval.own_gate import of_home
from ultan.wire.home import Home

SHIPPED = "bge-small-en-v1.5-int8/0"


def fit(home: Home, sets: object) -> None:
    home.ensure()
    Path(home.gate).write_text(json.dumps({"format": 1, "how": "", "sets": sets}), "utf-8")


def one(weights: dict[str, float]) -> dict[str, object]:
    return {"weights": weights, "bias": -1.0, "threshold": 0.4}


def test_a_fitted_set_is_used_for_its_model_and_the_shipped_ones_for_others(home: Home) -> None:
    fit(home, {"mine": one({"dense": 2.0}), "mine/plain": one({"words": 1.0})})
    found, note = of_home(home, "mine/1")
    assert note == "" and found.full is not None and found.plain is not None
    assert (found.full.weights, found.full.threshold) == ({"dense": 2.0}, 0.4)
    assert fingerprint(of_home(home, SHIPPED)[0]) == fingerprint(gate.load(SHIPPED))


def test_the_words_are_the_ones_that_the_hooks_know(home: Home) -> None:
    fit(home, {"words": one({"words": 99.0})})
    assert of_home(home, None)[0].words == gate.load(None).words


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"sets": {"mine": {}}}', "cannot be read"),
        ('{"sets": {"mine": {"weights": {"colour": 1}, "bias": 0, "threshold": 0.5}}}', "weighs colour"),
    ],
)
def test_one_that_cannot_be_used_is_named_and_the_shipped_one_is_used(
    home: Home, content: str, told: str
) -> None:
    home.ensure()
    Path(home.gate).write_text(content, "utf-8")
    found, note = of_home(home, SHIPPED)
    assert home.gate in note and told in note and "ultan eval fit-gate" in note
    assert fingerprint(found) == fingerprint(gate.load(SHIPPED))
