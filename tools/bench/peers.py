"""How well Ultan primes beside what else can be installed: the same library, prompts and scopes, in one run.

    ultan bench peers                            SQLite FTS5 and rank-bm25
    ultan bench peers --with basic-memory        and basic-memory, in an environment of its own (650 MB, kept)
    ultan bench peers --entries e.jsonl --queries q.jsonl --json

Every peer indexes all entries and answers with its best three of those in scope: global ones and those of
the prompt's project. A peer always has an answer, so it gets two rows: all of it, and what reaches one score,
the one that is best for the peer on these very prompts. That favours the peers: they could not know it.
Ultan's gate is the one that ships, fitted on the prompts of tests/evals; `unseen prompts` is what gate.json
says of prompts that gate and threshold were fitted without. `no threshold` is its ranking before the cut.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measure import ROOT, summary
from ultan.library.config import Models
from ultan.library.errors import UltanError
from ultan.retrieval import gate as gates
from ultan.retrieval.backends import load_embedder
from ultan.retrieval.evaluate import Prompt, build, rank_all, read_lines, read_prompts, write_entry
from ultan.retrieval.metrics import LIMIT, Outcome, figures, harmonic
from ultan.wire.home import Home

EVALS = ROOT / "tests" / "evals"
COLUMNS = ("title", "applies_when", "tags", "body")
SHOWN = {
    "prime_score": "prime",
    "recall_at_3": "recall@3",
    "silence": "silence",
    "precision_at_3_all": "prec@3",
    "ndcg_at_3": "nDCG@3",
    "hit_at_1_any": "hit@1",
}
Entry = Mapping[str, Any]
Hits = list[tuple[str, float]]
Answer = Callable[[Prompt], Hits]


@dataclass
class Run:
    """What a peer found. hits: for each prompt its in-scope answers, best first, at most LIMIT."""

    hits: list[Hits] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    index_s: float = 0.0


def ask_all(start: Callable[[], Answer], prompts: Sequence[Prompt], scopes: Mapping[str, str]) -> Run:
    """Starts a peer and asks it each prompt, the first one once before to warm up. scopes: of each entry."""
    run, begun = Run(), time.perf_counter()
    answer = start()
    run.index_s = time.perf_counter() - begun
    for prompt in (prompts[0], *prompts):
        begun = time.perf_counter()
        found = in_scope(answer(prompt), prompt.project, scopes)
        run.ms.append((time.perf_counter() - begun) * 1000)
        run.hits.append(found)
    del run.hits[0], run.ms[0]
    return run


def in_scope(hits: Hits, project: str | None, scopes: Mapping[str, str]) -> Hits:
    """The best LIMIT that may speak in a project: the global ones and its own."""
    may = ("global", f"project:{project}")
    return [hit for hit in hits if scopes.get(hit[0]) in may][:LIMIT]


def fts5(entries: Sequence[Entry]) -> Answer:
    """SQLite's full-text search: any of the prompt's words, stemmed, ranked by bm25() with its defaults."""
    base = sqlite3.connect(":memory:")
    base.execute(
        f"CREATE VIRTUAL TABLE note USING fts5(id UNINDEXED, {', '.join(COLUMNS)}, tokenize='porter')"
    )
    rows = ((str(entry["id"]), *(text(entry, name) for name in COLUMNS)) for entry in entries)
    base.executemany("INSERT INTO note VALUES (?, ?, ?, ?, ?)", rows)

    def answer(prompt: Prompt) -> Hits:
        words = dict.fromkeys(re.findall(r"\w+", prompt.text.lower()))
        asked = " OR ".join(f'"{word}"' for word in words)
        found = base.execute("SELECT id, -bm25(note) AS score FROM note(?) ORDER BY score DESC", (asked,))
        return list(found) if words else []

    return answer


def rank_bm25(entries: Sequence[Entry]) -> Answer:
    """rank_bm25.BM25Okapi over lower-case words; an entry that shares none with the prompt is no answer."""
    from rank_bm25 import BM25Okapi

    ids = [str(entry["id"]) for entry in entries]
    texts = (" ".join(text(entry, name) for name in COLUMNS) for entry in entries)
    index = BM25Okapi([re.findall(r"\w+", one.lower()) for one in texts])

    def answer(prompt: Prompt) -> Hits:
        scores = index.get_scores(re.findall(r"\w+", prompt.text.lower()))
        found = [(id, float(score)) for id, score in zip(ids, scores, strict=True) if score > 0]
        return sorted(found, key=lambda hit: -hit[1])

    return answer


def text(entry: Entry, name: str) -> str:
    value = entry.get(name) or ""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def best_threshold(prompts: Sequence[Prompt], hits: Sequence[Hits]) -> float:
    """The least score to show, among those found, that has the best prime score; of several the highest."""
    positives = [prompt for prompt in prompts if Outcome("", prompt.grades, ()).must]
    negatives = sum(not prompt.grades for prompt in prompts)
    steps = sorted(
        ((score, prompt, id) for prompt, found in zip(prompts, hits, strict=True) for id, score in found),
        key=lambda step: -step[0],
    )
    recalled, spoken, best, chosen = 0.0, set[str](), -1.0, 0.0
    for place, (score, prompt, id) in enumerate(steps):
        if prompt.grades.get(id) == 2:
            recalled += Outcome("", prompt.grades, (id,)).recall
        if not prompt.grades:
            spoken.add(prompt.id)
        if place + 1 < len(steps) and steps[place + 1][0] == score:
            continue
        recall = recalled / len(positives) if positives else 0.0
        prime = harmonic(recall, 1 - len(spoken) / negatives if negatives else 0.0)
        if prime > best + 1e-12:
            best, chosen = prime, score
    return chosen


def scored(prompts: Sequence[Prompt], shown: Sequence[Sequence[str]]) -> dict[str, object]:
    """All figures of metrics.figures for what was shown for each prompt."""
    return figures(
        [Outcome(one.kind, one.grades, tuple(ids)) for one, ids in zip(prompts, shown, strict=True)]
    )


def rows_of(peer: str, run: Run, prompts: Sequence[Prompt], note: str) -> list[dict[str, object]]:
    """A peer's two rows."""
    least = best_threshold(prompts, run.hits)
    cut = [[hit for hit in found if hit[1] >= least] for found in run.hits]
    more = {"ms_per_query": summary(run.ms), "index_s": round(run.index_s, 2), "note": note}
    return [
        {"peer": peer, "answers": answers, "threshold": threshold, **scored(prompts, ids_of(hits)), **more}
        for answers, threshold, hits in (
            ("top 3 always", None, run.hits),
            ("best threshold", least, cut),
        )
    ]


