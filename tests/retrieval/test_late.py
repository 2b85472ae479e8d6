"""Token vectors: how they are made, kept and compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from retrieval.small import FRIDAY, RESPX, Bag, Letters, Write
from ultan.library.entry import Entry
from ultan.retrieval import tokenstore
from ultan.retrieval.index import Index
from ultan.retrieval.late import DOCUMENT_TOKENS, QUERY_TOKENS, EmbeddedTokens, maxsim, quantise
from ultan.retrieval.models import Tokens
from ultan.wire.home import Home

Read = Callable[[], dict[str, Entry]]


def unit(rng: np.random.Generator, count: int, width: int = 128) -> np.ndarray:
    vectors = rng.standard_normal((count, width)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def model() -> EmbeddedTokens:
    return EmbeddedTokens.load()


def test_the_score_is_the_mean_of_each_tokens_best_match() -> None:
    rng = np.random.default_rng(1)
    query, texts = unit(rng, 7), [unit(rng, count) for count in (1, 12, 30)]
    found = maxsim(query, [quantise(text) for text in texts])
    exact = [float((query @ text.T).max(axis=1).mean()) for text in texts]
    assert found == pytest.approx(exact, abs=0.005)


def test_an_empty_list_has_no_scores() -> None:
    assert maxsim(unit(np.random.default_rng(1), 3), []).shape == (0,)


def test_a_vector_survives_its_eight_bits() -> None:
    vectors = unit(np.random.default_rng(2), 500)
    kept = quantise(vectors)
    again = kept.values.astype(np.float32) * kept.scales.astype(np.float32)[:, None]
    assert (again * vectors).sum(axis=1).min() > 0.9995
    assert not quantise(np.zeros((2, 4), np.float32)).values.any()


def test_an_entry_of_120_words_takes_at_most_25_kb(model: EmbeddedTokens) -> None:
    text = (
        "Every migration of the billing database is reviewed by Anna, and `alter table` waits for Monday. "
        * 8
    )
    kept = model.document(" ".join(text.split()[:120]))
    assert kept.values.nbytes + kept.scales.nbytes <= 25_000


def test_the_text_that_answers_scores_higher(model: EmbeddedTokens) -> None:
    question = model.query("how do I stop the dog from barking?")
    near, far = model.document("Training a noisy dog"), model.document("Database migrations")
    scores = maxsim(question, [near, far])
    assert scores[0] > scores[1] + 0.05


@pytest.mark.parametrize("text", ["", " ", "...", "\0", "\ud800", "漢字", "word " * 400_000])
def test_any_text_has_token_vectors(model: EmbeddedTokens, text: str) -> None:
    kept, question = model.document(text), model.query(text)
    assert 0 < len(kept) <= DOCUMENT_TOKENS
    assert 0 < len(question) <= QUERY_TOKENS
    assert np.isfinite(maxsim(question, [kept])).all()


def indexed(home: Home, entries: Read, encoder: Letters) -> Index:
    index = Index(home, Bag(), encoder)
    index.refresh(entries())
    index.save()
    return index


def same(one: Tokens | None, other: Tokens | None) -> bool:
    return one is not None and other is not None and np.array_equal(one.values, other.values)


@pytest.mark.usefixtures("three")
def test_token_vectors_are_loaded_as_they_were_saved(home: Home, entries: Read) -> None:
    before = indexed(home, entries, Letters())
    encoder = Letters()
    after = Index(home, Bag(), encoder)
    assert after.refresh(entries()).embedded == 0
    assert encoder.documents == []
    for id, row in after.snapshot.rows.items():
        assert same(after.snapshot.tokens[row], before.snapshot.tokens[before.snapshot.rows[id]])


@pytest.mark.usefixtures("three")
def test_only_a_changed_text_is_encoded_again_and_written_beside_the_rest(
    home: Home, entries: Read, write: Write
) -> None:
    encoder = Letters()
    index = indexed(home, entries, encoder)
    whole = Path(home.tokens_index).read_bytes()
    write(*FRIDAY, reinforced=4)
    assert index.refresh(entries()).embedded == 0
    write(RESPX[0], RESPX[1], "Use respx for every HTTP call in tests.")
    assert index.refresh(entries()).embedded == 1
    assert len(encoder.documents) == 4
    index.save()
    assert Path(home.tokens_index).read_bytes() == whole
    fresh = Letters()
    assert Index(home, Bag(), fresh).refresh(entries()).embedded == 0
    assert fresh.documents == []


@pytest.mark.usefixtures("three")
def test_much_change_writes_one_file_again(
    home: Home, entries: Read, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenstore, "STALE_ENTRIES", 1)
    index = indexed(home, entries, Letters())
    write("global/a", "One more", "A new entry.")
    index.refresh(entries())
    index.save()
    assert Path(home.tokens_index + ".new").exists()
    write("global/b", "And another", "A newer entry.")
    index.refresh(entries())
    index.save()
    assert not Path(home.tokens_index + ".new").exists()
    assert Index(home, Bag(), Letters()).refresh(entries()).embedded == 0


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("text", [b"", b"PK\3\4 not really"])
def test_a_harmed_file_is_encoded_again_with_one_note(home: Home, entries: Read, text: bytes) -> None:
    indexed(home, entries, Letters())
    Path(home.tokens_index).write_bytes(text)
    index = Index(home, Bag(), Letters())
    done = index.refresh(entries())
    assert done.embedded == 3
    assert len(done.notes) == 1
    assert ".tokens.idx" in done.notes[0]
    assert index.save() is True
    assert Index(home, Bag(), Letters()).refresh(entries()).notes == ()


@pytest.mark.usefixtures("three")
def test_another_model_encodes_everything_anew(home: Home, entries: Read) -> None:
    indexed(home, entries, Letters())
    done = Index(home, Bag(), Letters("letters/2")).refresh(entries())
    assert done.embedded == 3
    assert "model" in done.notes[0]


@pytest.mark.usefixtures("three")
def test_an_entry_waits_until_it_has_both_kinds_of_vectors(home: Home, entries: Read) -> None:
    without = Index(home, Bag())
    without.refresh(entries())
    without.save()
    index = Index(home, Bag(), Letters())
    index.refresh(entries(), embed=False)
    assert index.pending == 3
    index.refresh(entries())
    assert index.pending == 0
