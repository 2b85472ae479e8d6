"""What the gate's probability is made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from retrieval.small import MONEY, Write
from ultan.library.store import Store
from ultan.retrieval import gate as gates
from ultan.retrieval.embedded import EmbeddedEmbedder
from ultan.retrieval.index import Index
from ultan.retrieval.judgement import fingerprint, judgement
from ultan.retrieval.pipeline import Pipeline, Query, Ranking
from ultan.wire.home import Home

QUESTIONS = (
    "shall we deploy to production this Friday afternoon?",
    "金曜日に deploy してもいい? 本番",
    "yes",
)


def ranked(home: Home, real: bool, text: str) -> tuple[Pipeline, Ranking]:
    index = Index(home, EmbeddedEmbedder.load() if real else None)
    index.refresh(Store(home).scan().entries)
    pipe = Pipeline(index)
    return pipe, pipe.rank(Query(text, "shop"))


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.usefixtures("three")
def test_the_parts_add_up_to_the_probability(home: Home, real: bool, text: str) -> None:
    pipe, ranking = ranked(home, real, text)
    for candidate in ranking.candidates:
        found = judgement(pipe.gate, candidate.scores, candidate.probability)
        assert found is not None
        summed = 1.0 / (1.0 + np.exp(-sum(found.parts.values())))
        assert summed == pytest.approx(candidate.probability, abs=0.005)


@pytest.mark.usefixtures("three")
def test_it_says_which_model_decided(home: Home) -> None:
    pipe, ranking = ranked(home, True, QUESTIONS[0])
    (sure,) = ranking.chosen
    by_vectors = judgement(pipe.gate, sure.scores, sure.probability)
    assert by_vectors is not None
    assert by_vectors.by == "vectors"
    assert {"bias", "dense", "words"} <= set(by_vectors.parts)
    by_words = judgement(gates.load(None), sure.scores, 0.0)
    assert by_words is None  # the words alone would not have said 0


def test_an_exact_name_in_a_small_library_is_told_as_such(home: Home, write: Write) -> None:
    write(*MONEY)
    write("global/hook", "Hooks", "Commit with --no-verify only when the hook itself is broken.")
    pipe, ranking = ranked(home, False, "what does the --no-verify switch do to pushes?")
    found = [judgement(pipe.gate, c.scores, c.probability) for c in ranking.chosen]
    assert [one.by for one in found if one is not None] == ["exact name"]


def test_another_fit_is_another_gate() -> None:
    one = gates.load("bge-small-en-v1.5-int8/x")
    assert one.full is not None
    refitted = gates.Gate(one.words, replace(one.full, bias=one.full.bias + 0.1))
    assert fingerprint(one) == fingerprint(gates.load("bge-small-en-v1.5-int8/y")) != fingerprint(refitted)
    assert one.asks is not None
    other = replace(one.full, asks=replace(one.asks, bias=one.asks.bias + 0.1))
    assert fingerprint(gates.Gate(one.words, other)) != fingerprint(gates.Gate(one.words, one.full))
    assert judgement(refitted, {"words": 1.0}, 0.9) is None