def ids_of(hits: Sequence[Hits]) -> list[list[str]]:
    return [[id for id, _ in found] for found in hits]


def ultan(
    entries: Sequence[Entry], prompts: Sequence[Prompt], scopes: Mapping[str, str], queries: Path, home: Home
) -> list[dict[str, object]]:
    """Ultan's rows: as it ships, on unseen prompts, and without the threshold."""
    embedder = load_embedder(Models())
    shown: dict[str, list[str]] = {}

    def start() -> Answer:
        pipeline = build(home, entries, embedder)

        def answer(prompt: Prompt) -> Hits:
            ranking = rank_all(pipeline, [prompt])[0]
            shown[prompt.id] = [candidate.id for candidate in ranking.chosen][:LIMIT]
            return [(candidate.id, candidate.probability) for candidate in ranking.candidates]

        return answer

    run = ask_all(start, prompts, scopes)
    more = {"ms_per_query": summary(run.ms), "index_s": round(run.index_s, 2), "note": embedder.id}
    ships = scored(prompts, [shown[prompt.id] for prompt in prompts])
    return [
        {"peer": "ultan", "answers": "its gate", **ships, **more},
        {"peer": "ultan", "answers": "unseen prompts", **unseen(embedder.id, queries, gates.PATH)},
        {"peer": "ultan", "answers": "no threshold", **scored(prompts, ids_of(run.hits)), **more},
    ]


def unseen(embedder_id: str, queries: Path, gate: Path) -> dict[str, object]:
    """What gate.json says of a set of tests/evals for prompts that gate and threshold were fitted without."""
    name = queries.resolve().parent.name if queries.resolve().parent.parent == EVALS else ""
    held = json.loads(gate.read_text("utf-8"))["sets"].get(embedder_id.partition("/")[0], {})
    found = held.get("figures", {}).get("unseen_prompts_and_threshold", {}).get(name)
    return dict(found) if found else {"why": "gate.json has no figures for these prompts"}


