"""Late interaction: an entry keeps a vector for each of its tokens, a question is compared with all of them.

The score is MaxSim (Khattab and Zaharia, 2020, "ColBERT"): for each token of the question its best cosine
among the entry's tokens, and the mean of these over the question's tokens, so that long and short questions
speak alike. The packaged file is the backbone of answerai-colbert-small-v1 without its projection; the first
128 of its dimensions serve almost as well as all 384, by measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultan.retrieval.embedded import (
    CHARACTERS_PER_TOKEN,
    SLOW_FUSIONS,
    ends,
    find_folder,
    open_model,
    run,
    shorten,
)
from ultan.retrieval.models import Tokens

FOLDER = "models/data/colbert"
MODEL = "answerai-colbert-small-v1-int8"
SHA256 = {
    "model.onnx": "4980983628c18e4f0a4c756114abd2d7c097c6ccad9cffc70e77302d21e05df0",
    "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
}
WIDTH = 128
DOCUMENT_TOKENS = 256
# Of a long prompt its start and its end, as the embedder has it.
QUERY_TOKENS = 96
LARGEST = 127


class EmbeddedTokens:
    """Token vectors on the CPU; one session with one thread, so that two callers use two cores."""

    english_only = True
    width = WIDTH

    def __init__(self, session: Any, tokenizer: Any, digest: str) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._silent = silent(tokenizer)
        self.id = f"{MODEL}/{digest[:12]}/{WIDTH}x{DOCUMENT_TOKENS}"

    @classmethod
    def load(cls, folder: Path | None = None) -> EmbeddedTokens:
        """Check the files' hashes and load them (about 0.3 s). Raises ModelUnavailable."""
        session, tokenizer = open_model(folder or find_folder(FOLDER, MODEL), SHA256, MODEL, SLOW_FUSIONS)
        return cls(session, tokenizer, SHA256["model.onnx"])

    def query(self, text: str) -> NDArray[np.float32]:
        """float32[n, width], n at most QUERY_TOKENS: unit vectors of all tokens."""
        ids = self._tokenizer.encode(shorten(text, QUERY_TOKENS * CHARACTERS_PER_TOKEN)).ids
        return self._vectors(ends(ids, QUERY_TOKENS))

    def document(self, text: str) -> Tokens:
        """The tokens of a text's start, without signs such as commas, which no question asks for."""
        ids = self._tokenizer.encode(shorten(text, 2 * DOCUMENT_TOKENS * CHARACTERS_PER_TOKEN)).ids
        ids = [*ids[: DOCUMENT_TOKENS - 1], ids[-1]] if len(ids) > DOCUMENT_TOKENS else ids
        kept = [place for place, id in enumerate(ids) if id not in self._silent] or [0]
        return quantise(self._vectors(ids)[kept])

    def _vectors(self, ids: list[int]) -> NDArray[np.float32]:
        hidden = np.asarray(run(self._session, ids)[0][:, :WIDTH], dtype=np.float32)
        found: NDArray[np.float32] = hidden / np.maximum(np.linalg.norm(hidden, axis=1, keepdims=True), 1e-12)
        return found


def silent(tokenizer: Any) -> frozenset[int]:
    """Ids of the tokens that are signs only."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    return frozenset(
        id for token, id in vocabulary.items() if not any(char.isalnum() for char in token.removeprefix("##"))
    )


def quantise(vectors: NDArray[np.float32]) -> Tokens:
    """float32[n, width] in 8 bits a dimension; scaled so that each has length 1 again (or 0)."""
    longest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-12)
    values = np.rint(vectors * (LARGEST / longest)).astype(np.int8)
    lengths = np.linalg.norm(values.astype(np.float32), axis=1)
    return Tokens(values, (1.0 / np.maximum(lengths, 1.0)).astype(np.float16))


def maxsim(query: NDArray[np.float32], documents: Sequence[Tokens]) -> NDArray[np.float64]:
    """float64[k]: the mean over the question's tokens of the best cosine among each document's tokens.

    query: float32[n, width] of unit vectors. Every document has at least one token.
    """
    if not documents or not len(query):
        return np.zeros(len(documents))
    starts = np.cumsum([0] + [len(tokens) for tokens in documents[:-1]])
    values = np.concatenate([tokens.values for tokens in documents]).astype(np.float32)
    scales = np.concatenate([tokens.scales for tokens in documents]).astype(np.float32)
    cosines = (values @ query.T) * scales[:, None]
    best = np.maximum.reduceat(cosines, starts, axis=0)
    found: NDArray[np.float64] = best.mean(axis=1, dtype=np.float64)
    return found
