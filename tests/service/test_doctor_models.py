"""What the doctor says of the three models and the gate."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from ultan.retrieval import backends, gate
from ultan.retrieval.embedded import MODEL, EmbeddedEmbedder
from ultan.retrieval.models import ModelUnavailable
from ultan.retrieval.rerank import EmbeddedReranker
from ultan.service.checks import models
from ultan.wire.home import Home


class Loaded:
    """A model as far as the doctor asks."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.calls = 0

    def ready(self) -> None:
        self.calls += 1


def missing(name: str, reason: str) -> Any:
    def load(*_arguments: object, **_options: object) -> None:
        raise ModelUnavailable(name, reason)

    return load


def configure(home: Home, text: str) -> None:
    Path(home.config).write_text("[models]\n" + text)


def test_the_packaged_models_are_loaded_and_named_one_by_one(home: Home) -> None:
    found = list(models.check(home))
    assert [f.level for f in found] == ["ok"] * 3
    starts = ["embedder bge-small", "token encoder answerai-colbert", "cross-encoder ms-marco"]
    assert all(f.message.startswith(start) for f, start in zip(found, starts, strict=True))
    assert all("as packaged" in f.message for f in found)


def test_a_packaged_model_that_is_another_file_is_an_error_that_says_how_to_install(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.onnx").write_bytes(b"something else")
    load = EmbeddedEmbedder.load
    monkeypatch.setattr(EmbeddedEmbedder, "load", lambda: load(tmp_path))
    embedder, *others = models.check(home)
    assert (embedder.level, embedder.fix) == ("error", models.INSTALL)
    assert MODEL in embedder.message and "words alone" in embedder.message
    assert [f.level for f in others] == ["ok", "ok"]


def test_weights_that_are_whole_and_do_not_load_are_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmbeddedReranker, "load", missing("the-judge", "no memory is left"))
    found = list(models.check(home))
    assert [f.level for f in found] == ["ok", "ok", "warning"]
    assert "the-judge" in found[2].message and "no memory is left" in found[2].message


def test_models_of_the_hub_are_named_and_never_downloaded(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str | None, str | None, bool]] = []
    judge = Loaded("someone--judge/1")

    def load(model: Loaded) -> Any:
        def loaded(settings: Any, fetch: bool = True) -> Loaded:
            asked.append((settings.embedder, settings.reranker, fetch))
            return model

        return loaded

    monkeypatch.setattr(backends, "load_embedder", load(Loaded("someone--embedder/1")))
    monkeypatch.setattr(backends, "load_reranker", load(judge))
    configure(home, 'embedder = "someone/embedder"\nreranker = "someone/judge"\n')
    found = [f.message for f in models.check(home) if f.level == "ok"]
    assert found[0] == "embedder someone--embedder/1, of the hub"
    assert found[2] == "cross-encoder someone--judge/1, of the hub"
    assert asked == [("someone/embedder", "someone/judge", False)] * 2
    assert judge.calls == 1


def test_an_embedder_without_a_fitted_gate_is_told_with_the_command_that_fits_one(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "load_embedder", lambda *_, **__: Loaded("someone--embedder/1"))
    (note,) = [f for f in models.check(home) if f.level == "note"]
    assert "not fitted for someone--embedder" in note.message and "words alone decide" in note.message
    assert "ultan eval fit-gate" in note.fix


def test_the_gate_is_fitted_for_the_embedder_that_ships(home: Home) -> None:
    assert gate.load(f"{MODEL}/0").full is not None
    assert list(models.gate(f"{MODEL}/0", home)) == []


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="the extra `hub` is installed"
)
def test_without_the_extra_the_way_out_is_to_install_it_or_to_name_no_model(home: Home) -> None:
    configure(home, 'backend = "hub"\nreranker = "someone/judge"\n')
    found = list(models.check(home))
    assert [f.level for f in found] == ["error", "ok", "warning"]
    for finding in (found[0], found[2]):
        assert "not installed" in finding.message
        assert "--with hub" in finding.fix and home.config in finding.fix


def test_a_model_that_is_not_on_the_disk_is_told_with_what_downloads_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    there = find_spec("json")
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: there if name == "sentence_transformers" else find_spec(name),
    )
    monkeypatch.setattr(backends, "load_reranker", missing("someone/judge", "it is not in the cache"))
    configure(home, 'reranker = "someone/judge"\n')
    finding = list(models.check(home))[-1]
    assert finding.level == "warning" and "it is not in the cache" in finding.message
    assert "ultan daemon start" in finding.fix and home.config in finding.fix


def test_a_mistake_in_the_settings_hides_no_model(home: Home) -> None:
    configure(home, "reranker = 3\n")
    assert [f.level for f in models.check(home)] == ["ok"] * 3
