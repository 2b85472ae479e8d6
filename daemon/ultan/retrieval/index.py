"""The library's index: its words and vectors, kept up to date with as little work as the change needs.

`.bm25.idx`, `.embeddings.idx` and `.tokens.idx` are derived: whatever is wrong with them, the index is
rebuilt from the entries. Vectors are kept by the hash of the text they stand for, so a renamed entry keeps
its vectors and a vector never stands for another text or comes from another model.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ultan.library.entry import Entry
from ultan.retrieval import stored
from ultan.retrieval.models import Embedder, TokenEncoder, Tokens, Vector
from ultan.retrieval.persist import Unusable
from ultan.retrieval.snapshot import Marks, Snapshot
from ultan.retrieval.text import embedded_text, has_text, text_hash, word_counts
from ultan.retrieval.tokenstore import TokenStore
from ultan.wire.home import Home

Progress = Callable[[int, int], None]

# Two callers of a session with one thread each embed faster than one caller of a session with two.
WORKERS = min(2, os.cpu_count() or 1)
# While a whole library is embedded, what is done so far is put to use this often.
PUBLISH_EVERY = 256
AT_A_TIME = 16


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did: numbers of entries, wall seconds, and what should be written to the log."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    embedded: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed or self.embedded)


class Index:
    """Safe between threads: `snapshot` is replaced whole; refresh and save wait for each other."""

    def __init__(self, home: Home, embedder: Embedder | None, encoder: TokenEncoder | None = None) -> None:
        """Without `embedder` there are no vectors, without `encoder` no token vectors."""
        self.home = home
        self.embedder = embedder
        self.encoder = encoder
        self.snapshot = Snapshot()
        self._guard = threading.Lock()
        self._notes: list[str] = []
        self._words: Snapshot | None = None
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._unsaved_words = False
        self._unsaved_vectors = False
        self._tokens: dict[str, Tokens] = {}
        self._store = (
            TokenStore(home.tokens_index, encoder.id, encoder.width) if encoder is not None else None
        )
        self._unsaved_tokens = False
        self._load()

    @property
    def pending(self) -> int:
        """How many entries have no vector yet, or no token vectors; 0 without a model."""
        snapshot = self.snapshot
        if not self._models or not len(snapshot):
            return 0
        return sum(self._lacks(snapshot, row) for row in snapshot.rows.values())

    @property
    def _models(self) -> bool:
        return self.embedder is not None or self.encoder is not None

    def _lacks(self, snapshot: Snapshot, row: int) -> bool:
        return (self.embedder is not None and not snapshot.embedded[row]) or (
            self.encoder is not None and snapshot.tokens[row] is None
        )

    def refresh(
        self, entries: Mapping[str, Entry], progress: Progress | None = None, embed: bool = True
    ) -> Refreshed:
        """Follow the library. The new words can be found before the first vector is made; embed=False leaves
        the vectors to a later call.

        progress(done, total) is called while entries are embedded; what it raises ends the refresh, and what
        was embedded so far is kept. A model that fails leaves its entries to their words, with a note.
        """
        with self._guard:
            begun = time.perf_counter()
            done = self._follow(entries)
            embedded = self._embed(progress) if embed else 0
            self._words, self._vectors, self._tokens = None, {}, {}
            notes, self._notes = tuple(self._notes), []
            seconds = time.perf_counter() - begun
            return replace(done, embedded=embedded, seconds=seconds, notes=notes)

    def save(self) -> bool:
        """Write what changed since the last time; whether anything was. Raises OSError."""
        with self._guard:
            snapshot, words, vectors = self.snapshot, self._unsaved_words, self._unsaved_vectors
            if words:
                stored.write_words(self.home.bm25_index, snapshot)
                self._unsaved_words = False
            if vectors and self.embedder is not None:
                stored.write_vectors(self.home.embeddings_index, snapshot, self.embedder.id)
                self._unsaved_vectors = False
            tokens = self._unsaved_tokens and self._store is not None
            if tokens and self._store is not None:
                self._store.write(_by_text(snapshot))
                self._unsaved_tokens = False
            return words or vectors or tokens

    def _load(self) -> None:
        try:
            self._words = stored.read_words(self.home.bm25_index)
        except Unusable as error:
            self._unsaved_words = True
            self._note("The word index", self.home.bm25_index, error)
        if self._store is not None:
            self._tokens, wrong = self._store.read()
            for path, reason in wrong:
                self._unsaved_tokens = True
                self._note("The token index", path, reason)
        if self.embedder is None:
            return
        try:
            self._vectors = stored.read_vectors(
                self.home.embeddings_index, self.embedder.id, self.embedder.dims
            )
        except Unusable as error:
            self._unsaved_vectors = True
            self._note("The vector index", self.home.embeddings_index, error)

    def _note(self, what: str, path: str, error: Unusable) -> None:
        self._notes.append(f"{what} {os.path.basename(path)} is rebuilt: {error}")

    def _follow(self, entries: Mapping[str, Entry]) -> Refreshed:
        """Bring the words up to date and publish them; vectors of unchanged texts stay."""
        old = self._words or self.snapshot
        if old.entries is entries:
            return Refreshed()
        marks = {id: self._marks(entry, old.marks.get(id)) for id, entry in entries.items()}
        gone = [id for id in old.rows if id not in entries]
        new = [id for id in entries if id not in old.rows]
        edited = [id for id in entries if id in old.rows and marks[id].text != old.marks[id].text]
        moved = [id for id in entries if id in old.rows and marks[id] != old.marks[id]]
        ids = list(old.ids)
        for id in gone:
            ids[old.rows[id]] = None
        free = [row for row, id in enumerate(ids) if id is None][::-1]
        for id in new:
            if free:
                ids[free.pop()] = id
            else:
                ids.append(id)
        rows = {id: row for row, id in enumerate(ids) if id is not None}
        counts: dict[int, dict[str, int] | None] = {old.rows[id]: None for id in gone}
        counts.update({rows[id]: word_counts(entries[id]) for id in [*new, *edited]})
        vectors, embedded = self._carried(old, marks, rows, len(ids))
        self.snapshot = Snapshot(
            entries=entries,
            marks=marks,
            ids=tuple(ids),
            rows=rows,
            bm25=old.bm25.changed(counts) if counts else old.bm25,
            vectors=vectors,
            embedded=embedded,
            tokens=self._kept(old, marks, rows, len(ids)),
            primable=np.array([id is not None and entries[id].primable for id in ids], dtype=bool),
            scopes=np.array([entries[id].scope if id is not None else "" for id in ids], dtype=str),
        )
        if new or gone or moved:
            self._unsaved_words = True
        if gone:
            self._unsaved_vectors = self._unsaved_tokens = True
        return Refreshed(len(new), len(moved), len(gone))

    def _marks(self, entry: Entry, before: Marks | None) -> Marks:
        if before is not None and before.content == entry.content_hash:
            return before
        return Marks(entry.content_hash, text_hash(entry))

    def _carried(
        self, old: Snapshot, marks: Mapping[str, Marks], rows: Mapping[str, int], size: int
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """(vectors, embedded) with every vector whose text is still there in its row."""
        dims = self.embedder.dims if self.embedder is not None else 0
        vectors, embedded = np.zeros((size, dims), dtype=np.float32), np.zeros(size, dtype=bool)
        if not dims:
            return vectors, embedded
        known = dict(self._vectors)
        for id, row in old.rows.items():
            if row < len(old.embedded) and old.embedded[row]:
                known[old.marks[id].text] = old.vectors[row]
        for id, row in rows.items():
            vector = known.get(marks[id].text)
            if vector is not None:
                vectors[row], embedded[row] = vector, True
        return vectors, embedded

    def _kept(
        self, old: Snapshot, marks: Mapping[str, Marks], rows: Mapping[str, int], size: int
    ) -> tuple[Tokens | None, ...]:
        """The token vectors of every row whose text is still there."""
        found: list[Tokens | None] = [None] * size
        if self.encoder is not None:
            known = {**self._tokens, **_by_text(old)}
            for id, row in rows.items():
                found[row] = known.get(marks[id].text)
        return tuple(found)

    def _embed(self, progress: Progress | None) -> int:
        """Make the missing vectors and publish them; how many entries got theirs."""
        snapshot = self.snapshot
        if not self._models:
            return 0
        waiting = [
            (id, row)
            for id, row in snapshot.rows.items()
            if self._lacks(snapshot, row) and has_text(snapshot.entries[id])
        ]
        done = 0
        vectors, embedded, tokens = snapshot.vectors.copy(), snapshot.embedded.copy(), list(snapshot.tokens)
        pool = ThreadPoolExecutor(WORKERS if len(waiting) > 1 else 1, "embed")
        try:
            # A few at a time, so that a caller who has enough need not wait for what nobody asked for yet.
            for start in range(0, len(waiting), AT_A_TIME):
                part = waiting[start : start + AT_A_TIME]
                made = pool.map(lambda place: self._make(snapshot, *place), part)
                for (_, row), (vector, found) in zip(part, made, strict=True):
                    if vector is not None:
                        vectors[row], embedded[row] = vector, True
                        self._unsaved_vectors = True
                    if found is not None:
                        tokens[row] = found
                        self._unsaved_tokens = True
                    done += 1
                    if progress is not None:
                        progress(done, len(waiting))
                    if done % PUBLISH_EVERY == 0:
                        self.snapshot = replace(
                            snapshot, vectors=vectors.copy(), embedded=embedded.copy(), tokens=tuple(tokens)
                        )
        except (RuntimeError, ValueError, OSError, MemoryError) as error:
            self._notes.append(f"Embedding stopped after {done} of {len(waiting)} entries: {error}")
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            if done:
                self.snapshot = replace(snapshot, vectors=vectors, embedded=embedded, tokens=tuple(tokens))
        return done

    def _make(self, snapshot: Snapshot, id: str, row: int) -> tuple[Vector | None, Tokens | None]:
        """What an entry lacks: its vector, its token vectors."""
        text = embedded_text(snapshot.entries[id])
        vector = tokens = None
        if self.embedder is not None and not snapshot.embedded[row]:
            vector = self.embedder.embed_document(text)
        if self.encoder is not None and snapshot.tokens[row] is None:
            tokens = self.encoder.document(text)
        return vector, tokens


def _by_text(snapshot: Snapshot) -> dict[str, Tokens]:
    """hash of a text: its token vectors."""
    held = zip(snapshot.ids, snapshot.tokens, strict=False)
    return {snapshot.marks[id].text: tokens for id, tokens in held if id is not None and tokens is not None}
