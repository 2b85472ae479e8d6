"""The gate's sets and scales."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.retrieval import fit, gate
from ultan.retrieval.embedded import MODEL
from ultan.retrieval.evaluate import Prompt
from ultan.wire import lexical


def test_the_fallback_in_the_hooks_has_the_coefficients_of_the_words_set() -> None:
    words = json.loads(gate.PATH.read_text("utf-8"))["sets"][gate.WORDS]
    assert words["weights"] == lexical.WEIGHTS
    assert (words["bias"], words["threshold"]) == (lexical.BIAS, lexical.THRESHOLD)


def test_gate_json_says_how_it_came_about_and_what_it_is_worth() -> None:
    found = json.loads(gate.PATH.read_text("utf-8"))
    assert "Refit" in found["how"]
    assert set(found["sets"]) == {MODEL, MODEL + gate.PLAIN, gate.WORDS}
    for fields in found["sets"].values():
        for figures in fields["figures"].values():
            assert all(0 < row["prime_score"] < 1 for row in figures.values())
        assert all(fields["weights"][name] < 0 for name in ("approval", "chore", "fact"))
        assert all(fields["weights"][name] > 0 for name in ("words", "coverage"))


def test_a_model_without_a_set_of_its_own_is_judged_by_words() -> None:
    assert gate.load("unknown/1").full is None
    assert gate.load(None).threshold == lexical.THRESHOLD
    assert gate.load(f"{MODEL}/abc").full is not None


def test_without_token_vectors_the_set_that_does_without_them_decides() -> None:
    one = gate.load(f"{MODEL}/abc")
    assert one.full is not None and one.plain is not None
    assert one.fitting(list(one.full.weights)) is one.full
    assert one.fitting([name for name in one.full.weights if not name.startswith("late")]) is one.plain
    assert one.fitting(["words", "coverage"]) is None


@given(st.floats(0.001, 0.999), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_changing_the_scale_keeps_which_side_of_the_threshold_it_is(
    probability: float, threshold: float, wanted: float
) -> None:
    moved = gate.on_scale(np.array([probability, threshold]), threshold, wanted)
    assert moved[1] == pytest.approx(wanted)
    if abs(probability - threshold) > 1e-6:
        assert (moved[0] > wanted) == (probability > threshold)


def test_a_regression_finds_what_decides() -> None:
    rng = np.random.default_rng(3)
    values = rng.standard_normal((400, 2))
    label = values[:, 0] + 0.1 * rng.standard_normal(400) > 0.5
    bias, weights = fit.regress(values, label, np.ones(400))
    assert weights[0] > 20 * abs(weights[1])
    right = (fit.chances(bias, weights, values) > 0.5) == label
    assert right.mean() > 0.95


def test_a_sample_counts_as_much_as_its_weight() -> None:
    values = np.array([[0.0], [0.0], [1.0], [1.0]])
    label = np.array([False, True, False, True])
    bias, weights = fit.regress(values, label, np.array([1.0, 1.0, 1.0, 30.0]))
    low, high = fit.chances(bias, weights, np.array([[0.0], [1.0]]))
    assert high > low


def test_what_a_prompt_asks_is_judged_by_a_fit_that_did_not_see_it() -> None:
    count = 2000
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((count, 6))
    prompts = [
        Prompt(str(n), "", None, {"global/a": 2} if row[0] > 0 else {}, "") for n, row in enumerate(vectors)
    ]
    samples = fit.Samples(
        prompts,
        ["one"] * count,
        np.ones(count),
        vectors,
        ["global/a"] * count,
        rng.standard_normal((count, 1)),
        np.array([bool(prompt.grades) for prompt in prompts]),
        np.arange(count),
    )
    asks = fit.fit_asks(samples, np.ones(count, dtype=bool))
    said = np.array([asks.log_odds(vector.astype(np.float32)) > 0 for vector in vectors])
    assert (said == samples.label).mean() > 0.9
    # Labels without any sense cannot be learnt by heart: what is said of a prompt does not know its label.
    shuffled = [Prompt(p.id, "", None, {"global/a": 2} if rng.random() < 0.5 else {}, "") for p in prompts]
    blind = replace(samples, prompts=shuffled, label=np.array([bool(p.grades) for p in shuffled]))
    column = fit.with_asks(blind, np.ones(count, dtype=bool))[:, -1]
    assert abs(np.corrcoef(column, blind.label)[0, 1]) < 0.25


def test_an_offset_makes_the_chances_add_up() -> None:
    rng = np.random.default_rng(8)
    log_odds = rng.standard_normal(300) * 3 - 4
    label = rng.random(300) < 1 / (1 + np.exp(-(log_odds + 1.5)))
    weight = rng.uniform(0.5, 2.0, 300)
    added = fit.offset(log_odds, label, weight)
    chance = 1 / (1 + np.exp(-(log_odds + added)))
    assert (weight * chance).sum() == pytest.approx((weight * label).sum())


def test_a_note_without_hints_is_one_of_title_and_body() -> None:
    entry = {"id": "global/a", "title": "A", "applies_when": "always", "tags": ["x"], "body": "b"}
    labelled = fit.Labelled("one", [entry], [], 1.0)
    assert fit.without_hints(labelled).entries == [{"id": "global/a", "title": "A", "body": "b"}]
    assert labelled.entries == [entry]


def test_a_note_that_does_not_say_when_it_applies_gets_the_benefit_of_the_doubt() -> None:
    shipped = gate.load(f"{MODEL}/abc")
    assert shipped.full is not None and shipped.full.weights["bare"] > 0
    assert shipped.plain is not None and shipped.plain.weights["bare"] > 0
