"""Embedders by name from the hub, run by sentence-transformers: the extra `ultan[hub]`.

A name is `owner/name`, `owner/name@revision` or a folder. What is on the disk already is loaded without any
attempt to reach the network. Only nomic-embed-text-v1.5 may bring code of its own, at one revision; every
other name is refused that.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ultan.retrieval.embedded import shorten
from ultan.retrieval.models import ModelUnavailable, Vector

NOMIC = "nomic-ai/nomic-embed-text-v1.5"
DEFAULT = NOMIC
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_WEIGHTS = ("*.safetensors", "*.bin", "*.onnx")
MOST_CHARACTERS = 16_000
# What loads a model changes how numbers are made in the whole process, so one is loaded at a time.
_LOADING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model wants its texts, and which part of its vectors is kept.

    dims: keep so many first values, after a layer norm over all (Matryoshka); None: all. code_revision: the
    model brings code of its own, which may run at this revision only.
    """

    query: str = ""
    document: str = ""
    dims: int | None = None
    revision: str | None = None
    code_revision: str | None = None
    english_only: bool = True


RECIPES = {
    NOMIC: Recipe(
        query="search_query: ",
        document="search_document: ",
        dims=128,
        revision="e9b6763023c676ca8431644204f50c2b100d9aab",
        code_revision="7710840340a098cfb869c4f65e87cf2b1b70caca",
    ),
    "BAAI/bge-m3": Recipe(english_only=False),
}


class HubEmbedder:
    """A sentence-transformers model on the CPU; calls wait for each other."""

    def __init__(self, model: Any, recipe: Recipe, name: str, digest: str) -> None:
        self._model = model
        self._recipe = recipe
        self._guard = threading.Lock()
        # Renamed in sentence-transformers 6.
        length = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        full = int(length())
        self.dims = min(recipe.dims, full) if recipe.dims else full
        self.english_only = recipe.english_only
        # The part before the slash names the gate's set; a hub name has a slash of its own.
        self.id = f"{name.replace('/', '--')}-{self.dims}/{digest[:12]}"

    @classmethod
    def load(
        cls,
        name: str | None = None,
        recipe: Recipe | None = None,
        make: Callable[..., Any] | None = None,
        fetch: bool = True,
    ) -> HubEmbedder:
        """A model by its name (None: nomic). make, fetch: see `load_model`. Raises ModelUnavailable."""
        wanted, revision = split(name or DEFAULT)
        known = recipe or RECIPES.get(wanted, Recipe())
        options: dict[str, Any] = {"device": "cpu"}
        if known.code_revision is not None and wanted == NOMIC:
            options["trust_remote_code"] = True
            code = {"code_revision": known.code_revision}
            options["model_kwargs"], options["config_kwargs"] = dict(code), dict(code)
        model = load_model(
            "SentenceTransformer", wanted, revision or known.revision, options, make=make, fetch=fetch
        )
        return cls(model, known, wanted, weights(model, wanted, repr(known)))

    def embed_query(self, text: str) -> Vector:
        """float32[dims] of length 1."""
        return self._embed(self._recipe.query + text)

    def embed_document(self, text: str) -> Vector:
        """float32[dims] of length 1."""
        return self._embed(self._recipe.document + text)

    def _embed(self, text: str) -> Vector:
        with self._guard:
            found = self._model.encode([shorten(text, MOST_CHARACTERS)], show_progress_bar=False)
        return reduced(np.asarray(found[0], dtype=np.float32), self._recipe.dims)


def reduced(vector: Vector, dims: int | None) -> Vector:
    """The vector at length 1; with `dims`, after a layer norm its first `dims` values (Kusupati et al. 2022,
    as nomic describes it for v1.5).
    """
    if dims is not None:
        vector = (vector - vector.mean()) / np.sqrt(vector.var() + 1e-5)
        vector = vector[:dims]
    unit: Vector = (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32)
    return unit


def split(name: str) -> tuple[str, str | None]:
    """(name, revision) of `owner/name@revision`; a folder's name is left whole."""
    bare, _, revision = name.partition("@")
    return (bare, revision) if bare and revision and not Path(name).exists() else (name, None)


def load_model(
    kind: str,
    name: str,
    revision: str | None,
    options: Mapping[str, Any],
    make: Callable[..., Any] | None = None,
    fetch: bool = True,
) -> Any:
    """A model of sentence_transformers: from the disk, else from the hub. Raises ModelUnavailable.

    kind: its class there; make: a stand-in for that. fetch: whether the hub may be asked; it never is where
    the environment says offline.
    """
    pinned = {"revision": revision} if revision is not None else {}
    reason = ""
    with _LOADING:
        maker = make or _maker(name, kind)
        for local in (True, False):
            if not local and (not fetch or any(os.environ.get(flag) for flag in _OFFLINE)):
                break
            try:
                return maker(name, local_files_only=local, **pinned, **options)
            except Exception as error:  # the libraries raise a dozen types
                reason = " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__
    raise ModelUnavailable(name, reason)


def _maker(name: str, kind: str) -> Callable[..., Any]:
    """A class of sentence_transformers, imported now, which brings torch. Raises ModelUnavailable."""
    # Else the hub is asked which agents there are, and told which of them runs this, whatever else is asked.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        found: Callable[..., Any] = getattr(importlib.import_module("sentence_transformers"), kind)
    except ImportError as error:
        raise ModelUnavailable(
            name, f"{error.name or 'sentence-transformers'} is not installed (the extra `hub` brings it)"
        ) from error
    return found


def weights(model: Any, name: str, form: str = "") -> str:
    """A hash of the weights: of their files where they lie in a folder, else of the loaded numbers.

    form: what else decides the numbers that come out.
    """
    digest = hashlib.sha256(form.encode())
    folder = Path(name)
    files = sorted(path for pattern in _WEIGHTS for path in folder.rglob(pattern)) if folder.is_dir() else []
    for path in files:
        with path.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    if not files:
        for key, value in sorted(model.state_dict().items()):
            digest.update(key.encode())
            digest.update(np.ascontiguousarray(value.detach().float().cpu().numpy()).tobytes())
    return digest.hexdigest()
