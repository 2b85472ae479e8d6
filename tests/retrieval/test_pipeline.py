"""From a question to what is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from retrieval.small import FRIDAY, MONEY, RESPX, Bag, Write
from support import CASES
from ultan.library.entry import Entry
from ultan.library.store import Store
from ultan.retrieval.embedded import EmbeddedEmbedder
from ultan.retrieval.index import Index
from ultan.retrieval.models import Embedder
from ultan.retrieval.pipeline import Candidate, Pipeline, Query, Settings
from ultan.wire.home import Home

Read = Callable[[], dict[str, Entry]]
TINY = CASES / "retrieval-tiny-library"
SCRIPTS = CASES / "i18n-cjk-recall"


def pipeline(home: Home, embedder: Embedder | None = None, settings: Settings | None = None) -> Pipeline:
    index = Index(home, embedder)
    index.refresh(Store(home).scan().entries)
    return Pipeline(index, settings)


def over(home: Home, folder: Path, embedder: Embedder | None) -> Pipeline:
    Path(home.knowledge).symlink_to(folder)
    return pipeline(home, embedder)


def chosen(pipe: Pipeline, text: str, project: str | None = None) -> list[str]:
    return [candidate.id for candidate in pipe.rank(Query(text, project)).chosen]


def cuts(candidates: list[Candidate]) -> dict[str, str | None]:
    return {candidate.id: candidate.cut for candidate in candidates}


@pytest.fixture(scope="module")
def real() -> Embedder:
    return EmbeddedEmbedder.load()


@pytest.fixture(params=["words", "unknown model", "real model"])
def embedder(request: pytest.FixtureRequest) -> Embedder | None:
    """Without a model, with one that has no set of its own in the gate, and with the one that ships."""
    if request.param == "words":
        return None
    model: Embedder = request.getfixturevalue("real") if request.param == "real model" else Bag()
    return model


@pytest.mark.usefixtures("three")
def test_what_applies_is_chosen_and_nothing_else(home: Home, embedder: Embedder | None) -> None:
    pipe = pipeline(home, embedder)
    assert chosen(pipe, "shall we deploy to production this Friday afternoon?") == [FRIDAY[0]]
    assert chosen(pipe, "rename the variable foo to bar") == []
    assert chosen(pipe, "") == []


@pytest.mark.usefixtures("three")
def test_an_entry_of_another_project_is_out_and_that_is_told(home: Home, embedder: Embedder | None) -> None:
    pipe = pipeline(home, embedder)
    question = "store money amounts in floats or integers of cents?"
    assert chosen(pipe, question, "shop") == [MONEY[0]]
    ranking = pipe.rank(Query(question, "bank"))
    assert ranking.chosen == []
    assert cuts(ranking.candidates)[MONEY[0]] == "scope"


def test_each_cut_has_its_reason(home: Home, write: Write, embedder: Embedder | None) -> None:
    for number in range(5):
        write(f"global/deploy/n{number}", f"No deploys on Fridays {number}", FRIDAY[2])
    write("global/old", "No deploys on Fridays", FRIDAY[2], status="deprecated")
    write("global/broken", '"No deploys on Fridays', FRIDAY[2])
    theirs = "Ship to production whenever the checks are green, somebody is on call all week."
    write("projects/bank/mine", "Deploys on Fridays are fine", theirs, supersedes="[global/deploy/n4]")
    write("projects/shop/other", "No deploys on Fridays", FRIDAY[2])
    pipe = pipeline(home, embedder, Settings(max_entries=2))
    query = Query("may we deploy to production on Friday?", "bank", frozenset({"global/deploy/n0"}))
    found = cuts(pipe.rank(query).candidates)
    assert found["global/deploy/n0"] == "already shown"
    assert list(found.values()).count(None) == 2
    assert "over the limit" in found.values()
    assert "global/deploy/n4" not in found or found["global/deploy/n4"] == "overridden"
    assert {"scope", "status", "unreadable", "overridden"} & set(found.values())
    because = {candidate.cut: candidate.because for candidate in pipe.rank(query).candidates}
    assert because.get("overridden", "projects/bank/mine") == "projects/bank/mine"
    assert because.get("scope", "project:shop") == "project:shop"
    assert not {"global/old", "global/broken", "projects/shop/other"} & {
        id for id, cut in found.items() if cut is None
    }


@pytest.mark.usefixtures("three")
def test_a_search_asks_everything_of_any_scope_and_status(home: Home, write: Write) -> None:
    write("global/old", "Money was in floats", "Amounts in floats.", status="deprecated")
    pipe = pipeline(home)
    found = [c.id for c in pipe.rank(Query("money amounts", None, everything=True)).candidates]
    assert set(found) == {MONEY[0], "global/old"}


@pytest.mark.usefixtures("three")
def test_the_threshold_can_be_set_and_is_told(home: Home) -> None:
    strict = pipeline(home, None, Settings(threshold=0.9999)).rank(Query("deploy on Friday?"))
    assert strict.threshold == 0.9999
    assert cuts(strict.candidates) == {FRIDAY[0]: "below threshold"}
    assert pipeline(home, None, Settings(max_entries=0)).rank(Query("deploy on Friday?")).chosen == []


def test_among_what_applies_the_priors_decide_who_is_first(
    home: Home, write: Write, embedder: Embedder | None
) -> None:
    for name in "abcd":
        write(f"global/{name}", FRIDAY[1], FRIDAY[2])
    question = "may we deploy to production on Friday?"
    assert chosen(pipeline(home, embedder), question) == ["global/a", "global/b", "global/c"]
    write("global/d", FRIDAY[1], FRIDAY[2], reinforced=6)
    write("global/a", FRIDAY[1], FRIDAY[2], encoding_strength=0.1)
    ranking = pipeline(home, embedder).rank(Query(question))
    assert [c.id for c in ranking.chosen] == ["global/d", "global/b", "global/c"]
    assert ranking.chosen[0].priors["reinforced"] > 0.0
    assert cuts(ranking.candidates)["global/a"] == "over the limit"


def test_a_note_that_was_shown_and_never_used_goes_behind_its_equals(home: Home, write: Write) -> None:
    for name in "ab":
        write(f"global/{name}", FRIDAY[1], FRIDAY[2])
    index = Index(home, None)
    index.refresh(Store(home).scan().entries)
    pipe = Pipeline(index, fired={"global/a": 12})
    assert chosen(pipe, "may we deploy to production on Friday?") == ["global/b", "global/a"]


@pytest.mark.usefixtures("three")
def test_priors_let_nothing_in_and_keep_nothing_out(home: Home, write: Write) -> None:
    write(*FRIDAY, encoding_strength=0.0)
    write(*RESPX, reinforced=500, encoding_strength=1.0)
    pipe = pipeline(home)
    assert chosen(pipe, "shall we deploy to production this Friday afternoon?") == [FRIDAY[0]]
    assert chosen(pipe, "rename the variable foo to bar") == []


def test_a_candidate_that_is_overridden_names_by_whom(home: Home, write: Write) -> None:
    write(*FRIDAY)
    write("projects/bank/mine", "Fridays are fine", "Ship whenever you like.", supersedes=f"[{FRIDAY[0]}]")
    ranking = pipeline(home).rank(Query("may we deploy to production on Friday?", "bank"))
    (one,) = (c for c in ranking.candidates if c.id == FRIDAY[0])
    assert (one.cut, one.because) == ("overridden", "projects/bank/mine")


@pytest.mark.usefixtures("three")
def test_a_candidate_has_its_place_by_each_score(home: Home, bag: Bag) -> None:
    ranking = pipeline(home, bag).rank(Query("use respx for the production deploy on Friday", "shop"))
    assert ranking.scored == ("bm25", "dense")
    for name in ("bm25", "dense"):
        by_score = sorted(ranking.candidates, key=lambda c: -c.scores[name])
        assert [c.ranks[name] for c in by_score] == [1, 2, 3]
    by_sum = sorted(ranking.candidates, key=lambda c: -c.fused)
    assert [c.ranks["fused"] for c in by_sum] == [1, 2, 3]


@pytest.mark.usefixtures("three")
def test_a_ranking_tells_its_scores_and_times(home: Home, bag: Bag) -> None:
    ranking = pipeline(home, bag).rank(Query("deploy on Friday?", now=1.0))
    assert {"bm25", "dense", "words", "coverage", "stands_out"} <= set(ranking.candidates[0].scores)
    assert {"tokens", "bm25", "dense", "fusion", "evidence", "gate"} <= set(ranking.timings_ms)
    assert all(0 <= candidate.probability <= 1 for candidate in ranking.candidates)
    json.dumps([candidate.scores for candidate in ranking.candidates])


@pytest.mark.parametrize("library", ["lib0", "lib-empty-bodies"])
def test_a_library_of_nothing_says_nothing(home: Home, library: str, embedder: Embedder | None) -> None:
    pipe = over(home, TINY / library / "knowledge", embedder)
    assert pipe.rank(Query("anything at all, --no-verify", "shop")).chosen == []


def test_a_first_entry_is_found_without_a_restart(
    home: Home, write: Write, embedder: Embedder | None
) -> None:
    index = Index(home, embedder)
    pipe = Pipeline(index)
    index.refresh(Store(home).scan().entries)
    assert chosen(pipe, "deploy on Friday?") == []
    write(*FRIDAY)
    index.refresh(Store(home).scan().entries)
    assert chosen(pipe, "deploy on Friday?") == [FRIDAY[0]]


@pytest.mark.parametrize("question", json.loads((TINY / "queries.json").read_text("utf-8")))
def test_a_library_of_two_ranks_its_exact_match_first(
    home: Home, question: dict[str, str], embedder: Embedder | None
) -> None:
    found = chosen(over(home, TINY / "lib1" / "knowledge", embedder), question["q"])
    assert found[:1] == ([question["want"]] if question["want"] else [])


@pytest.mark.parametrize("question", json.loads((SCRIPTS / "queries.json").read_text("utf-8")))
def test_a_question_in_any_script_finds_its_rule(
    home: Home, question: dict[str, str], embedder: Embedder | None
) -> None:
    found = chosen(over(home, SCRIPTS / "knowledge", embedder), question["q"])
    assert found[:1] == ([question["want"]] if question["want"] else [])


class Hostile(Bag):
    """A model to which every question is near to every entry but those that share its words."""

    def embed_query(self, text: str) -> np.ndarray:
        return -super().embed_query(text)


@pytest.mark.parametrize("question", json.loads((SCRIPTS / "queries.json").read_text("utf-8")))
def test_an_english_model_never_vetoes_another_script(home: Home, question: dict[str, str]) -> None:
    hostile = Hostile("bge-small-en-v1.5-int8/stand-in")
    found = chosen(over(home, SCRIPTS / "knowledge", hostile), question["q"])
    assert found[:3].count(question["want"]) == 1 if question["want"] else found == []


@pytest.mark.parametrize("text", ["yes do it", "ok thanks!", "👍", "...", "こんにちは", "what is it?", "no"])
def test_approvals_and_small_talk_meet_silence(home: Home, write: Write, text: str) -> None:
    write("global/yes", "Yes means do it", "When I say yes do it, ok, thanks, no: what is it")
    assert chosen(pipeline(home, Bag()), text) == []


@pytest.mark.usefixtures("three")
def test_two_megabytes_of_anything_are_ranked(home: Home, bag: Bag) -> None:
    pipe = pipeline(home, bag)
    for text in ("x" * 2_000_000, "deploy on Friday? " * 100_000, "\ud800漢" * 500_000, "\0" * 2_000_000):
        assert isinstance(pipe.rank(Query(text)).candidates, list)


@pytest.mark.usefixtures("three")
def test_each_task_of_a_prompt_finds_its_note(home: Home, embedder: Embedder | None) -> None:
    pipe = pipeline(home, embedder)
    one, other = "which library do we mock HTTP with in tests?", "deploy to production this Friday afternoon"
    assert set(chosen(pipe, f"{one} Then {other}")) == {RESPX[0], FRIDAY[0]}
    found = pipe.rank(Query(f"{one} Then {other}")).candidates
    assert len({candidate.id for candidate in found}) == len(found)


@pytest.mark.usefixtures("three")
def test_a_long_paste_does_not_drown_the_question(home: Home, embedder: Embedder | None) -> None:
    log = "\n".join(
        f"2026-11-02 10:01:{n % 60:02} INFO worker {n} took a job from the queue" for n in range(99)
    )
    pipe = pipeline(home, embedder)
    assert chosen(pipe, f"{log}\n\nShall we deploy to production this Friday afternoon?") == [FRIDAY[0]]


@pytest.mark.usefixtures("three")
def test_when_time_is_up_the_tasks_of_a_prompt_are_left_out(home: Home) -> None:
    prompt = "which library do we mock HTTP with in tests? Then deploy to production this Friday afternoon"
    timings = pipeline(home).rank(Query(prompt, deadline=0.0)).timings_ms
    assert "gate" in timings  # the whole prompt was ranked


@pytest.mark.usefixtures("three")
def test_each_task_has_its_best_note_before_any_has_a_second(home: Home, write: Write) -> None:
    for number in range(3):
        write(f"global/deploy/friday-{number}", f"No deploys on Fridays {number}", FRIDAY[2])
    prompt = "deploy to production this Friday afternoon, and then mock HTTP with respx or vcr in tests"
    assert RESPX[0] in chosen(pipeline(home), prompt)
