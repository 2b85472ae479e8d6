"""Quality on the labelled prompts must not drop below the committed baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ultan.retrieval.embedded import EmbeddedEmbedder
from ultan.retrieval.evaluate import evaluate

HERE = Path(__file__).parent
# Two prompts of the eighty positives: other builds of the runtime round differently.
SLACK = 0.025
GUARDED = ("prime_score", "recall_at_3", "silence", "silence_easy", "silence_hard", "precision_at_3_all")
BARS = {"prime_score": 0.50, "silence_easy": 0.90}


@pytest.mark.parametrize("leg", ["vectors", "words"])
def test_priming_is_as_good_as_the_baseline(leg: str) -> None:
    embedder = EmbeddedEmbedder.load() if leg == "vectors" else None
    found = evaluate(HERE / "entries.jsonl", HERE / "queries.jsonl", embedder=embedder)
    baseline = json.loads((HERE / "baseline.json").read_text("utf-8"))[leg]
    now = {name: float(str(found[name])) for name in GUARDED}
    dropped = {name: (now[name], baseline[name]) for name in GUARDED if now[name] < baseline[name] - SLACK}
    assert not dropped, f"(now, baseline): {dropped}"
    if leg == "vectors":
        assert all(now[name] >= bar for name, bar in BARS.items())
