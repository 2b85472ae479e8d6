"""A few entries and a model that needs no files."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
from ultan.retrieval.late import quantise
from ultan.retrieval.models import Tokens, Vector
from ultan.wire.tokens import tokenize

Write = Callable[..., Path]

FRIDAY = ("global/deploy/friday", "No deploys on Fridays", "Never start a production deploy on a Friday.")
RESPX = ("global/python/respx", "Mock HTTP with respx", "Use respx and not vcr cassettes for HTTP in tests.")
MONEY = ("projects/shop/money", "Money in minor units", "Amounts are integers in cents, never floats.")


class Bag:
    """An embedder whose vector is the sum of a fixed random vector for each word."""

    english_only = True
    dims = 48

    def __init__(self, id: str = "bag/1") -> None:
        self.id = id
        self.documents: list[str] = []
        self._guard = threading.Lock()

    def embed_query(self, text: str) -> Vector:
        total = np.full(self.dims, 1e-6)
        for token in tokenize(text):
            seed = int.from_bytes(hashlib.sha256((self.id + token).encode()).digest()[:4], "big")
            total = total + np.random.default_rng(seed).standard_normal(self.dims)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def embed_document(self, text: str) -> Vector:
        with self._guard:
            self.documents.append(text)
        return self.embed_query(text)


class Letters:
    """A token encoder: a token is a word, its vector that of Bag."""

    english_only = True

    def __init__(self, id: str = "letters/1") -> None:
        self.id = id
        self.documents: list[str] = []
        self._bag = Bag()
        self.width = self._bag.dims

    def query(self, text: str) -> Vector:
        return np.stack([self._bag.embed_query(word) for word in tokenize(text) or [""]])

    def document(self, text: str) -> Tokens:
        self.documents.append(text)
        return quantise(self.query(text))
