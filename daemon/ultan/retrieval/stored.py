"""The form of `.bm25.idx` and `.embeddings.idx`."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ultan.retrieval import persist
from ultan.retrieval.bm25 import BM25
from ultan.retrieval.persist import Unusable
from ultan.retrieval.snapshot import Marks, Snapshot
from ultan.wire import scripts, stems, stopwords, tokens

_WORDS = ("starts", "postings", "lengths")


@functools.cache
def tokenizer_id() -> str:
    """Changes with the tokenizer, so that words of two tokenizers never stand in one index."""
    digest = hashlib.sha256()
    for module in (tokens, stems, stopwords, scripts):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:16]


def write_words(path: str, snapshot: Snapshot) -> None:
    """Write the words of a snapshot, its rows closed up. Raises OSError."""
    bm25 = snapshot.bm25
    kept = [row for row, id in enumerate(snapshot.ids) if id is not None]
    place = np.full(len(snapshot.ids), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    held = [(token, bm25.postings[number]) for token, number in bm25.vocabulary.items()]
    held = [(token, posting) for token, posting in held if posting.shape[1]]
    joined = np.concatenate([posting for _, posting in held], axis=1) if held else np.zeros((2, 0), np.int32)
    ids = [str(snapshot.ids[row]) for row in kept]
    persist.write(
        path,
        {"tokenizer": tokenizer_id()},
        {
            "starts": np.cumsum([0] + [posting.shape[1] for _, posting in held], dtype=np.int64),
            "postings": np.stack([place[joined[0]], joined[1]]).astype(np.int32),
            "lengths": bm25.lengths[kept],
        },
        {
            "ids": ids,
            "content": [snapshot.marks[id].content for id in ids],
            "text": [snapshot.marks[id].text for id in ids],
            "tokens": [token for token, _ in held],
        },
    )


def read_words(path: str) -> Snapshot:
    """A snapshot with words, without entries, vectors or flags: a refresh gives it those. Raises Unusable."""
    arrays, texts = persist.read(path, {"tokenizer": tokenizer_id()}, _WORDS)
    try:
        return _understood(arrays["starts"], arrays["postings"], arrays["lengths"], texts)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise Unusable(f"it is damaged ({type(error).__name__})") from error


def _understood(
    starts: NDArray[np.int64],
    postings: NDArray[np.int32],
    lengths: NDArray[np.float64],
    texts: dict[str, list[str]],
) -> Snapshot:
    ids, size, words = texts["ids"], len(texts["ids"]), len(texts["tokens"])
    whole = (
        len(set(ids)) == len(texts["content"]) == len(texts["text"]) == size
        and lengths.shape == (size,)
        and starts.shape == (words + 1,)
        and postings.shape == (2, int(starts[-1]))
        and (not postings.size or (postings[0].min() >= 0 and postings[0].max() < size))
    )
    if not whole:
        raise ValueError("its parts do not fit together")
    numbers = np.repeat(np.arange(words, dtype=np.int32), np.diff(starts))
    by_row = np.argsort(postings[0], kind="stable")
    ends = np.cumsum(np.bincount(postings[0], minlength=size))
    bm25 = BM25(
        vocabulary={token: number for number, token in enumerate(texts["tokens"])},
        postings=[postings[:, starts[n] : starts[n + 1]] for n in range(words)],
        words=np.split(numbers[by_row], ends[:-1]) if size else [],
        lengths=lengths,
        taken=np.ones(size, dtype=bool),
    )
    marks = {
        id: Marks(content, text)
        for id, content, text in zip(ids, texts["content"], texts["text"], strict=True)
    }
    return Snapshot(marks=marks, ids=tuple(ids), rows={id: row for row, id in enumerate(ids)}, bm25=bm25)


def write_vectors(path: str, snapshot: Snapshot, model: str) -> None:
    """Write the vectors of a snapshot by the hashes of their texts. Raises OSError."""
    rows = {snapshot.marks[id].text: row for id, row in snapshot.rows.items() if snapshot.embedded[row]}
    vectors = snapshot.vectors[list(rows.values())]
    persist.write(
        path,
        {"model": model, "dims": int(snapshot.vectors.shape[1])},
        {"vectors": vectors},
        list(rows),
    )


def read_vectors(path: str, model: str, dims: int) -> dict[str, NDArray[np.float32]]:
    """hash of a text: its vector. Raises Unusable, also where another model made them."""
    arrays, hashes = persist.read(path, {"model": model, "dims": dims}, ("vectors",))
    vectors = arrays["vectors"]
    if not isinstance(hashes, list) or vectors.shape != (len(hashes), dims) or vectors.dtype != np.float32:
        raise Unusable("its parts do not fit together")
    return {str(hash): vectors[row] for row, hash in enumerate(hashes)}
