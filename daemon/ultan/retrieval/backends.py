"""Which models the settings mean."""

from __future__ import annotations

from ultan.library.config import Models
from ultan.retrieval.embedded import EmbeddedEmbedder
from ultan.retrieval.models import Embedder


def load_embedder(models: Models) -> Embedder:
    """The embedder that the settings name. Raises ModelUnavailable."""
    if models.backend == "embedded":
        return EmbeddedEmbedder.load()
    from ultan.retrieval.hub import HubEmbedder

    return HubEmbedder.load(models.embedder)
