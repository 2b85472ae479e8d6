"""`ultan bench peers` on a library of five notes."""

from __future__ import annotations

import inspect
import json
import random
from pathlib import Path
from typing import Any

import peers
import pytest
from peers_lexical import fts5, rank_bm25
from ultan.cli.checkout import benchmarks
from ultan.cli.main import main as ultan
from ultan.retrieval import evaluate
from ultan.retrieval.evaluate import Prompt
from ultan.retrieval.metrics import Outcome, figures

ENTRIES = [
    {"id": "global/friday", "title": "No deploys on Fridays", "scope": "global", "tags": ["deploying"]},
    {"id": "projects/shop/money", "title": "Money in cents", "scope": "project:shop", "body": "Integers."},
    {"id": "projects/bank/money", "title": "Money as decimals", "scope": "project:bank"},
    {"id": "global/tabs", "title": "Indent by tabs", "applies_when": "writing Go"},
    {"id": "global/haste", "title": "Ask before a rewrite", "body": "Small steps."},
]
PROMPTS = [
    {"id": "1", "prompt": "shall we deploy on Fridays?", "kind": "keyword",
     "relevant": [{"id": "global/friday", "grade": 2}]},
    {"id": "2", "prompt": "store money", "project": "shop", "kind": "project",
     "relevant": [{"id": "projects/shop/money", "grade": 2}]},
    {"id": "3", "prompt": "Spiel ein Lied", "kind": "negative-easy", "relevant": []},
    {"id": "4", "prompt": "tabs of the browser", "kind": "negative-hard", "relevant": []},
]  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The arguments that name a file of entries and one of prompts."""
    found = []
    for name, rows in (("entries", ENTRIES), ("queries", PROMPTS)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        found += [f"--{name}", str(path)]
    return found


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = peers.main(arguments)
    return code, *capsys.readouterr()


def test_every_peer_is_scored_always_and_from_its_best_threshold(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *files, "--json")
    report = json.loads(out)
    rows = {(row["peer"], row["answers"]): row for row in report["rows"]}
    assert code == 0 and (report["entries"], report["prompts"]) == (5, 4)
    assert err.splitlines() == ["ultan", "sqlite fts5", "rank-bm25"]
    always, cut = rows["sqlite fts5", "top 3 always"], rows["sqlite fts5", "best threshold"]
    assert (always["recall_at_3"], always["silence"], always["ndcg_at_3"]) == (1.0, 0.5, 1.0)
    assert always["precision_at_3_all"] == pytest.approx(2 / 3)
    assert cut["threshold"] > 0 and cut["prime_score"] >= always["prime_score"]
    assert cut["prime_score_low"] <= cut["prime_score"] <= cut["prime_score_high"]
    assert set(cut["ms_per_query"]) == {"p50", "p99"}
    assert rows["ultan", "unseen prompts"]["why"]
    assert rows["ultan", "top 3 always"]["silence"] <= rows["ultan", "its gate"]["silence"]


def test_the_table_says_what_was_run_and_whom_it_favours(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, *files)[1]
    assert out.startswith("5 entries, 4 prompts; 20") and "favours the peers" in out
    assert sum(line.startswith(("ultan  ", "sqlite fts5", "rank-bm25")) for line in out.splitlines()) == 7


def test_ultans_row_is_built_of_what_eval_priming_builds_with(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[dict[str, str]] = []
    real = evaluate.build

    def build(*given: Any, **named: Any) -> Any:
        bound = inspect.signature(real).bind(*given, **named)
        calls.append({name: type(value).__name__ for name, value in bound.arguments.items()})
        return real(*given, **named)

    monkeypatch.setattr(evaluate, "build", build)
    ship = peers.ultan(Path(files[1]), Path(files[3]))[0]
    assert ultan(["eval", "priming", *files, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    for call in calls:
        del call["progress"]
        call.pop("gate", None)  # that of an empty home is the one that ships
    assert calls[0] == calls[2] and calls[1].pop("settings") == "Settings"
    assert {name: ship[name] for name in peers.SHOWN} == {name: told[name] for name in peers.SHOWN}


def test_the_best_threshold_is_the_one_that_trying_them_all_finds() -> None:
    rng = random.Random(1)
    for _ in range(100):
        prompts, hits = [], []
        for number in range(8):
            ids = rng.sample("abcdef", rng.randrange(4))
            grades = {id: rng.choice((1, 2)) for id in rng.sample("abcdef", rng.choice((0, 1, 4)))}
            prompts.append(Prompt(str(number), "", None, grades, ""))
            hits.append(sorted(((id, float(rng.randrange(5))) for id in ids), key=lambda hit: -hit[1]))

        def prime(least: float, prompts: list[Prompt] = prompts, hits: list[peers.Hits] = hits) -> object:
            pairs = zip(prompts, hits, strict=True)
            return figures([Outcome("", one.grades, peers.shown(found, least)) for one, found in pairs], 0)[
                "prime_score"
            ]

        scores = {score for found in hits for _, score in found}
        least = peers.best_threshold(prompts, hits)
        assert prime(least) == pytest.approx(max(map(prime, scores)))  # type: ignore[type-var]


def test_only_the_best_three_of_those_in_scope_are_answers() -> None:
    hits = [("bank", 9.0), ("a", 5.0), ("shop", 4.0), ("unknown", 3.5), ("b", 3.0), ("c", 2.0)]
    scopes = {"bank": "project:bank", "shop": "project:shop", "a": "global", "b": "global", "c": "global"}
    assert [id for id, _ in peers.in_scope(hits, "shop", scopes)] == ["a", "shop", "b"]
    assert [id for id, _ in peers.in_scope(hits, None, scopes)] == ["a", "b", "c"]


@pytest.mark.parametrize("search", [fts5, rank_bm25])
def test_a_search_by_words_takes_any_prompt_and_answers_best_first(search: Any) -> None:
    answer = search(ENTRIES)
    found = answer('money" OR (NEAR in cents* -- title:')
    assert found[0][0] == "projects/shop/money"
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert found[-1][1] > 0
    assert answer("?!") == answer("") == answer("zanzibar") == []


def test_full_text_search_knows_other_forms_of_a_word() -> None:
    assert fts5(ENTRIES)("deployed")[0][0] == "global/friday"


def test_what_is_said_of_unseen_prompts_is_what_the_gate_file_holds(tmp_path: Path) -> None:
    gate = tmp_path / "gate.json"
    held = {"unseen_prompts_and_threshold": {"priming": {"prime_score": 0.5}}}
    gate.write_text(json.dumps({"sets": {"bge": {"figures": held}}}))
    shipped = peers.EVALS / "priming" / "queries.jsonl"
    assert peers.unseen("bge/123", shipped, gate) == {"prime_score": 0.5}
    for model, queries in (("other/1", shipped), ("bge/1", tmp_path / "priming" / "queries.jsonl")):
        assert "prime_score" not in peers.unseen(model, queries, gate)
    assert peers.unseen("bge-small-en-v1.5-int8/x", shipped)["prime_score"] > 0


@pytest.mark.parametrize("text, told", [("", "is empty"), ('{"id": 1}\n', "line 1"), (None, "No such file")])
def test_prompts_that_cannot_be_used_are_an_error_in_one_line(
    files: list[str], capsys: pytest.CaptureFixture[str], text: str | None, told: str
) -> None:
    path = Path(files[3])
    path.unlink() if text is None else path.write_text(text)
    code, out, err = run(capsys, *files)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert told in err and "queries.jsonl" in err


def test_it_is_listed_as_one_benchmark_and_tells_its_options(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [name for name in benchmarks(repository / "tools" / "bench") if "peers" in name]
    assert names == ["peers"]
    with pytest.raises(SystemExit) as ended:
        peers.main(["--help"])
    assert ended.value.code == 0 and "650 MB" in capsys.readouterr().out
