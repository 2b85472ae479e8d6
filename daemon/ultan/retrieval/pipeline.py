"""From a question to the entries that apply: a list of stages, each timed, and the cuts at its end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from ultan.library.scopes import overriders
from ultan.retrieval import gate as gates
from ultan.retrieval.asked import asked
from ultan.retrieval.evidence import Evidence
from ultan.retrieval.gate import Gate
from ultan.retrieval.index import Index
from ultan.retrieval.overrides import displaced
from ultan.retrieval.priors import priors, standing
from ultan.retrieval.rerank import Judge
from ultan.retrieval.scene import Query, Scene, Stage, shortened
from ultan.retrieval.snapshot import Snapshot
from ultan.retrieval.stages import (
    RERANK_CANDIDATES,
    SHORTLIST,
    Dense,
    Fuse,
    Late,
    Rerank,
    Shortlist,
    Words,
    best,
)
from ultan.wire.form import form_of
from ultan.wire.heard import Heard, words

__all__ = ["Candidate", "Pipeline", "Query", "Ranking", "Settings"]

# Of what may not speak here, `ultan why` names the few that the words would have found.
OUTSIDE = 3
SCOPE, STATUS, UNREADABLE, OVERRIDDEN = "scope", "status", "unreadable", "overridden"
SHOWN, BELOW, OVER = "already shown", "below threshold", "over the limit"


@dataclass(frozen=True, slots=True)
class Settings:
    """threshold None: the calibrated one. shortlist: how many candidates are looked at more closely; late:
    whether their token vectors are; rerank: how many the cross-encoder judges at most, 0 for none.
    """

    max_entries: int = 3
    threshold: float | None = None
    shortlist: int = SHORTLIST
    late: bool = True
    rerank: int = RERANK_CANDIDATES


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that was considered. scores: evidence by name. cut: None for those to show, or the reason.
    priors: what moves it among those that pass, in log-odds by name. ranks: its place from 1 by each score.
    because: more about the cut: who overrides it, of which scope or status it is.
    """

    id: str
    scores: dict[str, float]
    fused: float
    probability: float
    cut: str | None
    priors: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    because: str = ""


@dataclass(frozen=True, slots=True)
class Ranking:
    """candidates, best first; threshold: the probability that was asked for; timings_ms by stage; scored: the
    stages that had something to say; unasked: how many tasks of the prompt there was no time for.
    """

    candidates: list[Candidate] = field(default_factory=list)
    threshold: float = 0.0
    timings_ms: dict[str, float] = field(default_factory=dict)
    scored: tuple[str, ...] = ()
    unasked: int = 0

    @property
    def chosen(self) -> list[Candidate]:
        """Those to show, best first."""
        return [candidate for candidate in self.candidates if candidate.cut is None]


