"""A prompt's story: verdicts in words, and what each number is made of."""

from __future__ import annotations

from typing import Any

import pytest
from ultan.recall import why
from ultan.recall.terms import meaning
from ultan.recall.verdict import against_all, behind, compared, gate_parts, margins, percent, verdict
from ultan.retrieval import gate
from ultan.retrieval.gate import Gate, Logistic
from ultan.retrieval.judgement import fingerprint
from ultan.wire import recall
from ultan.wire.home import Home
from ultan.wire.session import SessionMemory

NOW = 1_796_000_000.0


def candidate(id: str, cut: str | None, probability: float | None = 0.5, **more: Any) -> dict[str, Any]:
    return {"id": id, "title": id, "scores": {}, "probability": probability, "cut": cut, **more}


@pytest.mark.parametrize(
    ("cut", "because", "words"),
    [
        ("below threshold", "", "Not shown: only 50 % sure that it applies; 27 % is needed."),
        ("over the limit", "", "50 % sure, above the 27 % needed, but there is room for only 3"),
        ("already shown", "", "this session has seen it"),
        ("scope", "project:shop", "a note of project:shop, and the prompt is from blog"),
        ("status", "deprecated", "its status is deprecated"),
        ("overridden", "projects/blog/x", "projects/blog/x stands in its place"),
        ("unreadable", "", "`ultan lint`"),
        ("something new", "", "Not shown: something new."),
        (None, "", "no hook printed it"),
    ],
)
def test_every_cut_is_told_in_a_sentence(cut: str | None, because: str, words: str) -> None:
    assert words in verdict(candidate("a", cut, because=because), [], 0.27, 3, "blog")


def test_what_was_printed_is_told_as_shown_whatever_the_record_says() -> None:
    assert verdict(candidate("a", "below threshold"), ["a"], 0.27, 3, None).startswith("Shown: 50 % sure")


def test_percents_that_differ_are_told_apart_and_none_claims_to_be_sure() -> None:
    assert compared(0.268, 0.27) == ("26.80 %", "27.00 %")
    assert compared(0.5, 0.27) == ("50 %", "27 %")
    assert [percent(value) for value in (0.9999, 1.0, 0.004, None)] == ["99.9 %", "100 %", "0.4 %", "-"]


def test_a_margin_is_the_distance_to_the_best_other_candidate_of_that_stage() -> None:
    first = candidate("a", None, scores={"bm25": 5.0, "new": 0.9, "words": 2.0}, ranks={"bm25": 1, "new": 1})
    second = candidate("b", None, scores={"bm25": 3.0, "words": 1.0}, ranks={"bm25": 2}, fused=0.5)
    assert margins([first, second]) == [{"bm25": 2.0}, {"bm25": -2.0}]
    assert margins([first]) == [{}]


def test_the_parts_of_a_gate_are_told_by_whatever_names_it_has() -> None:
    gate = Gate(Logistic({"a_new_feature": 2.0}, -1.0, 0.3), None)
    held = candidate("a", None, probability=0.7311, scores={"a_new_feature": 1.0})
    assert gate_parts(gate, held) == {"by": "words", "parts": {"bias": -1.0, "a_new_feature": 2.0}}
    assert gate_parts(gate, candidate("b", "scope", None)) is None
    assert meaning("a_new_feature") == "a new feature"
    assert "lead" in meaning("some_margin")


def parts(**values: float) -> dict[str, Any]:
    return {"gate": {"by": "vectors", "parts": {"bias": -6.0, **values}}}


def test_a_candidate_is_told_what_it_lacks_against_the_first() -> None:
    first, second = parts(words=3.0, project=1.0, dense=0.5), parts(words=1.0, project=1.0, dense=2.0)
    assert behind(second, first) == {"words": 2.0}
    assert behind(second, {"gate": {"by": "words", "parts": {"words": 3.0}}}) == {}


def test_what_the_prompt_itself_takes_from_every_note_is_told_once() -> None:
    held = [parts(chore=-2.0, words=-1.0), parts(chore=-2.0, words=-0.5), {"gate": None}]
    assert against_all(held) == {"chore": -2.0}
    assert against_all(held[:1]) == {}


def note(home: Home, via: str, chosen: str, **more: Any) -> None:
    held: list[dict[str, object]] = [candidate(chosen, None)]
    recall.append(
        home, recall.line(via, "s", "p", more.pop("project", None), "deploy?", held, {}, NOW, **more)
    )


def test_the_story_is_that_of_the_answer_that_was_printed(home: Home) -> None:
    note(home, "fallback", "global/words")
    note(home, "daemon", "global/late")
    SessionMemory(home, "s").add(NOW, surfaced=["global/words"], prompt_id="p")
    story = why.explain(home, "s")
    assert story is not None
    assert (story.via, story.shown) == ("fallback", ["global/words"])


def test_a_project_has_its_own_newest_prompt(home: Home) -> None:
    note(home, "daemon", "global/a", project="shop")
    note(home, "daemon", "global/b", project="blog")
    story = why.explain(home, project="shop")
    assert story is not None and story.candidates[0]["id"] == "global/a"
    assert why.explain(home, project="none") is None


def test_the_parts_are_told_only_while_the_gate_is_the_one_that_judged(home: Home) -> None:
    today = gate.load(None)
    note(home, "daemon", "global/a", gate=fingerprint(today), models={})
    assert why.explain(home).unexplained == ""  # type: ignore[union-attr]
    note(home, "daemon", "global/a", gate="00000000", models={})
    story = why.explain(home)
    assert story is not None and story.candidates[0]["gate"] is None
    assert story.unexplained == why.OTHER_GATE


def test_a_record_that_somebody_spoiled_is_told_as_far_as_it_goes() -> None:
    record = {
        "prompt": "x",
        "candidates": [7, {"id": 3, "scores": [1], "ranks": {"bm25": "first"}, "cut": None}],
        "threshold": "high",
        "timings_ms": {"total": "long"},
        "left_out": None,
        "models": 5,
    }
    story = why.told(record, [], None)
    assert (story.threshold, story.timings_ms, story.unexplained) == (None, {}, why.OLD_RECORD)
    assert story.candidates[0]["ranks"] == {}
