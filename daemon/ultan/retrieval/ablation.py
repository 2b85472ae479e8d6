"""`ultan eval ablation`: what each model of the pipeline adds, in quality and in time.

Each row is the pipeline with one model more, judged by the set of the gate that was fitted for it, so that
every row is as good as it can be.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from ultan.retrieval.evaluate import Progress, build, rank_all, read_lines, read_prompts
from ultan.retrieval.gate import Gate
from ultan.retrieval.metrics import LIMIT, Outcome, figures
from ultan.retrieval.models import Embedder, TokenEncoder
from ultan.retrieval.pipeline import Ranking
from ultan.wire.home import Home

SHOWN = ("prime_score", "recall_at_3", "silence", "silence_easy", "precision_at_3_all")
Row = Mapping[str, object]


def ablation(
    entries: str | Path,
    queries: str | Path,
    embedder: Embedder,
    encoder: TokenEncoder,
    progress: Progress | None = None,
    gate: Gate | None = None,
) -> list[Row]:
    """A row for the words alone, with vectors, and with token vectors: {"with", SHOWN..., "ms" (median of a
    prompt), "stages_ms" (median by stage)}. Raises BadData or OSError.
    """
    prompts = read_prompts(queries)
    rows: list[Row] = []
    for name, one, two in (
        ("words", None, None),
        ("+ vectors", embedder, None),
        ("+ token vectors", embedder, encoder),
    ):
        with tempfile.TemporaryDirectory(prefix="ultan-eval-") as folder:
            home = Home(str(Path(folder, "home")))
            held = read_lines(entries, ("id", "title"))
            pipeline = build(home, held, one, progress, two, gate=gate if one is not None else None)
            rankings = rank_all(pipeline, prompts, progress)
        outcomes = [
            Outcome(prompt.kind, prompt.grades, tuple(candidate.id for candidate in ranking.chosen)[:LIMIT])
            for prompt, ranking in zip(prompts, rankings, strict=True)
        ]
        found = figures(outcomes, resamples=0)
        rows.append({"with": name, **{key: found[key] for key in SHOWN}, **times(rankings)})
    return rows


def times(rankings: Sequence[Ranking]) -> dict[str, object]:
    """{"ms", "stages_ms"}: medians over the rankings that went through all stages."""
    timed = [ranking.timings_ms for ranking in rankings if "gate" in ranking.timings_ms]
    if not timed:
        return {"ms": 0.0, "stages_ms": {}}
    stages = {name: round(median(one.get(name, 0.0) for one in timed), 2) for name in timed[-1]}
    return {"ms": round(median(sum(one.values()) for one in timed), 2), "stages_ms": stages}
