"""The stages that find: by words, by vectors, both together, and the short list that the later ones judge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ultan.retrieval.fusion import DENSE_SHARE, weighted_sum
from ultan.retrieval.language import FOREIGN_SHARE, foreign_share
from ultan.retrieval.models import Embedder
from ultan.retrieval.scene import Scene

SHORTLIST = 10
BEST_OF_A_LEG = 3
# A search is for reading on, so its list is so many times longer.
SEARCHES = 5


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
        if self.embedder.english_only and foreign_share(scene.query.text) > FOREIGN_SHARE:
            return
        vector = self.embedder.embed_query(scene.query.text)
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


def best(scores: NDArray[np.float64], size: int) -> NDArray[np.intp]:
    """Places of the `size` highest scores, highest first, ties by place."""
    if len(scores) > 4 * size:
        edge = np.partition(scores, -size)[-size]
        places = np.flatnonzero(scores >= edge)
    else:
        places = np.arange(len(scores))
    found: NDArray[np.intp] = places[np.argsort(-scores[places], kind="stable")][:size]
    return found
