"""`ultan eval priming`: scores the daemon's own path on labelled prompts.

The entries become markdown files in a temporary home; library, index and pipeline do the rest, as in the
daemon.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ultan.library.errors import UltanError
from ultan.library.store import Store
from ultan.retrieval.gate import Gate
from ultan.retrieval.index import Index
from ultan.retrieval.metrics import LIMIT, Outcome, figures
from ultan.retrieval.models import Embedder, TokenEncoder
from ultan.retrieval.pipeline import Pipeline, Ranking, Settings
from ultan.retrieval.rerank import Judge
from ultan.retrieval.scene import Query
from ultan.wire import render
from ultan.wire.home import Home

Progress = Callable[[str, int, int], None]
DATE = "2026-01-10"


class BadData(UltanError):
    """A file of entries or prompts cannot be used. Fields: path, line."""

    def __init__(self, path: str, line: int, why: str) -> None:
        super().__init__(
            f"{path}, line {line}: {why}.", "", "One JSON object a line; docs/evals.md has the fields."
        )
        self.path = path
        self.line = line


@dataclass(frozen=True, slots=True)
class Prompt:
    """A labelled prompt. grades: id -> 1 or 2; none of them: the right answer is silence."""

    id: str
    text: str
    project: str | None
    grades: Mapping[str, int]
    kind: str


def evaluate(
    entries_path: str | Path,
    queries_path: str | Path,
    run_path: str | Path | None = None,
    progress: Progress | None = None,
    embedder: Embedder | None = None,
    settings: Settings | None = None,
    encoder: TokenEncoder | None = None,
    gate: Gate | None = None,
) -> dict[str, object]:
    """The figures of metrics.figures for the pipeline with these models (no embedder: by words alone).

    progress(what, done, total) is called while entries are embedded and prompts ranked. run_path: a file to
    write, one {"id", "surfaced"} a prompt. Raises BadData or OSError.
    """
    prompts = read_prompts(queries_path)
    with tempfile.TemporaryDirectory(prefix="ultan-eval-") as folder:
        home = Home(str(Path(folder, "home")))
        pipeline = build(
            home, read_lines(entries_path, ("id", "title")), embedder, progress, encoder, None, settings, gate
        )
        rankings = rank_all(pipeline, prompts, progress)
    surfaced = {
        prompt.id: tuple(candidate.id for candidate in ranking.chosen)[:LIMIT]
        for prompt, ranking in zip(prompts, rankings, strict=True)
    }
    if run_path is not None:
        rows = ({"id": id, "surfaced": list(ids)} for id, ids in surfaced.items())
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        Path(run_path).write_text(text, "utf-8")
    return figures([Outcome(prompt.kind, prompt.grades, surfaced[prompt.id]) for prompt in prompts])


def build(
    home: Home,
    entries: Iterable[Mapping[str, Any]],
    embedder: Embedder | None,
    progress: Progress | None = None,
    encoder: TokenEncoder | None = None,
    judge: Judge | None = None,
    settings: Settings | None = None,
    gate: Gate | None = None,
) -> Pipeline:
    """A pipeline over these entries, written to the home as markdown and read as the daemon reads them.

    Without encoder or judge, it lacks their stages; without a gate, it has the one that ships. It takes its
    time: how many pairs the judge sees depends on the settings alone.
    """
    home.ensure()
    for entry in entries:
        write_entry(home, entry)
    index = Index(home, embedder, encoder)
    tell = (lambda done, total: progress("entries", done, total)) if progress is not None else None
    index.refresh(Store(home).scan().entries, tell)
    return Pipeline(index, settings, gate, judge=judge)


def rank_all(pipeline: Pipeline, prompts: list[Prompt], progress: Progress | None = None) -> list[Ranking]:
    """The ranking of each prompt, each as the first of its session."""
    found = []
    for prompt in prompts:
        found.append(pipeline.rank(Query(prompt.text, prompt.project)))
        if progress is not None:
            progress("prompts", len(found), len(prompts))
    return found


def write_entry(home: Home, entry: Mapping[str, Any]) -> Path:
    """Write {"id", "title", "type", "scope", "applies_when", "tags", "body"} as the file of its id."""
    path = Path(home.knowledge, str(entry["id"]) + ".md")
    fields: list[tuple[str, object]] = [
        (name, entry[name])
        for name in ("id", "title", "type", "scope", "status", "applies_when", "tags")
        if entry.get(name) not in (None, "", [])
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render.entry([*fields, ("updated", DATE)], str(entry.get("body") or "")), "utf-8")
    return path


def read_prompts(path: str | Path) -> list[Prompt]:
    """The labelled prompts of a JSON-lines file. Raises BadData or OSError."""
    return [
        Prompt(
            id=str(row["id"]),
            text=str(row["prompt"]),
            project=row.get("project"),
            grades={str(label["id"]): int(label["grade"]) for label in row.get("relevant") or []},
            kind=str(row.get("kind") or ""),
        )
        for row in read_lines(path, ("id", "prompt"))
    ]


def read_lines(path: str | Path, needed: tuple[str, ...]) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file, each with the needed fields. Raises BadData or OSError."""
    found = []
    with Path(path).open(encoding="utf-8") as handle:
        for number, line in enumerate(handle, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise BadData(str(path), number, "not JSON") from error
            missing = [name for name in needed if not isinstance(row, dict) or name not in row]
            if missing:
                raise BadData(str(path), number, f"without {', '.join(missing)}")
            found.append(row)
    return found
