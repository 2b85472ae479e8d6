"""Which models the settings mean."""

from __future__ import annotations

from ultan.library.config import Models
from ultan.retrieval.embedded import EmbeddedEmbedder
from ultan.retrieval.late import EmbeddedTokens
from ultan.retrieval.models import Embedder, Reranker, TokenEncoder
from ultan.retrieval.rerank import OnDemand


def load_embedder(models: Models) -> Embedder:
    """The embedder that the settings name. Raises ModelUnavailable."""
    if models.backend == "embedded":
        return EmbeddedEmbedder.load()
    from ultan.retrieval.hub import HubEmbedder

    return HubEmbedder.load(models.embedder)


def load_encoder(models: Models) -> TokenEncoder:
    """The model of token vectors: the packaged one with either backend. Raises ModelUnavailable."""
    return EmbeddedTokens.load()


def load_reranker(models: Models) -> Reranker:
    """The cross-encoder that the settings name. Raises ModelUnavailable."""
    return OnDemand()
