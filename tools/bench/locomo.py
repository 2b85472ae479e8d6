"""How well a search finds what answers a question: LoCoMo's conversations, one turn an entry.

    ultan bench locomo locomo.json                      with 30, 250 and 1,000 ms a question
    ultan bench locomo locomo.json --budget-ms 250 --json
    ultan bench locomo locomo.json --candidates 10      so many for the cross-encoder, whatever it takes

The file is `data/locomo10.json` of snap-research/locomo, or some of its conversations. Questions of category
5 have no answer and are left out, as are questions whose evidence names no turn. Time is from the question to
the ranking; figures with --candidates do not depend on how busy the machine is, those with a budget do.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import summary
from ultan.library.entry import Entry
from ultan.retrieval.embedded import EmbeddedEmbedder
from ultan.retrieval.index import Index
from ultan.retrieval.late import EmbeddedTokens
from ultan.retrieval.pipeline import Pipeline, Query, Settings
from ultan.retrieval.rerank import EmbeddedReranker, Judge
from ultan.wire.home import Home

CATEGORIES = (1, 2, 3, 4)
BUDGETS = (250, 30, 1000)
BARS = {"recall_at_5": 0.70, "ndcg_at_10": 0.63}
TURN = re.compile(r"D(\d+):(\d+)")


@dataclass(frozen=True)
class Conversation:
    """entries: one a turn, by id; questions: each with the ids of the turns that answer it."""

    name: str
    entries: dict[str, Entry]
    questions: list[tuple[str, frozenset[str]]]


def read(path: Path) -> list[Conversation]:
    return [conversation(sample) for sample in json.loads(path.read_text("utf-8"))]


def conversation(sample: dict[str, Any]) -> Conversation:
    """One sample of the file."""
    name = str(sample["sample_id"])
    entries = {id: turn(id, said) for id, said in turns(sample["conversation"])}
    questions = []
    for asked in sample["qa"]:
        # Some evidence strings hold several ids, or one with a leading zero.
        named = TURN.findall(" ".join(asked.get("evidence", [])))
        answers = frozenset(f"D{int(session)}:{int(number)}" for session, number in named) & entries.keys()
        if asked["category"] in CATEGORIES and answers:
            questions.append((str(asked["question"]), answers))
    return Conversation(name, entries, questions)


def turns(talk: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(id, what was said) in order; a shared picture is told by its caption."""
    sessions = [key for key, said in talk.items() if re.fullmatch(r"session_\d+", key) and said]
    for session in sorted(sessions, key=lambda key: int(key.split("_")[1])):
        for said in talk[session]:
            text = f"{said['speaker']}: {said.get('text', '')}".strip()
            caption = said.get("blip_caption")
            yield str(said["dia_id"]), f"{text} [shares {caption}]" if caption else text


def turn(id: str, text: str) -> Entry:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Entry(id=id, path=f"{id}.md", title="", content_hash=digest, body=text)


def recall(found: list[str], answers: frozenset[str], depth: int = 5) -> float:
    return len(answers & set(found[:depth])) / len(answers)


def ndcg(found: list[str], answers: frozenset[str], depth: int = 10) -> float:
    gain = sum(1 / math.log2(place + 2) for place, id in enumerate(found[:depth]) if id in answers)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(depth, len(answers))))


def ask(
    pipelines: list[tuple[Pipeline, Conversation]], budget_ms: float | None, candidates: int | None
) -> dict[str, object]:
    """The figures of all questions with one budget, or with a number of candidates and no budget."""
    recalls, gains, times, judged = [], [], [], []
    for pipeline, talk in pipelines:
        for text, answers in talk.questions:
            begun = time.monotonic()
            deadline = begun + budget_ms / 1000 if budget_ms is not None else None
            ranking = pipeline.rank(Query(text, everything=True, deadline=deadline, rerank=candidates))
            times.append((time.monotonic() - begun) * 1000)
            found = [candidate.id for candidate in ranking.candidates]
            recalls.append(recall(found, answers))
            gains.append(ndcg(found, answers))
            judged.append(sum(candidate.scores["reranked"] for candidate in ranking.candidates))
    return {
        "recall_at_5": round(float(np.mean(recalls)), 4),
        "ndcg_at_10": round(float(np.mean(gains)), 4),
        "ms_per_query": {key: value for key, value in summary(times).items() if key in ("p50", "p99")},
        "reranked": round(float(np.mean(judged)), 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--budget-ms", type=float)
    parser.add_argument("--candidates", type=int, help="judge so many, without a budget")
    parser.add_argument("--no-late", action="store_true", help="without token vectors")
    parser.add_argument("--keep", type=Path, help="a folder for the index, to be used again")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    talks = read(chosen.file)
    embedder, encoder = EmbeddedEmbedder.load(), EmbeddedTokens.load()
    judge = Judge(EmbeddedReranker.load())
    settings = Settings(late=not chosen.no_late)
    pipelines = []
    with tempfile.TemporaryDirectory(prefix="ultan-locomo-") as folder:
        for talk in talks:
            home = Home(str((chosen.keep or Path(folder)) / talk.name))
            home.ensure()
            index = Index(home, embedder, encoder)
            index.refresh(talk.entries)
            index.save()
            pipelines.append((Pipeline(index, settings, judge=judge), talk))
    for pipeline, talk in pipelines:
        pipeline.rank(Query(talk.questions[0][0], everything=True))
    budgets: list[float | None] = [None] if chosen.candidates is not None else [chosen.budget_ms]
    if budgets == [None] and chosen.candidates is None:
        budgets = [*BUDGETS]
    runs = [(budget, ask(pipelines, budget, chosen.candidates)) for budget in budgets]
    report: dict[str, object] = {
        "questions": sum(len(talk.questions) for talk in talks),
        "entries": sum(len(talk.entries) for talk in talks),
        "budget_ms": runs[0][0],
        **runs[0][1],
    }
    if len(runs) > 1:
        report["other_budgets"] = [{"budget_ms": budget, **figures} for budget, figures in runs[1:]]
    if chosen.json:
        json.dump(report, sys.stdout, indent=1)
        print()
        return 0
    print(f"{report['entries']} turns, {report['questions']} questions")
    for budget, figures in sorted(runs, key=lambda run: run[0] or 0):
        within = f"{budget:g} ms" if budget is not None else f"{chosen.candidates} candidates"
        print(f"  {within:16} " + "  ".join(f"{name} {value}" for name, value in figures.items()))
    print("  wanted at 250 ms " + "  ".join(f"{name} {bar}" for name, bar in BARS.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
