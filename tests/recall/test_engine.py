"""One engine answers the daemon, the command line and the evaluations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from ultan.library.config import Config, Priming
from ultan.recall import engine as engines
from ultan.recall.engine import Engine
from ultan.retrieval.models import ModelUnavailable, Vector
from ultan.wire.home import Home

NOW = 1_796_000_000.0


class Letters:
    """A stand-in for a model: the counts of letters, so that like words are near each other."""

    id = "letters/1"
    dims = 26
    english_only = False

    def embed_query(self, text: str) -> Vector:
        counts = np.array([text.lower().count(chr(97 + n)) for n in range(26)], dtype=np.float32) + 0.01
        return counts / np.linalg.norm(counts)

    embed_document = embed_query


def write(home: Home, id: str, title: str, body: str, **fields: str) -> None:
    path = Path(home.knowledge, id + ".md")
    path.parent.mkdir(parents=True, exist_ok=True)
    header = "".join(f"{key}: {value}\n" for key, value in fields.items())
    path.write_text(f"---\ntitle: {title}\ntype: preference\n{header}---\n{body}\n")


@pytest.fixture
def engine(home: Home) -> Engine:
    """A library of a few entries, ranked by words and letters."""
    write(home, "global/deploy/friday", "No deploys on Fridays", "Never deploy to production on a Friday.")
    write(home, "global/python/uv", "Use uv", "Add dependencies with `uv add`, never with pip.")
    write(home, "projects/shop/money", "Money is integer cents", "Prices are integer cents, never floats.")
    write(home, "global/old/ftp", "Upload by FTP", "Upload the build by FTP.", status="deprecated")
    found = Engine(home, Config(), Letters())
    found.refresh()
    return found


def test_what_applies_is_shown_in_a_block_and_recorded(home: Home, engine: Engine) -> None:
    primed = engine.prime("shall we deploy to production on Friday?", session_id="s", prompt_id="p", now=NOW)
    assert [row["id"] for row in primed.shown] == ["global/deploy/friday"]
    assert "No deploys on Fridays (global/deploy/friday)" in primed.block
    (day,) = Path(home.recall).glob("*.jsonl")
    record = json.loads(day.read_text())
    assert record["candidates"][0]["id"] == "global/deploy/friday"
    assert record["candidates"][0]["cut"] is None
    assert record["timings_ms"]["total"] > 0


def test_the_record_holds_what_another_ranking_needs(engine: Engine) -> None:
    before = frozenset(["global/python/uv"])
    record = engine.prime("deploy to production on Friday?", cwd="/tmp", exclude=before, now=NOW).record
    assert (record["cwd"], record["exclude"]) == ("/tmp", ["global/python/uv"])
    assert 0 < record["threshold"] < 1 and record["max_entries"] == 3
    assert record["stages"] == ["bm25", "dense"] and record["models"] == {"dense": "letters/1"}
    first = record["candidates"][0]
    assert first["ranks"]["bm25"] == 1 and first["fused"] > 0
    assert 0 < first["probability"] <= 1


def test_what_was_out_before_it_was_judged_has_no_probability_but_a_reason(engine: Engine) -> None:
    record = engine.prime("upload the build by FTP", now=NOW).record
    out = next(item for item in record["candidates"] if item["id"] == "global/old/ftp")
    assert (out["cut"], out["because"], out["probability"]) == ("status", "deprecated", None)


def test_when_nothing_applies_nothing_is_shown(engine: Engine) -> None:
    primed = engine.prime("what is the tallest mountain of Norway?", now=NOW)
    assert (primed.shown, primed.block) == ([], "")


def test_what_was_shown_is_left_out_and_the_record_says_so(engine: Engine) -> None:
    primed = engine.prime(
        "deploy to production on Friday?", exclude=frozenset(["global/deploy/friday"]), now=NOW
    )
    assert primed.shown == []
    assert "already shown" in [candidate["cut"] for candidate in primed.record["candidates"]]


def test_a_projects_note_is_shown_in_that_project_alone(engine: Engine) -> None:
    prompt = "store prices as floats or as integer cents?"
    assert [row["id"] for row in engine.prime(prompt, project="shop", now=NOW).shown] == [
        "projects/shop/money"
    ]
    elsewhere = engine.prime(prompt, project="other", now=NOW)
    assert elsewhere.shown == []
    assert ("projects/shop/money", "scope") in [(c["id"], c["cut"]) for c in elsewhere.record["candidates"]]


def test_another_repository_of_that_name_is_another_project(
    home: Home, engine: Engine, tmp_path: Path
) -> None:
    repository = tmp_path / "shop"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "config").write_text(
        '[remote "origin"]\n\turl = https://github.com/acme/shop.git\n'
    )
    assert engine.project(str(repository)) == "shop"  # a folder without identities goes by its name

    page = Path(home.knowledge, "projects/shop/README.md")
    page.write_text("---\ntitle: shop\nidentities: [remote:github.com/mara/shop]\n---\n")
    engine.refresh()
    assert engine.project(str(repository)) == "shop-2"
    primed = engine.prime("store prices as floats or as integer cents?", cwd=str(repository), now=NOW)
    assert primed.shown == []


def test_a_deprecated_note_is_found_by_searching_and_never_shown(engine: Engine) -> None:
    assert engine.prime("upload the build by FTP", now=NOW).shown == []
    assert engine.search("upload the build by FTP")[0]["id"] == "global/old/ftp"


def test_a_search_in_a_project_leaves_out_the_others(engine: Engine) -> None:
    assert "projects/shop/money" in [row["id"] for row in engine.search("integer cents", "shop")]
    assert "projects/shop/money" not in [row["id"] for row in engine.search("integer cents", "other")]


def test_a_change_is_taken_over_by_the_next_refresh(home: Home, engine: Engine) -> None:
    assert not engine.refresh()
    write(home, "global/style/tabs", "Tabs in Go files", "Indent Go files with tabs.")
    assert engine.refresh()
    assert engine.search("tabs in Go files")[0]["id"] == "global/style/tabs"
    Path(home.knowledge, "global/style/tabs.md").unlink()
    assert engine.refresh()
    assert "global/style/tabs" not in [row["id"] for row in engine.search("tabs in Go files")]


def test_vectors_may_wait_while_words_answer_already(home: Home) -> None:
    for number in range(5):
        write(home, f"global/n/{number}", f"Note {number}", f"The unique word is zebra{number}.")
    engine = Engine(home, Config(), Letters())
    engine.refresh(embed=False)
    assert engine.pending == 5
    assert engine.search("zebra3")[0]["id"] == "global/n/3"
    while engine.pending:
        assert engine.embed_pending(0.5) == engine.pending
    engine.save()
    again = Engine(home, Config(), Letters())
    again.refresh(embed=False)
    assert again.pending == 0


def test_the_settings_limit_what_is_shown_and_may_change_while_it_runs(engine: Engine) -> None:
    engine.configure(Config(priming=Priming(max_entries=0)))
    assert engine.prime("deploy to production on Friday?", now=NOW).shown == []
    engine.configure(Config(priming=Priming(threshold=1.0)))
    assert engine.prime("deploy to production on Friday?", now=NOW).shown == []
    engine.configure(Config())
    assert engine.prime("deploy to production on Friday?", now=NOW).shown != []


def test_without_a_model_it_ranks_by_words_and_says_why(home: Home) -> None:
    write(home, "global/deploy/friday", "No deploys on Fridays", "Never deploy to production on a Friday.")
    engine = Engine(home, Config(), None, "the model's file is gone")
    engine.refresh()
    assert engine.prime("deploy to production on a Friday?", now=NOW).shown != []
    status = engine.status()
    assert status["embedder"] is None
    assert "the model's file is gone" in status["notes"]


def test_a_model_that_is_missing_is_told_and_the_others_rank(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_models: object) -> None:
        raise ModelUnavailable("the-judge", "its file is gone")

    monkeypatch.setattr(engines, "load_embedder", lambda _models: Letters())
    monkeypatch.setattr(engines, "load_encoder", missing)
    monkeypatch.setattr(engines, "load_reranker", missing)
    write(home, "global/deploy/friday", "No deploys on Fridays", "Never deploy to production on a Friday.")
    engine = Engine.open(home, Config())
    engine.refresh()
    assert engine.note.count("the-judge") == 1
    assert engine.search("deploy to production on a Friday?")[0]["id"] == "global/deploy/friday"
    assert [stage.name for stage in engine.pipeline.stages][:2] == ["bm25", "dense"]


def test_priming_asks_for_no_opinion_that_its_gate_does_not_weigh(home: Home) -> None:
    class Judging:
        id, english_only, pairs = "judging/1", False, 0

        def ready(self) -> None:
            pass

        def score(self, query: str, text: str) -> float:
            self.pairs += 1
            return 0.0

    judging = Judging()
    write(home, "global/deploy/friday", "No deploys on Fridays", "Never deploy to production on a Friday.")
    engine = Engine(home, Config(), Letters(), reranker=judging)
    engine.refresh()
    assert engine.prime("shall we deploy to production on Friday?", now=NOW).shown != []
    assert judging.pairs == 0
    engine.search("deploy to production on a Friday?")
    assert judging.pairs == 1


def test_an_empty_library_is_silent_until_its_first_entry(home: Home) -> None:
    engine = Engine(home, Config(), Letters())
    engine.refresh()
    assert engine.prime("anything at all?", now=NOW).shown == []
    assert engine.search("anything") == []
    write(home, "global/a", "Weather demos use London", "Use London as the demo city in weather examples.")
    engine.refresh()
    assert engine.search("which city for the weather demo")[0]["id"] == "global/a"


def test_one_entry_is_read_whole(engine: Engine) -> None:
    found = engine.read("global/python/uv")
    assert found is not None
    assert found["body"].strip() == "Add dependencies with `uv add`, never with pip."
    assert engine.read("global/nothing") is None
