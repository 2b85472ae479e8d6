"""How well Ultan primes beside what else can be installed: the same library, prompts and scopes, in one run.

    ultan bench peers                            SQLite FTS5 and rank-bm25
    ultan bench peers --with basic-memory        and basic-memory, in an environment of its own
    ultan bench peers --entries e.jsonl --queries q.jsonl --json

Every peer indexes all entries and answers with its best three of those in scope: global ones and those of
the prompt's project. A peer nearly always has an answer, so it gets two rows: all of it, and what reaches one
score, the one that is best for the peer on these very prompts. That favours the peers: nobody could know it.

Ultan's rows are those of `ultan eval priming`. `its gate` is the gate that ships, which was fitted on the
prompts of tests/evals; `unseen prompts` is what gate.json says of prompts that gate and threshold were fitted
without; `top 3 always` is its ranking without a threshold.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import peers_basic_memory as other
from measure import ROOT, summary
from peers_lexical import Answer, Entry, Hits, fts5, rank_bm25
from ultan.library.config import Models
from ultan.library.errors import UltanError
from ultan.retrieval import gate as gates
from ultan.retrieval.backends import load_embedder, load_encoder
from ultan.retrieval.evaluate import Prompt, evaluate, read_lines, read_prompts, write_entry
from ultan.retrieval.metrics import LIMIT, Outcome, figures, harmonic
from ultan.retrieval.pipeline import Settings
from ultan.wire.home import Home

EVALS = ROOT / "tests" / "evals"
SHOWN = {
    "prime_score": "prime",
    "recall_at_3": "recall@3",
    "silence": "silence",
    "precision_at_3_all": "prec@3",
    "ndcg_at_3": "nDCG@3",
}
FAIRNESS = """\
`best threshold` is chosen for the peer on these very prompts, which favours the peers. `its gate` may have
been fitted on them; the figures of `unseen prompts`, out of gate.json, have not. One prompt at a time."""
Row = dict[str, Any]


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
    answer(prompts[0].text)
    for prompt in prompts:
        begun = time.perf_counter()
        found = answer(prompt.text)
        run.ms.append((time.perf_counter() - begun) * 1000)
        run.hits.append(in_scope(found, prompt.project, scopes))
    return run


def in_scope(hits: Hits, project: str | None, scopes: Mapping[str, str]) -> Hits:
    """The best LIMIT that may speak in a project: the global ones and its own."""
    may = ("global", f"project:{project}")
    return [hit for hit in hits if scopes.get(hit[0]) in may][:LIMIT]


def best_threshold(prompts: Sequence[Prompt], hits: Sequence[Hits]) -> float:
    """The least score to show, among those found, with the best prime score; of several the highest."""
    positives = sum(2 in prompt.grades.values() for prompt in prompts)
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
            continue  # what scores alike is shown together
        prime = harmonic(recalled / max(1, positives), 1 - len(spoken) / max(1, negatives))
        if prime > best + 1e-12:
            best, chosen = prime, score
    return chosen


def rows_of(peer: str, run: Run, prompts: Sequence[Prompt], note: str = "") -> list[Row]:
    """A peer's two rows."""
    least = best_threshold(prompts, run.hits)
    more = {"ms_per_query": summary(run.ms), "index_s": round(run.index_s, 2), "note": note}
    rows = []
    for answers, threshold in (("top 3 always", None), ("best threshold", least)):
        outcomes = [
            Outcome(prompt.kind, prompt.grades, shown(found, threshold))
            for prompt, found in zip(prompts, run.hits, strict=True)
        ]
        rows.append({"peer": peer, "answers": answers, "threshold": threshold, **figures(outcomes), **more})
    return rows


def shown(hits: Hits, threshold: float | None) -> tuple[str, ...]:
    return tuple(id for id, score in hits if threshold is None or score >= threshold)


class Clock:
    """Told by evaluate how far it is: ms of every prompt but the first, which warms up, as with the peers."""

    def __init__(self) -> None:
        self.ms: list[float] = []
        self.index_s = 0.0
        self._last = time.perf_counter()

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != "prompts":
            return
        took, self._last = time.perf_counter() - self._last, time.perf_counter()
        if done == 1:
            self.index_s = took
        else:
            self.ms.append(took * 1000)


def ultan(entries: Path, queries: Path) -> list[Row]:
    """Ultan's rows: as it ships, on unseen prompts, and without a threshold."""
    embedder, encoder = load_embedder(Models()), load_encoder(Models())
    rows: list[Row] = []
    for answers, settings in (("its gate", None), ("top 3 always", Settings(threshold=0.0))):
        clock = Clock()
        found = evaluate(entries, queries, None, clock, embedder, settings, encoder)
        more = {"ms_per_query": summary(clock.ms), "index_s": round(clock.index_s, 2), "note": embedder.id}
        rows.append({"peer": "ultan", "answers": answers, **found, **more})
    rows.insert(1, {"peer": "ultan", "answers": "unseen prompts", **unseen(embedder.id, queries)})
    return rows


