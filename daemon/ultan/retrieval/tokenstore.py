"""The token vectors on the disk: `.tokens.idx`, and beside it a small file of what came since it was written.

A library's token vectors are most of its index (64 MB for 5,000 short entries), and one changed entry should
not write all of them anew. Both files keep vectors by the hash of the text that they stand for, as
`.embeddings.idx` does, and may be lost or damaged each for itself: what is missing is encoded again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ultan.retrieval import persist
from ultan.retrieval.models import Tokens
from ultan.retrieval.persist import Unusable

# The big file is written anew when this share of it, or more than a few entries, came or went.
STALE_SHARE = 8
STALE_ENTRIES = 64


class TokenStore:
    """Reads and writes the two files of one model. path: the big one; the other one ends in `.new`."""

    def __init__(self, path: str, model: str, width: int) -> None:
        self.path = path
        self.recent = path + ".new"
        self.model = model
        self.width = width
        self._settled: frozenset[str] = frozenset()

    def read(self) -> tuple[dict[str, Tokens], list[tuple[str, Unusable]]]:
        """(hash of a text: its vectors, the files that gave nothing and why)."""
        found: dict[str, Tokens] = {}
        wrong: list[tuple[str, Unusable]] = []
        for path in (self.path, self.recent):
            if path == self.recent and not os.path.lexists(path):
                continue
            try:
                found.update(self._read(path))
            except Unusable as error:
                wrong.append((path, error))
            if path == self.path:
                self._settled = frozenset(found)
        return found, wrong

    def write(self, held: Mapping[str, Tokens]) -> None:
        """Make the files hold exactly these, or at little cost these and a few of before. Raises OSError."""
        added = {hash: tokens for hash, tokens in held.items() if hash not in self._settled}
        gone = sum(hash not in held for hash in self._settled)
        if self._settled and len(added) + gone <= max(STALE_ENTRIES, len(self._settled) // STALE_SHARE):
            self._write(self.recent, added)
            return
        self._write(self.path, held)
        self._settled = frozenset(held)
        if os.path.lexists(self.recent):
            os.unlink(self.recent)

    def _write(self, path: str, held: Mapping[str, Tokens]) -> None:
        values = [tokens.values for tokens in held.values()]
        scales = [tokens.scales for tokens in held.values()]
        persist.write(
            path,
            {"model": self.model, "width": self.width},
            {
                "starts": np.cumsum([0] + [len(rows) for rows in values], dtype=np.int64),
                "values": np.concatenate(values) if values else np.zeros((0, self.width), np.int8),
                "scales": np.concatenate(scales) if scales else np.zeros(0, np.float16),
            },
            list(held),
        )

    def _read(self, path: str) -> dict[str, Tokens]:
        stamp = {"model": self.model, "width": self.width}
        arrays, hashes = persist.read(path, stamp, ("starts", "values", "scales"))
        starts, values, scales = arrays["starts"], arrays["values"], arrays["scales"]
        if not (isinstance(hashes, list) and self._fits(len(hashes), starts, values, scales)):
            raise Unusable("its parts do not fit together")
        edges = starts.tolist()
        return {
            str(hash): Tokens(values[first:stop], scales[first:stop])
            for hash, first, stop in zip(hashes, edges, edges[1:], strict=False)
        }

    def _fits(
        self, size: int, starts: NDArray[np.int64], values: NDArray[np.int8], scales: NDArray[np.float16]
    ) -> bool:
        return bool(
            starts.shape == (size + 1,)
            and starts.dtype == np.int64
            and starts[0] == 0
            and (np.diff(starts) > 0).all()
            and values.shape == (starts[-1], self.width)
            and values.dtype == np.int8
            and scales.shape == (starts[-1],)
            and scales.dtype == np.float16
        )
