"""What answers a prompt: the library as last seen, its index, the ranking, the record of what was weighed.

One object serves the daemon, the command line and the evaluations, so that all of them rank alike. `refresh`
may run while others ask: the answers then come from the state before it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ultan.library import config as configuration
from ultan.library import scopes
from ultan.library.config import Config, Models
from ultan.library.entry import Entry
from ultan.library.excerpt import excerpt
from ultan.library.store import Snapshot, Store
from ultan.recall.leftout import NO_TIME, left_out
from ultan.retrieval.backends import load_embedder, load_encoder, load_reranker
from ultan.retrieval.index import Index, Progress, Refreshed
from ultan.retrieval.judgement import fingerprint
from ultan.retrieval.models import Embedder, ModelUnavailable, Reranker, TokenEncoder
from ultan.retrieval.own_gate import of_home
from ultan.retrieval.pipeline import Candidate, Pipeline, Query, Ranking, Settings
from ultan.retrieval.rerank import Judge
from ultan.wire import block, projects, recall
from ultan.wire.home import Home
from ultan.wire.project import identities

M = TypeVar("M")

NOTES = 10
# So many candidates of a prompt are kept in the recall log, a few KB.
RECORDED = 20
# How long a ranking may take: a search lets the cross-encoder judge as many as fit, a prompt is asked task by
# task. The hook waits 0.8 s, so that the answer should not depend on how busy the machine is.
PRIMING_SECONDS = 0.4
SEARCH_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Primed:
    """The answer to a prompt. shown: rows (id, title, type, updated, excerpt, score) best first, at most
    `max_entries`; block: what the agent would see; record: the recall log's line.
    """

    shown: list[dict[str, Any]] = field(default_factory=list)
    block: str = ""
    record: dict[str, Any] = field(default_factory=dict)


class Engine:
    """Ranks one library. `note` says which models are missing and why, "" where all are there."""

    def __init__(
        self,
        home: Home,
        config: Config,
        embedder: Embedder | None,
        note: str = "",
        encoder: TokenEncoder | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self.home = home
        self.config = config
        self.note = note
        self.notes: list[str] = []
        self.store = Store(home)
        self.index = Index(home, embedder, encoder)
        self.judge = Judge(reranker) if reranker is not None else None
        self._gate, unused = of_home(home, *((embedder.id, embedder.english_only) if embedder else (None,)))
        self.notes += [unused] if unused else []
        self.pipeline = self._pipeline()
        self._snapshot = Snapshot()
        self._refreshing = threading.Lock()

    @classmethod
    def open(cls, home: Home, config: Config | None = None) -> Engine:
        """An engine with the models that the settings name; without any of them it ranks by words."""
        known = configuration.load(home) if config is None else config
        notes: list[str] = []
        # Reading and checking the files is most of it, which threads do side by side.
        with ThreadPoolExecutor(3, "load") as pool:
            embedder = pool.submit(_or_note, load_embedder, known.models, notes)
            encoder = pool.submit(_or_note, load_encoder, known.models, notes)
            reranker = pool.submit(_or_note, load_reranker, known.models, notes)
        note = " ".join(dict.fromkeys(notes))
        return cls(home, known, embedder.result(), note, encoder.result(), reranker.result())

    def refresh(self, progress: Progress | None = None, embed: bool = True) -> bool:
        """Take over what changed in the library; whether anything did.

        embed: compute missing vectors now; else they wait for `embed_pending`, and until then those entries
        are found by their words.
        """
        with self._refreshing:
            snapshot = self.store.scan()
            if snapshot is self._snapshot:
                return False
            self._tell(self.index.refresh(snapshot.entries, progress, embed))
            self._snapshot = snapshot
            return True

    @property
    def pending(self) -> int:
        """How many entries still wait for their vector."""
        return self.index.pending

    def embed_pending(self, seconds: float) -> int:
        """Compute missing vectors for about so long; how many are left."""
        stop = time.monotonic() + seconds

        def watch(_done: int, _total: int) -> None:
            if time.monotonic() > stop:
                raise Enough

        with self._refreshing:
            try:
                self._tell(self.index.refresh(self._snapshot.entries, watch))
            except Enough:
                pass
        return self.pending

    def configure(self, config: Config) -> None:
        """Take over changed settings (not other models: those need a new engine)."""
        self.config = config
        self.pipeline = self._pipeline()

    def project(self, cwd: str) -> str | None:
        """The library's name of the project at a folder, else the name it would get; None for no folder."""
        mine = identities(cwd)
        if not mine:
            return None
        known = scopes.projects(self._snapshot)
        return projects.slug_for(known, mine) or projects.new_slug(known, mine)

    def prime(
        self,
        prompt: str,
        cwd: str = "",
        session_id: str = "",
        prompt_id: str = "",
        project: str | None = None,
        exclude: frozenset[str] = frozenset(),
        now: float | None = None,
        remember: bool = True,
        seconds: float | None = PRIMING_SECONDS,
    ) -> Primed:
        """What applies to a prompt. project: the slug, where `cwd` is not to decide; exclude: ids that were
        shown before; remember: write the recall log; seconds: how long it may take, None: as long as it does.
        """
        moment = time.time() if now is None else now
        started = time.perf_counter()
        entries = self._snapshot.entries
        slug = project if project is not None else self.project(cwd)
        # Judging what the gate then does not weigh would only take time.
        rerank = None if self.pipeline.gate.weighs("rerank") else 0
        late = self.pipeline.gate.weighs("late")
        deadline = None if seconds is None else time.monotonic() + seconds
        query = Query(prompt, slug, exclude, moment, deadline=deadline, rerank=rerank, late=late)
        ranking = self.pipeline.rank(query)
        shown = [row(entries[c.id], c.probability) for c in ranking.chosen if c.id in entries]
        timings = dict(ranking.timings_ms)
        timings["total"] = (time.perf_counter() - started) * 1000
        record = recall.line(
            "daemon",
            session_id,
            prompt_id,
            slug,
            prompt,
            [journal_form(c, entries) for c in ranking.candidates[:RECORDED]],
            timings,
            moment,
            cwd=cwd,
            exclude=exclude,
            threshold=ranking.threshold,
            max_entries=self.pipeline.settings.max_entries,
            gate=fingerprint(self.pipeline.gate),
            stages=list(ranking.scored),
            left_out=self._left_out(prompt, ranking, late, rerank),
            models=self._models(ranking.scored),
        )
        if remember:
            try:
                recall.append(self.home, record)
            except OSError as error:  # a full disk costs the record, not the answer
                self.notes = [*self.notes, f"The recall log could not be written: {error}"][-NOTES:]
        return Primed(shown, block.render(shown, moment, max_chars=self.config.priming.max_chars), record)

    def search(self, text: str, project: str | None = None, limit: int = 10) -> list[dict[str, Any]]:
        """Entries about a text, best first, without the threshold; every project where none is named."""
        entries = self._snapshot.entries
        deadline = time.monotonic() + SEARCH_SECONDS
        ranking = self.pipeline.rank(Query(text, project, everything=True, deadline=deadline))
        found = [
            entries[c.id]
            for c in ranking.candidates
            if c.id in entries and (project is None or scopes.in_scope(entries[c.id], project))
        ]
        scores = {c.id: c.probability for c in ranking.candidates}
        return [row(entry, scores[entry.id]) for entry in found[:limit]]

    def read(self, id: str) -> dict[str, Any] | None:
        """One entry with its body; None where the library has none of that id."""
        entry = self._snapshot.entries.get(id)
        if entry is None:
            return None
        return {**row(entry, None), "scope": entry.scope, "status": entry.status, "body": entry.body}

    def status(self) -> dict[str, Any]:
        """Sizes, and which model ranks."""
        return {
            "entries": len(self._snapshot.entries),
            "problems": len(self._snapshot.problems),
            "embedder": self.index.embedder.id if self.index.embedder is not None else None,
            "pending_embeddings": self.pending,
            "notes": [note for note in (self.note, *self.notes) if note],
        }

    def save(self) -> None:
        """Keep the index for the next start."""
        with self._refreshing:
            self.index.save()

    def close(self) -> None:
        """Nothing is held open; the counterpart of `open`."""

    def _pipeline(self) -> Pipeline:
        return Pipeline(self.index, settings(self.config), self._gate, judge=self.judge)

    def _by_stage(self) -> dict[str, Embedder | TokenEncoder | Reranker | None]:
        judge = self.judge
        reranker = judge.reranker if judge is not None else None
        return {"dense": self.index.embedder, "late": self.index.encoder, "rerank": reranker}

    def _models(self, scored: Iterable[str]) -> dict[str, str]:
        """The ids of the embedder, which the gate goes by, and of the other models that judged, by stage."""
        spoke = {"dense", *scored}
        models = self._by_stage().items()
        return {name: model.id for name, model in models if model is not None and name in spoke}

    def _left_out(self, prompt: str, ranking: Ranking, late: bool, rerank: int | None) -> dict[str, str]:
        """stage -> why it said nothing; empty where nothing was ranked at all."""
        if not ranking.scored:
            return {}
        asked = {"late": late, "rerank": rerank != 0}
        snapshot = self.index.snapshot
        keeps = {
            "dense": bool(snapshot.embedded.any()),
            "late": any(kept is not None for kept in snapshot.tokens),
        }
        unasked = [stage for stage, wanted in asked.items() if not wanted]
        found = left_out(prompt, self._by_stage(), ranking.scored, unasked, keeps)
        if ranking.unasked:
            found["tasks"] = NO_TIME
        return found

    def _tell(self, done: Refreshed) -> None:
        """Keep what the index had to say (rebuilt, embedding stopped) for whoever asks how it is."""
        self.notes = [*self.notes, *done.notes][-NOTES:]


