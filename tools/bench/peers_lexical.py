"""Searches by words that come with Python or with Ultan's packages, as peers of the bench."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ultan.library.errors import UltanError

COLUMNS = ("title", "applies_when", "tags", "body")
Entry = Mapping[str, Any]
Hits = list[tuple[str, float]]
# From a prompt's text to (id, score), best first, a higher score being better.
Answer = Callable[[str], Hits]


def fts5(entries: Sequence[Entry]) -> Answer:
    """SQLite's full-text search: any of the prompt's words, stemmed, ranked by bm25() with its defaults.

    Raises UltanError.
    """
    base = sqlite3.connect(":memory:")
    columns = ", ".join(COLUMNS)
    try:
        base.execute(f"CREATE VIRTUAL TABLE note USING fts5(id UNINDEXED, {columns}, tokenize='porter')")
    except sqlite3.OperationalError as error:
        raise UltanError(f"The SQLite of this Python has no FTS5: {error}.") from error
    rows = ((str(entry["id"]), *(text(entry, name) for name in COLUMNS)) for entry in entries)
    base.executemany("INSERT INTO note VALUES (?, ?, ?, ?, ?)", rows)

    def answer(prompt: str) -> Hits:
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(words(prompt)))
        if not asked:
            return []
        found = base.execute("SELECT id, -bm25(note) AS score FROM note(?) ORDER BY score DESC", (asked,))
        return list(found)

    return answer


def rank_bm25(entries: Sequence[Entry]) -> Answer:
    """rank_bm25.BM25Okapi with its defaults; an entry that shares no word with the prompt is no answer."""
    from rank_bm25 import BM25Okapi

    ids = [str(entry["id"]) for entry in entries]
    index = BM25Okapi([words(" ".join(text(entry, name) for name in COLUMNS)) for entry in entries])

    def answer(prompt: str) -> Hits:
        scores = index.get_scores(words(prompt))
        found = [(id, float(score)) for id, score in zip(ids, scores, strict=True) if score > 0]
        return sorted(found, key=lambda hit: -hit[1])

    return answer


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def text(entry: Entry, name: str) -> str:
    value = entry.get(name) or ""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
