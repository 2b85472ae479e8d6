"""Where question and entry meet: title, `applies_when`, tags and body compared with the question one by one.

Two shares a field: how much of what the question says the field holds (`in_title`), and how much of what the
field says the question holds (`of_title`). A question that says all of a title is about that entry; one that
shares a word with a long body need not be. Tokens count by their rarity in the library.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ultan.library.entry import Entry
from ultan.retrieval.bm25 import BM25
from ultan.wire.catalog import weight_of
from ultan.wire.stopwords import COMMON
from ultan.wire.tokens import tokenize

FIELDS = ("title", "applies", "tags", "body")
FEATURES = tuple(f"{side}_{field}" for side in ("in", "of") for field in FIELDS)
# The tokens of so many entries are kept, about 10 KB each: a session asks about the same ones again.
REMEMBERED = 512


class Fields:
    """Compares fields, and keeps the tokens of the entries that were compared last.

    May be called from several threads: at worst an entry is taken apart twice.
    """

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self.remembered = remembered
        self._known: OrderedDict[str, tuple[frozenset[str], ...]] = OrderedDict()

    def shares(
        self, entries: Sequence[Entry], hashes: Sequence[str], asked: Mapping[str, float], bm25: BM25
    ) -> dict[str, NDArray[np.float64]]:
        """name of FEATURES -> float64[k] from 0 to 1.

        hashes: of the words of each entry, under which they are kept. asked: the question's tokens and what
        each is worth.
        """
        total = sum(asked.values()) or 1.0
        worth = dict(asked)
        found = np.zeros((len(FEATURES), len(entries)))
        for place, (entry, key) in enumerate(zip(entries, hashes, strict=True)):
            for number, tokens in enumerate(self._tokens(entry, key)):
                shared = sum(asked[token] for token in tokens if token in asked)
                for token in tokens:
                    if token not in worth:
                        worth[token] = weight_of(bm25.holders(token), bm25.entries, token in COMMON)
                all_of_it = sum(worth[token] for token in tokens) or 1.0
                found[number, place] = shared / total
                found[len(FIELDS) + number, place] = shared / all_of_it
        return dict(zip(FEATURES, found, strict=True))

    def _tokens(self, entry: Entry, key: str) -> tuple[frozenset[str], ...]:
        known = self._known.get(key)
        if known is None:
            texts = (entry.title, entry.applies_when, " ".join(entry.tags), entry.body)
            known = self._known[key] = tuple(frozenset(tokenize(text)) for text in texts)
            while len(self._known) > self.remembered:
                try:
                    self._known.popitem(last=False)
                except KeyError:  # another thread emptied it
                    break
        return known
