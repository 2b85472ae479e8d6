"""The stages that find, by words and by vectors, and those that look closer at the short list."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ultan.retrieval.fusion import DENSE_SHARE, weighted_sum
from ultan.retrieval.language import FOREIGN_SHARE, foreign_share
from ultan.retrieval.late import maxsim
from ultan.retrieval.models import Embedder, TokenEncoder
from ultan.retrieval.passage import passage
from ultan.retrieval.rerank import Judge
from ultan.retrieval.scene import Scene
from ultan.wire.catalog import weight_of
from ultan.wire.stopwords import COMMON

# On tests/evals/priming 30 hold .92 of the entries that must be shown, 10 only .77.
SHORTLIST = 30
BEST_OF_A_LEG = 3
# A search is for reading on, so its list is so many times longer.
SEARCHES = 2
LATE_CANDIDATES = 30
RERANK_CANDIDATES = 10
SEARCH_RERANKS = 3
# The judge's logit and so many times the MaxSim make the order: on conversations (LoCoMo) recall at 5 of
# 30 candidates is .699 by the logit alone, .710 with 50 times, flat between 30 and 70.
LATE_SHARE = 50.0


class Words:
    """BM25."""

    name = "bm25"

    def run(self, scene: Scene) -> None:
        scene.legs[self.name] = scene.snapshot.bm25.scores(scene.tokens)[scene.rows]


class Dense:
    """Cosine of the question's vector and the entries'; left out where the model does not know the script.

    An entry without a vector (yet) has the lowest cosine of all.
    """

    name = "dense"

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def run(self, scene: Scene) -> None:
        snapshot, rows = scene.snapshot, scene.rows
        embedded = snapshot.embedded[rows]
        if not embedded.any():
            return
        if is_foreign(scene.text, self.embedder.english_only):
            return
        vector = scene.vector = self.embedder.embed_query(scene.text)
        cosines = (snapshot.vectors @ vector)[rows].astype(np.float64)
        cosines[~embedded] = cosines[embedded].min()
        scene.legs[self.name] = cosines


class Fuse:
    """The weighted sum of the legs' scores."""

    name = "fusion"

    def __init__(self, dense_share: float = DENSE_SHARE) -> None:
        self.weights = {"dense": dense_share, "bm25": 1.0 - dense_share}

    def run(self, scene: Scene) -> None:
        legs = [name for name in self.weights if name in scene.legs]
        scene.fused = weighted_sum([scene.legs[name] for name in legs], [self.weights[name] for name in legs])


class Shortlist:
    """The best by fusion and the very best of each leg; where no vector speaks, only what shares a word."""

    name = "shortlist"

    def __init__(self, size: int = SHORTLIST) -> None:
        self.size = size

    def run(self, scene: Scene) -> None:
        size = self.size * SEARCHES if scene.query.everything else self.size
        chosen = set(best(scene.fused, size).tolist())
        for scores in scene.legs.values():
            chosen |= set(best(scores, BEST_OF_A_LEG).tolist())
        if "dense" not in scene.legs:
            words = scene.legs.get("bm25", np.zeros(len(scene.rows)))
            chosen = {place for place in chosen if words[place] > 0}
        order = sorted(chosen, key=lambda place: (-scene.fused[place], place))
        scene.shortlist = np.array(order, dtype=np.intp)


class Late:
    """MaxSim on the token vectors of the first of the short list, which is sorted by it."""

    name = "late"

    def __init__(self, encoder: TokenEncoder, candidates: int = LATE_CANDIDATES) -> None:
        self.encoder = encoder
        self.candidates = candidates

    def run(self, scene: Scene) -> None:
        tokens, rows = scene.snapshot.tokens, scene.rows
        places = [n for n in scene.shortlist[: self.candidates].tolist() if tokens[rows[n]] is not None]
        if not scene.query.late or not places or is_foreign(scene.text, self.encoder.english_only):
            return
        question = self.encoder.query(scene.text)
        scores = np.full(len(rows), np.nan)
        scores[places] = maxsim(question, [held for n in places if (held := tokens[rows[n]]) is not None])
        scene.judged[self.name] = scores
        scene.reorder(scores, self.candidates)


# One or two words are looked up, not read.
FEWEST_WORDS = 3


class Rerank:
    """The cross-encoder on as many of the short list as it has time for; those are sorted by it and MaxSim.

    A search, for which people wait longer, has more of them judged.
    """

    name = "rerank"

    def __init__(self, judge: Judge, candidates: int = RERANK_CANDIDATES) -> None:
        self.judge = judge
        self.candidates = candidates

    def run(self, scene: Scene) -> None:
        query = scene.query
        if len(scene.text.split()) < FEWEST_WORDS:
            return
        usual = self.candidates * (SEARCH_RERANKS if query.everything else 1)
        count = usual if query.rerank is None else query.rerank
        places = scene.shortlist[:count]
        if not len(places) or is_foreign(scene.text, self.judge.reranker.english_only):
            return
        bm25, snapshot = scene.snapshot.bm25, scene.snapshot
        weights = {
            token: weight_of(bm25.holders(token), bm25.entries, token in COMMON) for token in scene.tokens
        }
        ids = [snapshot.ids[row] for row in scene.rows[places]]
        texts = (passage(snapshot.entries[id], weights) for id in ids if id is not None)
        found = self.judge.scores(scene.text, texts, query.deadline)
        scores = np.full(len(scene.rows), np.nan)
        for place, score in found.items():
            scores[places[place]] = score
        if found:
            scene.judged[self.name] = scores
            scene.reorder(scores + LATE_SHARE * known(scene.judged.get("late"), places), count)


def known(scores: NDArray[np.float64] | None, places: NDArray[np.intp]) -> NDArray[np.float64]:
    """Scores with the least among those places for the unknown ones; 0 where nothing is known."""
    if scores is None or np.isnan(scores[places]).all():
        return np.zeros(1)
    return np.where(np.isnan(scores), np.nanmin(scores[places]), scores)


def is_foreign(text: str, english_only: bool) -> bool:
    """Whether a model has nothing to say about a text in this script."""
    return english_only and foreign_share(text) > FOREIGN_SHARE


def best(scores: NDArray[np.float64], size: int) -> NDArray[np.intp]:
    """Places of the `size` highest scores, highest first, ties by place."""
    if len(scores) > 4 * size:
        edge = np.partition(scores, -size)[-size]
        places = np.flatnonzero(scores >= edge)
    else:
        places = np.arange(len(scores))
    found: NDArray[np.intp] = places[np.argsort(-scores[places], kind="stable")][:size]
    return found
