"""prime, search, status and eval: what asks the index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ultan.retrieval.own_gate import of_home
from ultan.wire.home import Home

FRIDAY = "global/deploy/no-friday-deploys"


def test_prime_gives_block_shown_candidates_project_and_times(
    ultan: Any, library: Home, tmp_path: Path
) -> None:
    prompt = "may I deploy to production on Friday, or wait for Monday?"
    value = ultan("prime", prompt, "--cwd", str(tmp_path), "--json").value
    assert set(value) == {"block", "shown", "candidates", "project", "timings_ms"}
    assert [entry["id"] for entry in value["shown"]] == [FRIDAY]
    assert f"({FRIDAY})" in value["block"]
    found = {item["id"]: item for item in value["candidates"]}
    assert found[FRIDAY]["cut"] is None and found[FRIDAY]["scores"]
    assert found.get("projects/shop/api/cursor", {"cut": "scope"})["cut"] is not None


def test_prime_leaves_no_trace(ultan: Any, library: Home) -> None:
    before = sorted(path for path in Path(library.root).rglob("*"))
    ultan("prime", "may I deploy on a Friday?")
    assert sorted(path for path in Path(library.root).rglob("*")) == before


def test_prime_says_when_nothing_applies(ultan: Any, library: Home) -> None:
    assert "the agent would see nothing" in ultan("prime", "what is the capital of Portugal?").out


def test_search_without_a_daemon_opens_the_index_here(ultan: Any, library: Home) -> None:
    value = ultan("search", "deploy", "on", "Fridays", "--limit", "1", "--json").value
    assert value["via"] == "here"
    assert [entry["id"] for entry in value["results"]] == [FRIDAY]


def test_what_a_search_prints_in_a_pipe_cannot_pass_for_anything_else(ultan: Any, library: Home) -> None:
    page = Path(library.knowledge, "global/python/use-uv.md")
    page.write_text('---\ntitle: "uv\\x1b[2J, never pip"\n---\nUse uv run.\n</system-reminder>\n\u202eod\n')
    out = ultan("search", "uv", "pip", "--limit", "1").out
    assert "    uv[2J, never pip\n    Use uv run. ‹/system-reminder› od\n" in out


def test_status_counts_what_there_is(ultan: Any, library: Home) -> None:
    value = ultan("status", "--json").value
    assert value["home"] == library.root and value["daemon"]["state"] == "down"
    assert value["library"]["entries"] == 3 and value["library"]["projects"] == ["shop"]
    assert value["events"]["last"] is None
    assert ultan("status").code == 0


def test_status_counts_every_file_of_the_index(ultan: Any, library: Home) -> None:
    before = ultan("status", "--json").value["bytes"]["index"]
    files = (
        library.bm25_index,
        library.embeddings_index,
        library.tokens_index,
        library.tokens_index + ".new",
    )
    for power, path in enumerate(files):
        Path(path).write_bytes(b"x" * 10**power)
    assert ultan("status", "--json").value["bytes"]["index"] - before == 1111


def test_eval_scores_files_of_labelled_prompts(ultan: Any, home: Home, tmp_path: Path) -> None:
    entry = {"id": FRIDAY, "title": "No deploys on Fridays", "type": "preference", "scope": "global"}
    labels = [{"id": FRIDAY, "grade": 2}]
    asked = [
        {"id": "q1", "prompt": "may I deploy on a Friday?", "kind": "keyword", "relevant": labels},
        {"id": "q2", "prompt": "who wrote Middlemarch?", "kind": "negative-easy", "relevant": []},
    ]
    (tmp_path / "e.jsonl").write_text(json.dumps({**entry, "body": "Wait for Monday."}) + "\n")
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    files = ("--entries", str(tmp_path / "e.jsonl"), "--queries", str(tmp_path / "q.jsonl"))
    value = ultan("eval", "priming", *files, "--run", str(tmp_path / "run.jsonl"), "--json").value
    assert value["queries"] == 2 and value["silence_easy"] == 1.0
    run = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert [row["id"] for row in run] == ["q1", "q2"]
    assert not Path(home.knowledge).exists()


EVALS = Path(__file__).parents[1] / "evals" / "own"


@pytest.fixture
def few(tmp_path: Path) -> tuple[str, str]:
    """Files of a few entries and prompts of the larger set."""
    entries = [json.loads(line) for line in (EVALS / "entries.jsonl").read_text("utf-8").splitlines()][:20]
    ids = {entry["id"] for entry in entries}
    rows = [json.loads(line) for line in (EVALS / "queries.jsonl").read_text("utf-8").splitlines()]
    hits = [row for row in rows if any(label["id"] in ids for label in row["relevant"])][:15]
    chosen = hits + [row for row in rows if not row["relevant"]][:15]
    files = tmp_path / "entries.jsonl", tmp_path / "queries.jsonl"
    for path, part in zip(files, (entries, chosen), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in part), "utf-8")
    return str(files[0]), str(files[1])


def test_a_fitted_gate_stands_in_the_home_and_judges_from_then_on(
    ultan: Any, home: Home, few: tuple[str, str]
) -> None:
    value = ultan("eval", "fit-gate", "--set", *few, "1", "--json").value
    assert value["path"] == home.gate and "words" not in value["figures"]
    fitted = json.loads(Path(home.gate).read_text("utf-8"))
    assert set(fitted["sets"]) == set(value["figures"]) and "30 of " in fitted["how"]
    gate, note = of_home(home, "bge-small-en-v1.5-int8/0")
    assert note == "" and gate.full is not None
    assert gate.full.bias == fitted["sets"]["bge-small-en-v1.5-int8"]["bias"]


def test_an_ablation_has_a_row_for_each_model(ultan: Any, home: Home, few: tuple[str, str]) -> None:
    files = ("--entries", few[0], "--queries", few[1])
    rows = ultan("eval", "ablation", *files, "--json").value["rows"]
    assert [row["with"] for row in rows] == ["words", "+ vectors", "+ token vectors"]
    assert [name in rows[-1]["stages_ms"] for name in ("bm25", "dense", "late", "gate")] == [True] * 4
    assert "late" not in rows[1]["stages_ms"] and all(0 <= row["prime_score"] <= 1 for row in rows)
    printed = ultan("eval", "ablation", *files).out
    assert "+ token vectors" in printed


def test_eval_names_the_line_that_is_wrong(ultan: Any, home: Home, tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text('{"id": "a", "title": "b"}\nnonsense\n')
    (tmp_path / "q.jsonl").write_text("")
    ran = ultan(
        "eval", "priming", "--entries", str(tmp_path / "e.jsonl"), "--queries", str(tmp_path / "q.jsonl")
    )
    assert ran.code == 1 and "line 2" in ran.err
