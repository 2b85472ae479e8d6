"""What a model must be able to do. Everything above these two protocols is the same for all backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ultan.library.errors import UltanError

Vector = NDArray[np.float32]


class Embedder(Protocol):
    """Text to unit vectors. Methods may be called from several threads at once.

    id: names the model, its form and its weights (a hash), so that vectors of two models never mix.
    dims: length of a vector. english_only: whether another script is noise to it.
    """

    @property
    def id(self) -> str: ...
    @property
    def dims(self) -> int: ...
    @property
    def english_only(self) -> bool: ...

    def embed_query(self, text: str) -> Vector:
        """float32[dims] of length 1."""
        ...

    def embed_document(self, text: str) -> Vector:
        """float32[dims] of length 1."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """A text's token vectors in 8 bits a dimension: values int8[n, width] times scales float16[n]; n > 0."""

    values: NDArray[np.int8]
    scales: NDArray[np.float16]

    def __len__(self) -> int:
        return len(self.values)


class TokenEncoder(Protocol):
    """Text to a unit vector for each token. Methods may be called from several threads at once.

    id: names the model and all that decides its vectors. width: length of a vector. english_only: as above.
    """

    @property
    def id(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def english_only(self) -> bool: ...

    def query(self, text: str) -> Vector:
        """float32[n, width]."""
        ...

    def document(self, text: str) -> Tokens: ...


class Reranker(Protocol):
    """Judges pairs of a question and a short text. May be called from several threads at once.

    id: names the model and its weights. english_only: as above.
    """

    @property
    def id(self) -> str: ...
    @property
    def english_only(self) -> bool: ...

    def ready(self) -> None:
        """Load what is not loaded yet, so that a pair costs what pairs cost. Raises ModelUnavailable."""
        ...

    def score(self, query: str, text: str) -> float:
        """Higher is better; an unbounded logit."""
        ...


class ModelUnavailable(UltanError):
    """A model's files are missing, changed, or cannot be loaded. Fields: model, reason."""

    def __init__(self, model: str, reason: str) -> None:
        super().__init__(
            f"The model {model} cannot be used: {reason}.",
            "Notes are still found by their words.",
            "`ultan doctor` says how to install it; `[models]` in config.toml names another.",
        )
        self.model = model
        self.reason = reason
