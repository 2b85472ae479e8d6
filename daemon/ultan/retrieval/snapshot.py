"""What the index holds at one moment. Never changed: a query keeps its own while the library moves on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ultan.library.entry import Entry
from ultan.library.scopes import overridden
from ultan.retrieval.bm25 import BM25
from ultan.retrieval.models import Tokens


@dataclass(frozen=True, slots=True)
class Marks:
    """What the index knows an entry by: the hash of its file and that of its words."""

    content: str
    text: str


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Rows are places in the arrays; an entry keeps its row while it lives.

    ids[row]: the id, or None for a free row. vectors: float32[rows, dims] of unit vectors, 0 where embedded
    (bool[rows]) is false. tokens[row]: its token vectors, None where there are none (yet). primable:
    bool[rows]. scopes[row]: the entry's scope.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    marks: Mapping[str, Marks] = field(default_factory=dict)
    ids: tuple[str | None, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    bm25: BM25 = field(default_factory=BM25.empty)
    vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    embedded: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    tokens: tuple[Tokens | None, ...] = ()
    primable: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    scopes: NDArray[np.str_] = field(default_factory=lambda: np.zeros(0, dtype=str))

    def __len__(self) -> int:
        return len(self.rows)

    def in_scope(self, project: str | None) -> NDArray[np.bool_]:
        """bool[rows]: which entries may speak in a project (a slug; None: in none)."""
        wanted = ["global", f"project:{project}"] if project else ["global"]
        return np.isin(self.scopes, wanted)

    def overridden(self, project: str | None) -> NDArray[np.bool_]:
        """bool[rows]: which entries another one in scope supersedes."""
        found = np.zeros(len(self.ids), dtype=bool)
        for id in overridden(self.entries, project):
            if id in self.rows:
                found[self.rows[id]] = True
        return found
