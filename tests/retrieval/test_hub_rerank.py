"""Cross-encoders of the hub, with a stand-in and, where it is installed, with a tiny real one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from ultan.library.config import Models
from ultan.retrieval import backends, hub
from ultan.retrieval.hub import NOMIC, HubEmbedder, split
from ultan.retrieval.hub_rerank import QUERY_CHARACTERS, TEXT_CHARACTERS, HubReranker
from ultan.retrieval.models import ModelUnavailable
from ultan.retrieval.rerank import Judge, OnDemand

WORDS = "never deploy on a friday use uv not pip money is cents what about the dog".split()
PAIR = ("what about the dog", "never deploy on a friday")


class Number:
    """What of a tensor is asked for."""

    def __init__(self, value: float) -> None:
        self.value = value

    def detach(self) -> Number:
        return self

    float = cpu = detach

    def numpy(self) -> np.ndarray:
        return np.array([self.value])


class BertForSequenceClassification:
    """What a cross-encoder's inner model is called; `architectures` is what was saved."""

    def __init__(self, *saved: str) -> None:
        self.config = SimpleNamespace(architectures=list(saved) or [type(self).__name__])


class StandIn:
    """A cross-encoder that remembers how it was made and what it was given."""

    made: ClassVar[list[tuple[str, dict[str, Any]]]] = []
    cached = True
    num_labels = 1
    weight = 1.0
    model = BertForSequenceClassification()

    def __init__(self, name: str, local_files_only: bool, **options: Any) -> None:
        type(self).made.append((name, {"local_files_only": local_files_only, **options}))
        if local_files_only and not self.cached:
            raise OSError("not in the cache.")
        self.given: list[tuple[str, str]] = []

    def predict(
        self, pairs: list[tuple[str, str]], activation_fn: Any, show_progress_bar: bool
    ) -> np.ndarray:
        assert not show_progress_bar
        self.given += pairs
        return np.array([activation_fn(len(text) - 20.0) for _, text in pairs], dtype=np.float32)

    def state_dict(self) -> dict[str, Number]:
        return {"weight": Number(self.weight)}


@pytest.fixture
def stand_in() -> type[StandIn]:
    class Fresh(StandIn):
        made: ClassVar[list[tuple[str, dict[str, Any]]]] = []

    return Fresh


def test_what_is_on_the_disk_is_loaded_without_asking_the_network(stand_in: type[StandIn]) -> None:
    HubReranker.load("someone/judge", make=stand_in)
    assert stand_in.made == [("someone/judge", {"local_files_only": True})]


