"""Cross-encoders by name from the hub, run by sentence-transformers: the extra `ultan[hub]`.

The rules are those of the embedders there (hub.py), but none may bring code of its own. It is loaded with the
daemon and not when somebody searches, as the packaged one is: torch alone takes longer to import than whoever
searches waits.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any

from ultan.retrieval.embedded import shorten
from ultan.retrieval.hub import load_model, split, weights
from ultan.retrieval.models import ModelUnavailable

# Their cards say so; any other is asked about English alone.
MULTILINGUAL = frozenset({"BAAI/bge-reranker-v2-m3", "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1"})
# What a pair costs grows with its length; passages (passage.py) are shorter than this anyway.
QUERY_CHARACTERS = 256
TEXT_CHARACTERS = 768
_HEAD = "ForSequenceClassification"


class HubReranker:
    """A CrossEncoder of sentence-transformers, on a GPU where torch finds one; calls wait for each other."""

    def __init__(self, model: Any, name: str, digest: str) -> None:
        self._model = model
        self._identity = _identity()
        self._guard = threading.Lock()
        self.english_only = name not in MULTILINGUAL
        self.id = f"{name.replace('/', '--')}/{digest[:12]}"

    @classmethod
    def load(cls, name: str, make: Callable[..., Any] | None = None, fetch: bool = True) -> HubReranker:
        """A cross-encoder by its name. make, fetch: see `hub.load_model`. Raises ModelUnavailable."""
        wanted, revision = split(name)
        model = load_model("CrossEncoder", wanted, revision, {}, make=make, fetch=fetch)
        refuse(model, wanted)
        found = cls(model, wanted, weights(model, wanted))
        try:
            found.score("", "")  # the first is slow, and what cannot judge should say so now
        except Exception as error:  # whatever the model raises
            raise ModelUnavailable(
                wanted, f"it cannot judge a pair ({type(error).__name__}: {error})"
            ) from error
        return found

    def ready(self) -> None:
        """It is."""

    def score(self, query: str, text: str) -> float:
        """The model's logit, whatever function the model would put on it."""
        pair = (shorten(query, QUERY_CHARACTERS), shorten(text, TEXT_CHARACTERS))
        with self._guard:
            found = self._model.predict([pair], activation_fn=self._identity, show_progress_bar=False)
        return float(found[0])


def refuse(model: Any, name: str) -> None:
    """Raise ModelUnavailable for what loads as a cross-encoder and is none.

    A model without a trained head gets one of random numbers, and its scores say nothing.
    """
    if model.num_labels != 1:
        raise ModelUnavailable(name, f"it gives {model.num_labels} numbers a pair, a cross-encoder gives one")
    inner = model.model
    made, saved = type(inner).__name__, getattr(inner.config, "architectures", None) or []
    if made.endswith(_HEAD) and saved and not any(each.endswith(_HEAD) for each in saved):
        raise ModelUnavailable(name, f"it is no cross-encoder but a {saved[0]}, without a head that scores")


def _identity() -> Callable[[Any], Any]:
    """What leaves a logit as it is; sentence-transformers 5 takes a module of torch only."""
    try:
        found: Callable[[Any], Any] = importlib.import_module("torch").nn.Identity()
    except ImportError:  # then the model is a stand-in
        return lambda scores: scores
    return found