def unseen(embedder_id: str, queries: Path, gate: Path = gates.PATH) -> Row:
    """What gate.json says of a set of tests/evals for prompts that gate and threshold were fitted without."""
    name = queries.resolve().parent.name if queries.resolve().parent.parent == EVALS else ""
    held = json.loads(gate.read_text("utf-8"))["sets"].get(embedder_id.partition("/")[0], {})
    found = held.get("figures", {}).get("unseen_prompts_and_threshold", {}).get(name)
    return dict(found) if found else {"why": "gate.json has no figures for these prompts"}


def basic_memory(
    python: Path, entries: Iterable[Entry], prompts: Sequence[Prompt], scopes: Mapping[str, str], folder: Path
) -> Iterator[Row]:
    """basic-memory's rows, by words and hybrid. Raises other.Missing, maybe after some rows."""
    home, notes = folder / "basic-memory", Home(str(folder / "notes"))
    for entry in entries:
        write_entry(notes, entry)
    other.lay_model(home / "models")
    with other.driven(python, home) as talk:
        before = 0.0  # the vectors come on top of the words
        for mode in ("text", "hybrid"):
            say(f"basic-memory, {mode}")
            peer = other.Peer(talk, mode, Path(notes.knowledge))
            run = ask_all(peer.start, prompts, scopes)
            run.index_s = before = before + run.index_s
            yield from rows_of(f"basic-memory {mode}", run, prompts, peer.note())


def compare(options: argparse.Namespace) -> dict[str, Any]:
    """The whole report. Raises UltanError or OSError."""
    entries = read_lines(options.entries, ("id", "title"))
    prompts = read_prompts(options.queries)
    if not entries or not prompts:
        raise UltanError(f"{options.queries if entries else options.entries} is empty.")
    scopes = {str(entry["id"]): str(entry.get("scope") or "global") for entry in entries}
    # First of all, since it may take minutes or fail.
    python = other.provide(options.cache, options.basic_memory_python, say) if options.with_ else None
    say("ultan")
    rows = ultan(options.entries, options.queries)
    for name, search in (("sqlite fts5", fts5), ("rank-bm25", rank_bm25)):
        say(name)
        rows += rows_of(name, ask_all(partial(search, entries), prompts, scopes), prompts)
    if python is not None:
        with tempfile.TemporaryDirectory(prefix="ultan-peers-", ignore_cleanup_errors=True) as folder:
            try:
                for row in basic_memory(python, entries, prompts, scopes, Path(folder)):
                    rows.append(row)
            except other.Missing as error:
                rows.append({"peer": "basic-memory", "answers": "none", "why": str(error)})
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return {
        "date": date.today().isoformat(),
        "machine": f"{machine}, {os.cpu_count()} cores",
        "entries": len(entries),
        "prompts": len(prompts),
        "rows": rows,
    }


def say(told: str) -> None:
    print(told, file=sys.stderr, flush=True)


def table(report: Mapping[str, Any]) -> str:
    """The report for people to read."""
    head = ["", "", "prime", "95 %", *list(SHOWN.values())[1:], "p50 ms", "p99 ms", "index s"]
    lines = [head, *(cells(row) for row in report["rows"])]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    out = ["{entries} entries, {prompts} prompts; {date}, {machine}".format(**report), ""]
    for line, row in zip(lines, [{}, *report["rows"]], strict=True):
        left = [cell.ljust(width) for cell, width in zip(line[:2], widths, strict=False)]
        right = [cell.rjust(width) for cell, width in zip(line[2:], widths[2:], strict=True)]
        out.append("  ".join([*left, *([row["why"]] if "why" in row else right)]).rstrip())
    notes = dict.fromkeys(f"{row['peer']}: {row['note']}" for row in report["rows"] if row.get("note"))
    return "\n".join([*out, "", FAIRNESS, *notes])


def cells(row: Mapping[str, Any]) -> list[str]:
    low, high = row.get("prime_score_low"), row.get("prime_score_high")
    names = [f"{row[name]:.3f}" if name in row else "-" for name in SHOWN]
    names.insert(1, f"{low:.2f}-{high:.2f}" if low is not None and high is not None else "-")
    ms = row.get("ms_per_query", {})
    times = [f"{ms[name]:.1f}" if name in ms else "-" for name in ("p50", "p99")]
    return [row["peer"], row["answers"], *names, *times, f"{row['index_s']:.2f}" if "index_s" in row else "-"]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="ultan bench peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    priming = EVALS / "priming"
    parser.add_argument("--entries", type=Path, default=priming / "entries.jsonl", help="one entry a line")
    parser.add_argument("--queries", type=Path, default=priming / "queries.jsonl", help="one prompt a line")
    parser.add_argument(
        "--with",
        dest="with_",
        choices=["basic-memory"],
        help=f"also basic-memory {other.VERSION}, which is installed first if need be (650 MB, kept)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("~/.cache/ultan-bench").expanduser(),
        help="where its environment is kept (default ~/.cache/ultan-bench)",
    )
    parser.add_argument(
        "--basic-memory-python", type=Path, metavar="PYTHON", help="a Python from 3.12 on to run it with"
    )
    parser.add_argument("--json", action="store_true", help="print one object")
    options = parser.parse_args(arguments)
    try:
        report = compare(options)
    except (UltanError, OSError) as error:
        say(f"ultan bench peers: {error}")
        return 1
    print(json.dumps(report) if options.json else table(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