def test_what_is_not_on_the_disk_is_fetched_unless_offline_or_only_looked_at(
    stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.cached = False
    HubReranker.load("someone/judge", make=stand_in)
    assert [options["local_files_only"] for _, options in stand_in.made] == [True, False]
    stand_in.made.clear()
    with pytest.raises(ModelUnavailable, match="not in the cache"):
        HubReranker.load("someone/judge", make=stand_in, fetch=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailable, match="not in the cache"):
        HubReranker.load("someone/judge", make=stand_in)
    assert [options["local_files_only"] for _, options in stand_in.made] == [True, True]


@pytest.mark.parametrize("name", ["someone/judge", NOMIC, "BAAI/bge-reranker-v2-m3"])
def test_no_cross_encoder_may_bring_code_of_its_own(stand_in: type[StandIn], name: str) -> None:
    HubReranker.load(name, make=stand_in)
    assert all("trust_remote_code" not in options for _, options in stand_in.made)


def test_a_name_may_pin_its_revision(stand_in: type[StandIn], tmp_path: Path) -> None:
    model = HubReranker.load("someone/judge@0123abc", make=stand_in)
    assert stand_in.made == [("someone/judge", {"local_files_only": True, "revision": "0123abc"})]
    assert model.id == HubReranker.load("someone/judge", make=stand_in).id
    folder = tmp_path / "judge@home"
    folder.mkdir()
    assert split(str(folder)) == (str(folder), None)


def test_the_id_names_the_model_and_its_weights(stand_in: type[StandIn]) -> None:
    class Trained(stand_in):  # type: ignore[misc, valid-type]  # a class made by a fixture
        weight = 2.0

    ids = [
        HubReranker.load("someone/judge", make=stand_in).id,
        HubReranker.load("someone/other", make=stand_in).id,
        HubReranker.load("someone/judge", make=Trained).id,
    ]
    assert len(set(ids)) == 3
    assert [id.partition("/")[0] for id in ids] == ["someone--judge", "someone--other", "someone--judge"]


def test_the_logit_is_taken_and_long_texts_are_shortened(stand_in: type[StandIn]) -> None:
    model = HubReranker.load("someone/judge", make=stand_in)
    assert model.score("q", "t") == -19.0
    model.score("q" * 10_000, "t" * 10_000)
    query, text = model._model.given[-1]
    assert len(query) <= QUERY_CHARACTERS + 1
    assert len(text) <= TEXT_CHARACTERS + 1


def test_only_models_that_say_so_are_asked_about_other_scripts(stand_in: type[StandIn]) -> None:
    assert HubReranker.load("someone/judge", make=stand_in).english_only
    assert not HubReranker.load("BAAI/bge-reranker-v2-m3", make=stand_in).english_only


def test_a_model_that_cannot_judge_says_so_when_it_is_loaded(stand_in: type[StandIn]) -> None:
    class Broken(stand_in):  # type: ignore[misc, valid-type]  # a class made by a fixture
        def predict(self, *arguments: Any, **options: Any) -> np.ndarray:
            raise TypeError("no such layer")

    with pytest.raises(ModelUnavailable, match=r"cannot judge a pair .*no such layer"):
        HubReranker.load("someone/judge", make=Broken)


def test_a_classifier_of_several_labels_is_refused(stand_in: type[StandIn]) -> None:
    stand_in.num_labels = 3
    with pytest.raises(ModelUnavailable, match="3 numbers a pair"):
        HubReranker.load("someone/entailment", make=stand_in)


def test_a_model_whose_head_would_be_random_is_refused(stand_in: type[StandIn]) -> None:
    stand_in.model = BertForSequenceClassification("BertModel")
    with pytest.raises(ModelUnavailable, match="no cross-encoder but a BertModel"):
        HubReranker.load("someone/embedder", make=stand_in)


def test_the_packaged_models_rank_where_none_is_named() -> None:
    assert isinstance(backends.load_reranker(Models()), OnDemand)
    assert isinstance(backends.load_reranker(Models(backend="hub")), OnDemand)


@pytest.mark.parametrize("backend", ["embedded", "hub"])
def test_a_name_in_the_settings_is_the_hubs_with_either_backend(
    stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch, backend: Any
) -> None:
    asked: list[tuple[str, str]] = []

    def maker(name: str, kind: str) -> type[StandIn]:
        asked.append((kind, name))
        return stand_in

    monkeypatch.setattr(hub, "_maker", maker)
    named = Models(backend=backend, reranker="someone/judge", embedder="someone/embedder")
    assert backends.load_reranker(named).id.startswith("someone--judge/")
    with pytest.raises(AttributeError):  # the stand-in embeds nothing
        backends.load_embedder(named)
    assert asked == [("CrossEncoder", "someone/judge"), ("SentenceTransformer", "someone/embedder")]


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="the extra `hub` is installed"
)
def test_without_the_extra_the_error_names_it() -> None:
    with pytest.raises(ModelUnavailable, match="hub"):
        backends.load_reranker(Models(reranker="someone/judge"))


