"""What the gate judges a candidate by: a few numbers with a name each, shown by `ultan why`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ultan.retrieval.fields import FEATURES, Fields
from ultan.retrieval.gate import Asks
from ultan.retrieval.scene import Scene
from ultan.wire.catalog import weight_of
from ultan.wire.stopwords import COMMON
from ultan.wire.tokens import is_name, is_pair

NAMES = (
    *("words", "coverage", "named", "dense", "stands_out", "late", "late_stands_out", "late_margin"),
    *(
        "reranked",
        "rerank",
        "rerank_margin",
        "project",
        "bare",
        "asks",
        "approval",
        "chore",
        "fact",
        *FEATURES,
    ),
)
# An entry stands out by its distance to the entries of these ranks, which are near the topic but not it.
NEIGHBOURS = slice(4, 14)


class Evidence:
    """What each number says of a candidate:

    words: log(1 + BM25 with smoothed weights), so that a tiny library and a big one speak alike.
    coverage: the share of what the question says that the entry holds.
    named: 1 where the entry holds an identifier of the question.
    in_title, of_title and so on: the shares of fields.py.
    dense: the cosine; stands_out: how far it is above that of the neighbours.
    late: the mean of the question's tokens' best cosines; late_stands_out: how far it is above that of the
    neighbours among the candidates; late_margin: how far above the best of the others.
    reranked: 1 where the cross-encoder had time for the candidate; rerank, rerank_margin: its logit and how
    far that is above the best of the others; 0 where `reranked` is 0, which a gate must know of.
    project: 1 for an entry of the project. bare: 1 for one that does not say when it applies, so that less of
    it can meet a question. approval, chore, fact: the form of the prompt by its words.
    asks: the log-odds that a prompt with this vector is one that notes apply to; 0 where that is unknown.

    background: the usual cosine of neighbours, which stands in where a library is too small to have any.
    """

    name = "evidence"

    def __init__(self, background: float, asks: Asks | None = None) -> None:
        self.background = background
        self.asks = asks
        self.fields = Fields()

    def run(self, scene: Scene) -> None:
        rows = scene.short_rows
        self._words(scene, rows)
        self._dense(scene)
        self._late(scene)
        self._rerank(scene)
        projects = np.char.startswith(scene.snapshot.scopes[rows], "project:") if len(rows) else np.zeros(0)
        scene.evidence["project"] = projects.astype(np.float64)
        asking = self.asks.log_odds(scene.vector) if self.asks and scene.vector is not None else 0.0
        scene.evidence["asks"] = np.full(len(rows), asking)
        for name in ("approval", "chore", "fact"):
            scene.evidence[name] = np.full(len(rows), float(getattr(scene.form, name)))

    def _words(self, scene: Scene, rows: NDArray[np.intp]) -> None:
        bm25, tokens = scene.snapshot.bm25, scene.tokens
        held = bm25.matches(tokens, rows.tolist())
        holders = [bm25.holders(token) for token in tokens]
        weights = np.array(
            [weight_of(n, bm25.entries, t in COMMON) for t, n in zip(tokens, holders, strict=True)]
        )
        # Of the pairs of spaceless text half cross a word's border.
        halves = np.array(
            [0.5 if not n and is_pair(t) else 1.0 for t, n in zip(tokens, holders, strict=True)]
        )
        asked = float((weights * halves).sum()) or 1.0
        names = np.array([is_name(token) for token in tokens], dtype=bool)
        scene.evidence["words"] = np.log1p(weights @ held)
        scene.evidence["coverage"] = (weights @ (held > 0)) / asked
        scene.evidence["named"] = (held[names] > 0).any(axis=0).astype(np.float64)
        ids = [id for row in rows if (id := scene.snapshot.ids[row]) is not None]
        entries = [scene.snapshot.entries[id] for id in ids]
        hashes = [scene.snapshot.marks[id].text for id in ids]
        scene.evidence["bare"] = np.array(
            [not entry.applies_when.strip() for entry in entries], dtype=np.float64
        )
        worth = dict(zip(tokens, weights.tolist(), strict=True))
        scene.evidence.update(self.fields.shares(entries, hashes, worth, bm25))

    def _dense(self, scene: Scene) -> None:
        cosines = scene.legs.get("dense")
        if cosines is None:
            return
        near = -np.sort(-cosines)[NEIGHBOURS]
        missing = NEIGHBOURS.stop - NEIGHBOURS.start - len(near)
        usual = (float(near.sum()) + missing * self.background) / (len(near) + missing)
        scene.evidence["dense"] = cosines[scene.shortlist]
        scene.evidence["stands_out"] = cosines[scene.shortlist] - usual

    def _late(self, scene: Scene) -> None:
        """Who has no token vectors (yet) counts as the least of those who have."""
        judged = scene.judged.get("late")
        if judged is None:
            return
        scores = judged[scene.shortlist]
        known = scores[~np.isnan(scores)]
        scores = np.where(np.isnan(scores), known.min(), scores)
        near = -np.sort(-known)[NEIGHBOURS]
        usual = float(near.mean()) if len(near) else float(known.min())
        scene.evidence["late"] = scores
        scene.evidence["late_stands_out"] = scores - usual
        scene.evidence["late_margin"] = margins(scores)

    def _rerank(self, scene: Scene) -> None:
        judged = scene.judged.get("rerank", np.full(len(scene.rows), np.nan))
        scores = judged[scene.shortlist]
        known = ~np.isnan(scores)
        scene.evidence["reranked"] = known.astype(np.float64)
        scene.evidence["rerank"] = np.where(known, scores, 0.0)
        scene.evidence["rerank_margin"] = np.zeros(len(scores))
        scene.evidence["rerank_margin"][known] = margins(scores[known])


def margins(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[k]: how far each is above the best of the others; 0 for a single one."""
    if len(scores) < 2:
        return np.zeros(len(scores))
    second, first = np.partition(scores, -2)[-2:]
    found: NDArray[np.float64] = scores - np.where(scores == first, second, first)
    return found
