"""One question on its way through the stages: what is asked, what may answer, what each stage found."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ultan.retrieval.snapshot import Snapshot
from ultan.wire.form import Form

# Of a long paste its start and its end are looked up, where its question stands.
MOST_TOKENS = 600


@dataclass(frozen=True, slots=True)
class Query:
    """A question. project: slug or None. exclude: ids not to show. now: seconds since the epoch.

    everything: ask all entries, of any scope and status, as a search does; priming asks what may be primed.
    deadline: the moment (time.monotonic) until which the cross-encoder may judge; None: it takes its time.
    rerank: how many candidates it judges, where not the settings' number. late: look at the token vectors.
    """

    text: str
    project: str | None = None
    exclude: Set[str] = frozenset()
    now: float = 0.0
    everything: bool = False
    deadline: float | None = None
    rerank: int | None = None
    late: bool = True


@dataclass(slots=True)
class Scene:
    """Filled in by the stages one after the other.

    text: what is asked, which may be a part of the query. rows: int[n], the rows that may answer. legs: name
    -> float64[n], a score each, higher is better. fused: float64[n]. vector: the question's, where it was
    embedded. shortlist: int[k], positions in `rows`, best first. judged: name -> float64[n], the scores of
    those that were looked at more closely, NaN elsewhere.
    evidence: name -> float64[k]. probability: float64[k].
    """

    query: Query
    text: str
    snapshot: Snapshot
    form: Form
    tokens: list[str]
    rows: NDArray[np.intp]
    legs: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    fused: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    shortlist: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    vector: NDArray[np.float32] | None = None
    judged: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    evidence: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    probability: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @property
    def short_rows(self) -> NDArray[np.intp]:
        return self.rows[self.shortlist]

    def reorder(self, scores: NDArray[np.float64], count: int) -> None:
        """Sort the first `count` of the short list by float64[n]; who has NaN comes after, as it was."""
        head = self.shortlist[:count]
        scores = np.nan_to_num(scores[head], nan=-np.inf)
        self.shortlist = np.concatenate([head[np.argsort(-scores, kind="stable")], self.shortlist[count:]])


class Stage(Protocol):
    """A step with a name, under which its time is told; a pipeline is a list of them."""

    @property
    def name(self) -> str: ...

    def run(self, scene: Scene) -> None: ...


def shortened(tokens: list[str]) -> list[str]:
    """Of the different tokens of a question at most MOST_TOKENS."""
    if len(tokens) > MOST_TOKENS:
        return tokens[: MOST_TOKENS // 2] + tokens[-MOST_TOKENS // 2 :]
    return tokens