def save(folder: Path, kind: str, **options: Any) -> str:
    """A tiny BERT of random weights, the same every time, and a tokenizer of a few words; kind: its class."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {word: id for id, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    ).save_pretrained(str(folder))
    torch.manual_seed(7)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    shape = transformers.BertConfig(
        vocab_size=len(vocabulary), max_position_embeddings=64, initializer_range=1.0, **sizes, **options
    )
    getattr(transformers, kind)(shape).save_pretrained(str(folder))
    return str(folder)


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A cross-encoder in a folder; no hub is within reach."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return save(tmp_path / "tiny", "BertForSequenceClassification", num_labels=1)


def test_a_real_tiny_one_gives_the_logits_of_its_network(tiny: str) -> None:
    import torch
    import transformers

    model = backends.load_reranker(Models(reranker=tiny))
    network = transformers.AutoModelForSequenceClassification.from_pretrained(tiny).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    pairs = [(PAIR[0], " ".join(WORDS[n : n + 5])) for n in range(10)]
    with torch.inference_mode():
        expected = [float(network(**tokenizer(*pair, return_tensors="pt")).logits[0, 0]) for pair in pairs]
    assert [model.score(*pair) for pair in pairs] == pytest.approx(expected, abs=1e-4)
    assert max(expected) > 1 or min(expected) < 0, "else a sigmoid would not be seen"


def test_a_real_tiny_one_is_the_same_after_another_start_and_judges_any_pair(tiny: str) -> None:
    model, again = HubReranker.load(tiny), HubReranker.load(tiny)
    assert model.id == again.id
    assert model.score(*PAIR) == again.score(*PAIR)
    for text in ("", "\0", "\ud800", "漢字", "word " * 10_000):
        assert np.isfinite(model.score(text, text))
    texts = [" ".join(WORDS[: n + 1]) for n in range(len(WORDS))]
    found = Judge(model).scores(PAIR[0], texts)
    assert found == pytest.approx({place: again.score(PAIR[0], text) for place, text in enumerate(texts)})


def test_a_real_tiny_one_with_other_weights_has_another_id(tiny: str) -> None:
    import torch
    import transformers

    before = HubReranker.load(tiny).id
    network = transformers.AutoModelForSequenceClassification.from_pretrained(tiny)
    with torch.no_grad():
        network.classifier.bias += 1.0
    network.save_pretrained(tiny)
    assert HubReranker.load(tiny).id != before


def test_a_real_embedder_and_a_real_classifier_are_no_cross_encoders(tiny: str, tmp_path: Path) -> None:
    embedder = save(tmp_path / "embedder", "BertModel")
    assert HubEmbedder.load(embedder).dims == 16
    with pytest.raises(ModelUnavailable, match="BertModel"):
        HubReranker.load(embedder)
    with pytest.raises(ModelUnavailable, match="3 numbers"):
        HubReranker.load(save(tmp_path / "three", "BertForSequenceClassification", num_labels=3))


def test_what_was_downloaded_is_loaded_without_a_word_to_anybody(tiny: str, tmp_path: Path) -> None:
    cache = tmp_path / "hf/hub/models--someone--judge"
    (cache / "refs").mkdir(parents=True)
    (cache / "refs/main").write_text("0123456789abcdef0123456789abcdef01234567")
    shutil.copytree(tiny, cache / "snapshots/0123456789abcdef0123456789abcdef01234567")
    program = """
import socket, sys
asked = []
def refuse(*arguments, **options):
    asked.append(arguments)
    raise OSError("no network")
socket.getaddrinfo = socket.socket.connect = refuse
from ultan.retrieval.hub_rerank import HubReranker
print(HubReranker.load("someone/judge").id)
try:
    HubReranker.load("someone/other", fetch=False)
except Exception as error:
    print(type(error).__name__)
print(asked)
"""
    bare = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**bare, "HF_HOME": str(tmp_path / "hf"), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    id, other, asked = done.stdout.splitlines() or [done.stderr, "", ""]
    assert id.startswith("someone--judge/")
    assert (other, asked) == ("ModelUnavailable", "[]")


def test_a_name_that_is_not_on_the_disk_says_so_offline(tiny: str) -> None:
    with pytest.raises(ModelUnavailable, match="someone/judge"):
        HubReranker.load("someone/judge")