class Pipeline:
    """Ranks against whatever the index holds at that moment; may be called from several threads."""

    def __init__(
        self,
        index: Index,
        settings: Settings | None = None,
        gate: Gate | None = None,
        stages: Sequence[Stage] | None = None,
        judge: Judge | None = None,
        fired: Mapping[str, int] | None = None,
    ) -> None:
        """judge: the cross-encoder; without one that stage is left out. fired: how often an id was shown."""
        embedder = index.embedder
        self.index = index
        self.settings = settings or Settings()
        self.judge = judge
        self.fired = fired or {}
        self.gate = gate or gates.load(
            embedder.id if embedder else None, embedder.english_only if embedder else True
        )
        self.stages = list(stages) if stages is not None else self.usual_stages()

    def usual_stages(self) -> list[Stage]:
        """Words, vectors, fusion, the short list, the closer looks at it, its evidence, the gate;
        each model's stage where there is that model and the settings want it.
        """
        embedder, encoder, settings = self.index.embedder, self.index.encoder, self.settings
        stages: list[Stage] = [Words()]
        if embedder is not None:
            stages.append(Dense(embedder))
        stages += [Fuse(), Shortlist(settings.shortlist)]
        if encoder is not None and settings.late:
            stages.append(Late(encoder))
        if self.judge is not None and settings.rerank:
            stages.append(Rerank(self.judge, settings.rerank))
        return [*stages, Evidence(self.gate.background, self.gate.asks), self.gate]

    def rank(self, query: Query) -> Ranking:
        """The candidates for a question; `chosen` are those to show: at most `max_entries`, maybe none.

        Of a prompt with several tasks each candidate counts as for the one it suits best.
        """
        begun = time.perf_counter()
        snapshot = self.index.snapshot
        threshold = self.settings.threshold if self.settings.threshold is not None else self.gate.threshold
        questions = [Heard(query.text, query.text)] if query.everything else asked(query.text)
        views = [(each, form_of(each.own), _tokens(each, snapshot)) for each in questions]
        views = [view for view in views if view[2] and (query.everything or not view[1].empty)]
        if not len(snapshot) or not views:
            return Ranking([], threshold, {"words": _ms(begun)})
        allowed = _allowed(snapshot, query)
        rows = np.flatnonzero(allowed)
        timings = {"tokens": _ms(begun)}
        scenes = [Scene(query, each.text, snapshot, form, tokens, rows) for each, form, tokens in views]
        for number, scene in enumerate(scenes if len(rows) else ()):
            if number and _late(query):
                scenes = scenes[:number]
                break
            for stage in self.stages:
                begun = time.perf_counter()
                stage.run(scene)
                timings[stage.name] = timings.get(stage.name, 0.0) + _ms(begun)
        candidates = self._ordered(query, [self._found(scene, threshold) for scene in scenes])
        if not query.everything:
            candidates = self._without_displaced(snapshot, query, candidates)
        candidates = self._limited(candidates, query.exclude)
        if not query.everything:
            candidates += _outside(scenes[0], allowed)
        spoke = dict.fromkeys(name for scene in scenes for name in (*scene.legs, *scene.judged))
        return Ranking(candidates, threshold, timings, tuple(spoke), len(views) - len(scenes))

    def _found(self, scene: Scene, threshold: float) -> list[tuple[float, Candidate]]:
        """The candidates of one question in the order of the closest look, each with where it stands."""
        asked = not scene.query.everything
        found = []
        for place, (row, at) in enumerate(zip(scene.short_rows, scene.shortlist, strict=True)):
            id = scene.snapshot.ids[row]
            if id is None:
                continue
            probability = float(scene.probability[place])
            cut = None if probability >= threshold else BELOW
            scores = {name: round(float(values[place]), 4) for name, values in scene.evidence.items()}
            scores.update({name: round(float(leg[at]), 4) for name, leg in scene.legs.items()})
            entry = scene.snapshot.entries[id]
            shifts = priors(entry, scene.query.project, self.fired.get(id, 0)) if asked else {}
            stands = standing(probability, shifts if cut is None else {}) if asked else 0.0
            fused, ranks = round(float(scene.fused[at]), 4), _ranks(scene, int(at))
            found.append((stands, Candidate(id, scores, fused, round(probability, 4), cut, shifts, ranks)))
        return found

    def _ordered(self, query: Query, found: list[list[tuple[float, Candidate]]]) -> list[Candidate]:
        """Best first: what passed the gate in the order that the priors give it, then the others. Of several
        tasks each has its best one before any has a second.

        A search is sorted as the closest look has it; only priming asks how sure it is.
        """
        if query.everything:
            return [candidate for _, candidate in found[0]]
        best: dict[str, tuple[float, Candidate, int]] = {}
        for task, of_one in enumerate(found):
            for stands, candidate in of_one:
                known = best.get(candidate.id)
                if known is None or candidate.probability > known[1].probability:
                    best[candidate.id] = stands, candidate, task
        order = sorted(best.values(), key=lambda one: (one[1].cut is not None, -round(one[0], 6)))
        turns = [0] * len(found)
        ranked = []
        for _, candidate, task in order:
            ranked.append((candidate.cut is not None, turns[task], candidate))
            turns[task] += candidate.cut is None
        ranked.sort(key=lambda one: one[:2])
        return [candidate for *_, candidate in ranked]

    def _without_displaced(
        self, snapshot: Snapshot, query: Query, candidates: list[Candidate]
    ) -> list[Candidate]:
        """The same, with the global notes cut in whose place a note of the project stands."""
        passed = [candidate.id for candidate in candidates if candidate.cut is None]
        by = displaced(snapshot, passed, query.project)
        return [
            replace(c, cut=OVERRIDDEN, because=by[c.id]) if c.id in by and c.id not in query.exclude else c
            for c in candidates
        ]

    def _limited(self, candidates: list[Candidate], exclude: Set[str]) -> list[Candidate]:
        """The same, without those that were shown before and those that there is no room for."""
        found = []
        room = self.settings.max_entries
        for candidate in candidates:
            cut = candidate.cut
            if cut is None and candidate.id in exclude:
                cut = SHOWN
            if cut is None:
                cut, room = (None, room - 1) if room > 0 else (OVER, room)
            found.append(replace(candidate, cut=cut))
        return found


def _tokens(question: Heard, snapshot: Snapshot) -> list[str]:
    """The words of a question; of the names in a paste those that the library knows."""
    said, mentioned = words(question)
    return shortened(said) + [token for token in mentioned if snapshot.bm25.holders(token)]


def _late(query: Query) -> bool:
    return query.deadline is not None and time.monotonic() > query.deadline


def _allowed(snapshot: Snapshot, query: Query) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """bool[rows]: what may answer: active, readable, in scope, not overridden; a search asks everything."""
    if query.everything:
        return np.array([id is not None for id in snapshot.ids], dtype=bool)
    return snapshot.primable & snapshot.in_scope(query.project) & ~snapshot.overridden(query.project)


def _outside(scene: Scene, allowed: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[Candidate]:
    """The best by words among the entries that may not speak, each with the reason."""
    snapshot, query = scene.snapshot, scene.query
    scores = np.where(allowed, 0.0, snapshot.bm25.scores(scene.tokens))
    in_scope = snapshot.in_scope(query.project)
    found = []
    for row in best(scores, OUTSIDE):
        id = snapshot.ids[row]
        if id is None or scores[row] <= 0:
            continue
        entry = snapshot.entries[id]
        because = ""
        if not in_scope[row]:
            cut, because = SCOPE, entry.scope
        elif not entry.readable:
            cut = UNREADABLE
        elif entry.status != "active":
            cut, because = STATUS, entry.status
        else:
            cut, because = OVERRIDDEN, ", ".join(overriders(snapshot.entries, query.project, id))
        scored = {"bm25": round(float(scores[row]), 4)}
        found.append(Candidate(id, scored, 0.0, 0.0, cut, because=because))
    return found


def _ranks(scene: Scene, at: int) -> dict[str, int]:
    """The place of a row among all that may answer, or among those judged, by each stage's score."""
    columns = {**scene.legs, "fused": scene.fused, **scene.judged}
    return {name: 1 + int((of > of[at]).sum()) for name, of in columns.items() if not np.isnan(of[at])}


def _ms(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000
