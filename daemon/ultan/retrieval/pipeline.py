"""From a question to the entries that apply: a list of stages, each timed, and the cuts at its end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from ultan.library.scopes import overriders
from ultan.retrieval import gate as gates
from ultan.retrieval.evidence import Evidence
from ultan.retrieval.gate import Gate
from ultan.retrieval.index import Index
from ultan.retrieval.overrides import displaced
from ultan.retrieval.priors import priors, standing
from ultan.retrieval.rerank import Judge
from ultan.retrieval.scene import Query, Scene, Stage, distinct_tokens
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
    stages that had something to say.
    """

    candidates: list[Candidate] = field(default_factory=list)
    threshold: float = 0.0
    timings_ms: dict[str, float] = field(default_factory=dict)
    scored: tuple[str, ...] = ()

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
        """The candidates for a question; `chosen` are those to show: at most `max_entries`, maybe none."""
        begun = time.perf_counter()
        snapshot = self.index.snapshot
        threshold = self.settings.threshold if self.settings.threshold is not None else self.gate.threshold
        form, tokens = form_of(query.text), distinct_tokens(query.text)
        speaks = bool(tokens) and (query.everything or not form.empty)
        if not len(snapshot) or not speaks:
            return Ranking([], threshold, {"words": _ms(begun)})
        allowed = _allowed(snapshot, query)
        scene = Scene(query, snapshot, form, tokens, np.flatnonzero(allowed))
        timings = {"tokens": _ms(begun)}
        for stage in self.stages if len(scene.rows) else ():
            begun = time.perf_counter()
            stage.run(scene)
            timings[stage.name] = _ms(begun)
        candidates = self._candidates(scene, threshold)
        if not query.everything:
            candidates += _outside(scene, allowed)
        return Ranking(candidates, threshold, timings, (*scene.legs, *scene.judged))

    def _candidates(self, scene: Scene, threshold: float) -> list[Candidate]:
        """Best first: what passed the gate in the order that the priors give it, then the others.

        A search is sorted as the closest look has it; only priming asks how sure it is.
        """
        asked = not scene.query.everything
        found: list[tuple[float, Candidate]] = []
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
        if asked:
            found.sort(key=lambda pair: (pair[1].cut is not None, -round(pair[0], 6)))
        candidates = [candidate for _, candidate in found]
        if asked:
            passed = [candidate.id for candidate in candidates if candidate.cut is None]
            by = displaced(scene.snapshot, passed, scene.query.project)
            by = {id: ours for id, ours in by.items() if id not in scene.query.exclude}
            candidates = [
                replace(c, cut=OVERRIDDEN, because=by[c.id]) if c.id in by else c for c in candidates
            ]
        return self._limited(candidates, scene.query.exclude)

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