def basic_memory(
    entries: Sequence[Entry],
    prompts: Sequence[Prompt],
    scopes: Mapping[str, str],
    folder: Path,
    options: argparse.Namespace,
) -> list[dict[str, object]]:
    """basic-memory's rows, by words and hybrid; or one that says why there are none."""
    import peers_basic_memory as other

    rows: list[dict[str, object]] = []
    home, notes = folder / "basic-memory", Home(str(folder / "notes"))
    try:
        python = other.provide(options.cache, options.basic_memory_python, say)
        for entry in entries:
            write_entry(notes, entry)
        modes = ["text", "hybrid"] if other.lay_model(home / "models") else ["text"]
        with other.driven(python, home) as talk:
            before = 0.0
            for mode in modes:
                say(f"basic-memory, {mode}")
                peer = other.Peer(talk, mode, Path(notes.knowledge))
                run = ask_all(peer.start, prompts, scopes)
                run.index_s = before = before + run.index_s
                rows += rows_of(f"basic-memory {mode}", run, prompts, peer.note())
    except other.Missing as error:
        rows.append({"peer": "basic-memory", "answers": "none", "why": str(error)})
    return rows


def say(told: str) -> None:
    print(told, file=sys.stderr, flush=True)


def compare(options: argparse.Namespace) -> dict[str, object]:
    """The whole report. Raises UltanError or OSError."""
    entries = read_lines(options.entries, ("id", "title"))
    prompts = read_prompts(options.queries)
    if not prompts:
        raise UltanError(f"{options.queries} has no prompts.", "", "One JSON object a line.")
    scopes = {str(entry["id"]): str(entry.get("scope") or "global") for entry in entries}
    with tempfile.TemporaryDirectory(prefix="ultan-peers-", ignore_cleanup_errors=True) as folder:
        say("ultan")
        rows = ultan(entries, prompts, scopes, options.queries, Home(str(Path(folder, "home"))))
        for name, start in (("sqlite fts5", fts5), ("rank-bm25", rank_bm25)):
            say(name)
            rows += rows_of(name, ask_all(lambda start=start: start(entries), prompts, scopes), prompts, "")  # type: ignore[misc]
        if "basic-memory" in options.with_:
            rows += basic_memory(entries, prompts, scopes, Path(folder), options)
    return {"entries": len(entries), "prompts": len(prompts), "rows": rows}


def table(report: Mapping[str, Any]) -> str:
    """The report for people to read."""
    head = ["", "", "prime", "95 %", *list(SHOWN.values())[1:], "p50 ms", "p99 ms", "index s"]
    lines = [head, *(cells(row) for row in report["rows"])]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    out = [f"{report['entries']} entries, {report['prompts']} prompts", ""]
    for line, row in zip(lines, [{}, *report["rows"]], strict=True):
        left = [cell.ljust(width) for cell, width in zip(line[:2], widths, strict=False)]
        right = [cell.rjust(width) for cell, width in zip(line[2:], widths[2:], strict=True)]
        out.append("  ".join([*left, *([row["why"]] if "why" in row else right)]).rstrip())
    notes = dict.fromkeys(f"{row['peer']}: {row['note']}" for row in report["rows"] if row.get("note"))
    return "\n".join([*out, "", FAIRNESS, *notes])


FAIRNESS = """\
`best threshold` is chosen for the peer on these very prompts, which favours the peers. `its gate` may have
been fitted on them; the figures of `unseen prompts`, out of gate.json, have not. Times are those of calls in
this process, one prompt at a time, unless said otherwise here."""


def cells(row: Mapping[str, Any]) -> list[str]:
    low, high = row.get("prime_score_low"), row.get("prime_score_high")
    names = [f"{row[name]:.3f}" if name in row else "-" for name in SHOWN]
    names.insert(1, f"{low:.2f}-{high:.2f}" if low is not None and high is not None else "-")
    ms = row.get("ms_per_query", {})
    times = [f"{value:.1f}" if value is not None else "-" for value in (ms.get("p50"), ms.get("p99"))]
    index = f"{row['index_s']:.2f}" if "index_s" in row else "-"
    return [row["peer"], row["answers"], *names, *times, index]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="ultan bench peers", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--entries", type=Path, default=EVALS / "priming" / "entries.jsonl")
    parser.add_argument("--queries", type=Path, default=EVALS / "priming" / "queries.jsonl")
    parser.add_argument("--with", dest="with_", action="append", default=[], choices=["basic-memory"])
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/ultan-bench").expanduser(), help="where")
    parser.add_argument("--basic-memory-python", type=Path, help="a Python from 3.12 on to run it")
    parser.add_argument("--json", action="store_true", help="print one object")
    options = parser.parse_args()
    try:
        report = compare(options)
    except (UltanError, OSError) as error:
        print(f"ultan bench peers: {error}", file=sys.stderr)
        return 1
    print(json.dumps(report) if options.json else table(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
