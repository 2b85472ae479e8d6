"""Which models the settings mean: a name is one of the hub's, whatever the backend; without one the backend
chooses.

fetch: whether a model that is not on the disk may be downloaded.
"""

from __future__ import annotations

from ultan.library.config import Models
from ultan.retrieval.embedded import EmbeddedEmbedder
from ultan.retrieval.late import EmbeddedTokens
from ultan.retrieval.models import Embedder, Reranker, TokenEncoder
from ultan.retrieval.rerank import OnDemand


def load_embedder(models: Models, fetch: bool = True) -> Embedder:
    """The embedder that the settings name. Raises ModelUnavailable."""
    if models.embedder is None and models.backend == "embedded":
        return EmbeddedEmbedder.load()
    from ultan.retrieval.hub import HubEmbedder

    return HubEmbedder.load(models.embedder, fetch=fetch)


def load_encoder(models: Models, fetch: bool = True) -> TokenEncoder:
    """The model of token vectors: the packaged one, always. Raises ModelUnavailable."""
    return EmbeddedTokens.load()


def load_reranker(models: Models, fetch: bool = True) -> Reranker:
    """The cross-encoder that the settings name, else the packaged one. Raises ModelUnavailable."""
    if models.reranker is None:
        return OnDemand()
    from ultan.retrieval.hub_rerank import HubReranker

    return HubReranker.load(models.reranker, fetch=fetch)
