"""`ultan eval priming` on files of its form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ultan.retrieval.evaluate import BadData, evaluate

ENTRIES = [
    {"id": "global/friday", "title": "No deploys on Fridays", "type": "preference", "scope": "global",
     "applies_when": "Deploying: production, \"soon\"", "tags": ["deploy"], "body": "Never on Friday."},
    {"id": "projects/shop/money", "title": "Money: in minor units #1", "type": "convention",
     "scope": "project:shop", "applies_when": "", "tags": [], "body": "Amounts are integers in cents."},
]  # fmt: skip
PROMPTS = [
    {"id": "1", "prompt": "deploy to production on Friday?", "project": None, "kind": "keyword",
     "relevant": [{"id": "global/friday", "grade": 2}]},
    {"id": "2", "prompt": "amounts of money as integers in cents?", "project": "shop", "kind": "project",
     "relevant": [{"id": "projects/shop/money", "grade": 2}]},
    {"id": "3", "prompt": "amounts of money as integers in cents?", "project": "bank", "kind": "hard",
     "relevant": []},
    {"id": "4", "prompt": "write a haiku", "project": None, "kind": "negative-easy", "relevant": []},
]  # fmt: skip


def lines(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_entries_and_prompts_are_scored_and_the_run_is_written(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    figures = evaluate(
        lines(tmp_path / "entries.jsonl", ENTRIES),
        lines(tmp_path / "queries.jsonl", PROMPTS),
        tmp_path / "run.jsonl",
        lambda what, done, total: told.append((what, done, total)),
    )
    assert (figures["prime_score"], figures["silence"], figures["precision_at_3_all"]) == (1.0, 1.0, 1.0)
    run = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert run[0] == {"id": "1", "surfaced": ["global/friday"]}
    assert [row["surfaced"] for row in run[2:]] == [[], []]
    assert told[-1] == ("prompts", 4, 4)


@pytest.mark.parametrize("text", ["{", "[]", '{"id": "1"}', '"x"'])
def test_a_wrong_line_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id": "1", "prompt": "x"}\n' + text + "\n")
    with pytest.raises(BadData, match="line 2") as caught:
        evaluate(lines(tmp_path / "entries.jsonl", ENTRIES), tmp_path / "queries.jsonl")
    assert caught.value.line == 2