def _or_note(load: Callable[[Models], M], models: Models, notes: list[str]) -> M | None:
    """A model, or None and the reason among the notes."""
    try:
        return load(models)
    except ModelUnavailable as error:
        notes.append(str(error))
        return None


class Enough(Exception):
    """The time for embedding is up; what was embedded so far is kept."""


def settings(config: Config) -> Settings:
    return Settings(config.priming.max_entries, config.priming.threshold)


def row(entry: Entry, score: float | None) -> dict[str, Any]:
    """An entry as hooks and people get it."""
    found: dict[str, Any] = {
        "id": entry.id,
        "title": entry.title,
        "type": entry.type,
        "scope": entry.scope,
        "updated": entry.updated,
        "excerpt": excerpt(entry),
    }
    if score is not None:
        found["score"] = round(float(score), 4)
    return found


def journal_form(candidate: Candidate, entries: Any) -> dict[str, object]:
    """A candidate as the recall log keeps it; of the priors those that say something."""
    entry = entries.get(candidate.id)
    form: dict[str, object] = {
        "id": candidate.id,
        "title": entry.title if entry is not None else "",
        "scores": {name: round(float(value), 4) for name, value in candidate.scores.items()},
        "probability": None,
        "cut": candidate.cut,
    }
    if candidate.ranks:  # else it was out before anybody judged it
        form["probability"] = round(float(candidate.probability), 4)
        form["fused"] = candidate.fused
        form["ranks"] = candidate.ranks
        form["priors"] = {name: round(value, 4) for name, value in candidate.priors.items() if value}
    if candidate.because:
        form["because"] = candidate.because
    return form
