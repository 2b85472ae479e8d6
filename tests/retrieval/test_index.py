"""The index follows the library and survives what happens to its files."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from retrieval.small import FRIDAY, RESPX, Bag, Write
from ultan.library.entry import Entry
from ultan.retrieval import persist, stored
from ultan.retrieval.index import Index
from ultan.retrieval.pipeline import Pipeline, Query
from ultan.wire.home import Home

Read = Callable[[], dict[str, Entry]]
QUESTION = Query("may I deploy to production on Friday?")


def found(index: Index) -> list[str]:
    return [candidate.id for candidate in Pipeline(index).rank(QUESTION).chosen]


def indexed(home: Home, entries: Read, embedder: Bag | None) -> Index:
    index = Index(home, embedder)
    index.refresh(entries())
    index.save()
    return index


@pytest.mark.usefixtures("three")
def test_a_first_refresh_takes_everything_and_a_second_nothing(home: Home, entries: Read, bag: Bag) -> None:
    index = Index(home, bag)
    first = index.refresh(entries())
    assert (first.added, first.changed, first.removed, first.embedded) == (3, 0, 0, 3)
    assert not index.refresh(entries())
    assert index.pending == 0
    assert found(index) == [FRIDAY[0]]


@pytest.mark.usefixtures("three")
def test_only_what_changed_its_text_is_embedded_again(
    home: Home, entries: Read, bag: Bag, write: Write
) -> None:
    index = indexed(home, entries, bag)
    write(*FRIDAY, reinforced=4)
    assert index.refresh(entries()).embedded == 0
    write(RESPX[0], RESPX[1], "Use respx for every HTTP call in tests.")
    done = index.refresh(entries())
    assert (done.changed, done.embedded) == (1, 1)
    assert len(bag.documents) == 4


@pytest.mark.usefixtures("three")
def test_a_renamed_entry_keeps_its_vector(home: Home, entries: Read, bag: Bag) -> None:
    index = indexed(home, entries, bag)
    old = Path(home.knowledge, FRIDAY[0] + ".md")
    old.rename(old.with_name("weekend.md"))
    done = index.refresh(entries())
    assert (done.added, done.removed, done.embedded) == (1, 1, 0)
    assert found(index) == ["global/deploy/weekend"]


@pytest.mark.usefixtures("three")
def test_a_removed_entry_is_found_no_more_and_its_row_is_used_again(
    home: Home, entries: Read, bag: Bag, write: Write
) -> None:
    index = indexed(home, entries, bag)
    Path(home.knowledge, FRIDAY[0] + ".md").unlink()
    assert index.refresh(entries()).removed == 1
    assert found(index) == []
    write("global/a", "Release on Tuesdays", "Deploy to production on a Tuesday.")
    index.refresh(entries())
    assert len(index.snapshot.ids) == 3


@pytest.mark.usefixtures("three")
def test_a_saved_index_is_loaded_as_it_was(home: Home, entries: Read, bag: Bag) -> None:
    before = indexed(home, entries, bag)
    again = Index(home, Bag())
    done = again.refresh(entries())
    assert not done
    assert done.notes == ()
    assert again.save() is False
    for id, row in before.snapshot.rows.items():
        assert np.array_equal(again.snapshot.vectors[again.snapshot.rows[id]], before.snapshot.vectors[row])
    assert Pipeline(again).rank(QUESTION).candidates == Pipeline(before).rank(QUESTION).candidates


@pytest.mark.usefixtures("three")
def test_changes_made_while_nobody_looked_are_caught_up(
    home: Home, entries: Read, bag: Bag, write: Write
) -> None:
    indexed(home, entries, bag)
    Path(home.knowledge, RESPX[0] + ".md").unlink()
    write("global/new", "Release on Tuesdays")
    write(FRIDAY[0], FRIDAY[1], "Never start any deploy on a Friday.")
    index = Index(home, bag)
    done = index.refresh(entries())
    assert (done.added, done.changed, done.removed, done.embedded) == (1, 1, 1, 2)
    fresh = Index(Home(home.root + "-other"), Bag())
    fresh.refresh(entries())
    tokens = ["deploi", "respx", "releas", "fridai"]
    by_id = {id: index.snapshot.bm25.scores(tokens)[row] for id, row in index.snapshot.rows.items()}
    expected = {id: fresh.snapshot.bm25.scores(tokens)[row] for id, row in fresh.snapshot.rows.items()}
    assert by_id == pytest.approx(expected)


def delete(path: Path) -> None:
    path.unlink()


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def overwrite(path: Path) -> None:
    path.write_bytes(b"not an index at all")


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(len(data) // 3, len(data) // 3 + 40):
        data[place] ^= 0xFF
    path.write_bytes(data)


def newer(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(persist, "FORMAT", 99)
        persist.write(str(path), {}, {}, {})


def other_arrays(path: Path) -> None:
    stamp = {"tokenizer": stored.tokenizer_id(), "model": "bag/1", "dims": Bag.dims}
    arrays = {
        "starts": np.array([0, 5]),
        "postings": np.zeros((2, 3), np.int32),
        "lengths": np.zeros(7),
        "vectors": np.zeros((2, 3), np.float32),
    }
    persist.write(str(path), stamp, arrays, {"ids": ["a"], "content": [], "text": [], "tokens": ["b"]})


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("name", ["bm25_index", "embeddings_index"])
@pytest.mark.parametrize("harm", [delete, truncate, empty, overwrite, flip, newer, other_arrays])
def test_a_harmed_file_is_rebuilt_with_one_note(
    home: Home, entries: Read, bag: Bag, name: str, harm: Callable[[Path], None]
) -> None:
    indexed(home, entries, bag)
    harm(Path(getattr(home, name)))
    index = Index(home, Bag())
    done = index.refresh(entries())
    assert len(done.notes) == 1
    assert Path(getattr(home, name)).name in done.notes[0]
    assert done.embedded == (3 if name == "embeddings_index" else 0)
    assert found(index) == [FRIDAY[0]]
    assert index.save() is True
    assert Index(home, Bag()).refresh(entries()).notes == ()


@pytest.mark.usefixtures("three")
def test_another_model_embeds_everything_anew(home: Home, entries: Read, bag: Bag) -> None:
    indexed(home, entries, bag)
    other = Bag("bag/2")
    index = Index(home, other)
    done = index.refresh(entries())
    assert done.embedded == 3
    assert "model" in done.notes[0]
    for id, row in index.snapshot.rows.items():
        text = next(text for text in other.documents if text.startswith(index.snapshot.entries[id].title))
        assert np.array_equal(index.snapshot.vectors[row], other.embed_query(text))
    index.save()
    assert Index(home, bag).refresh(entries()).embedded == 3


@pytest.mark.usefixtures("three")
def test_another_tokenizer_counts_everything_anew(
    home: Home, entries: Read, bag: Bag, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(home, entries, bag)
    monkeypatch.setattr(stored, "tokenizer_id", lambda: "another")
    done = Index(home, bag).refresh(entries())
    assert done.added == 3
    assert done.embedded == 0
    assert "tokenizer" in done.notes[0]


@pytest.mark.usefixtures("three")
def test_without_a_model_vectors_of_before_are_kept_for_later(home: Home, entries: Read, bag: Bag) -> None:
    indexed(home, entries, bag)
    plain = Index(home, None)
    assert plain.refresh(entries()).embedded == 0
    plain.save()
    assert Index(home, bag).refresh(entries()).embedded == 0


@pytest.mark.usefixtures("three")
def test_words_are_found_before_the_first_vector_is_there(home: Home, entries: Read, bag: Bag) -> None:
    index = Index(home, bag)
    index.refresh(entries(), embed=False)
    assert index.pending == 3
    assert found(index) == [FRIDAY[0]]
    assert index.refresh(entries()).embedded == 3
    assert index.pending == 0


@pytest.mark.usefixtures("three")
def test_embedding_can_be_broken_off_and_goes_on_where_it_was(home: Home, entries: Read, bag: Bag) -> None:
    class Enough(Exception):
        """Time is up."""

    def stop(done: int, _total: int) -> None:
        if done == 1:
            raise Enough

    index = Index(home, bag)
    with pytest.raises(Enough):
        index.refresh(entries(), stop)
    assert index.pending == 2
    assert index.refresh(entries()).embedded == 2


@pytest.mark.usefixtures("three")
def test_a_failing_model_leaves_the_words_and_a_note(home: Home, entries: Read) -> None:
    class Broken(Bag):
        def embed_document(self, text: str) -> np.ndarray:
            raise RuntimeError("out of order")

    index = Index(home, Broken())
    done = index.refresh(entries())
    assert done.embedded == 0
    assert "out of order" in done.notes[-1]
    assert found(index) == [FRIDAY[0]]


def test_an_entry_without_any_text_needs_no_vector(home: Home, entries: Read, bag: Bag, write: Write) -> None:
    write("global/a", "''")
    index = Index(home, bag)
    index.refresh(entries())
    assert index.pending == 0


@pytest.mark.usefixtures("three")
def test_questions_are_answered_while_the_library_changes(
    home: Home, entries: Read, bag: Bag, write: Write
) -> None:
    index = indexed(home, entries, bag)
    pipeline, errors, stop = Pipeline(index), [], threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                assert FRIDAY[0] in [candidate.id for candidate in pipeline.rank(QUESTION).candidates]
            except BaseException as error:
                errors.append(error)
                return

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    for number in range(25):
        path = write(f"global/n{number}", f"Deploy note {number}", f"About thing{number} and deploy")
        index.refresh(entries())
        if number % 3 == 0:
            path.unlink()
    stop.set()
    for asker in askers:
        asker.join(30)
    assert not errors


@pytest.mark.usefixtures("three")
def test_index_files_are_private_and_hold_no_objects(home: Home, entries: Read, bag: Bag) -> None:
    indexed(home, entries, bag)
    for path in (Path(home.bm25_index), Path(home.embeddings_index)):
        assert path.stat().st_mode & 0o777 == 0o600
        with np.load(path, allow_pickle=False) as arrays:
            assert all(not arrays[name].dtype.hasobject for name in arrays.files)
