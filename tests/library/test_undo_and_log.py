from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ultan.library.errors import ChangedMeanwhile, ForeignHome, NoSuchBatch, WrongState
from ultan.library.journal import Action, Batch, Journal
from ultan.wire.home import Home

NOW = 1796092800.0
DAY = 86400.0


def tree(home: Home) -> dict[str, bytes]:
    root = Path(home.knowledge)
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def create(home: Home, path: str, content: bytes = b"x", reason: str = "") -> Batch:
    return Journal(home).apply(Batch([Action(path, None, content)], "user", reason), NOW)


def test_undo_takes_back_the_last_batch_and_the_folders_it_made(home: Home) -> None:
    create(home, "global/kept.md")
    batch = create(home, "global/new/deep/a.md", reason="learned\na thing")
    undoing = Journal(home).undo(now=NOW)
    assert tree(home) == {"global/kept.md": b"x"}
    assert not Path(home.knowledge, "global/new").exists()
    assert undoing.reason == f"undo {batch.id}: learned a thing"
    assert [b.state for b in Journal(home).log()] == ["applied", "undone", "applied"]


def test_undo_repeated_goes_further_back_and_an_undo_can_be_undone(home: Home) -> None:
    first, second = create(home, "global/a.md"), create(home, "global/b.md")
    journal = Journal(home)
    journal.undo(now=NOW)
    undo_of_first = journal.undo(now=NOW)
    assert tree(home) == {}
    with pytest.raises(NoSuchBatch):
        journal.undo(now=NOW)
    redone = journal.undo(undo_of_first.id, now=NOW)
    assert tree(home) == {"global/a.md": b"x"}
    assert journal.find(undo_of_first.id).state == "undone"
    assert journal.undo(now=NOW).undoes == redone.name
    assert tree(home) == {}
    with pytest.raises(WrongState):
        journal.undo(first.id, now=NOW)
    with pytest.raises(WrongState):
        journal.undo(second.id, now=NOW)


def test_undo_of_a_named_batch_leaves_later_ones_alone(home: Home) -> None:
    first = create(home, "global/a.md")
    create(home, "global/b.md")
    Journal(home).undo(first.id[:5], now=NOW)
    assert tree(home) == {"global/b.md": b"x"}


def test_undo_is_refused_when_a_file_changed_since_and_nothing_is_lost(home: Home) -> None:
    batch = Journal(home).apply(
        Batch([Action("global/a.md", None, b"A"), Action("global/b.md", None, b"B")], "curator", ""), NOW
    )
    Path(home.knowledge, "global/b.md").write_bytes(b"edited by hand")
    before = tree(home)
    with pytest.raises(ChangedMeanwhile) as caught:
        Journal(home).undo(now=NOW)
    assert "by hand" in caught.value.advice
    assert caught.value.paths == ["global/b.md"] and batch.id in str(caught.value)
    assert tree(home) == before
    assert [b.state for b in Journal(home).log()] == ["applied"]


def test_a_child_list_written_since_is_no_reason_to_refuse(home: Home) -> None:
    own = b"# Shop\n\nMy words.\n"
    create(home, "projects/shop/README.md", own)
    listed = own + b"\n<!-- ultan:children (x) -->\n- [a](a.md)\n<!-- /ultan:children -->\n"
    Path(home.knowledge, "projects/shop/README.md").write_bytes(listed)
    Journal(home).undo(now=NOW)
    assert tree(home) == {}


def test_words_written_around_a_child_list_are_never_lost(home: Home) -> None:
    create(home, "projects/shop/README.md", b"# Shop\n")
    Path(home.knowledge, "projects/shop/README.md").write_bytes(b"# Shop\n\nMine.\n")
    with pytest.raises(ChangedMeanwhile):
        Journal(home).undo(now=NOW)


def test_a_removed_file_with_a_name_of_a_person_s_own_comes_back(home: Home) -> None:
    path = Path(home.knowledge, "notes/What? [draft].md")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"mine\r\n")
    Journal(home).apply(Batch([Action("notes/What? [draft].md", b"mine\r\n", None)], "user", ""), NOW)
    assert not path.parent.exists()
    Journal(home).undo(now=NOW)
    assert path.read_bytes() == b"mine\r\n"


def test_a_proposal_waits_changes_nothing_and_is_accepted_once(home: Home) -> None:
    journal = Journal(home)
    batch = journal.propose(Batch([Action("global/a.md", None, b"A")], "curator", "why"), NOW)
    assert tree(home) == {} and [b.id for b in journal.pending()] == [batch.id]
    journal.accept(batch.id, NOW)
    assert tree(home) == {"global/a.md": b"A"}
    assert journal.pending() == [] and journal.find(batch.id).state == "applied"
    with pytest.raises(WrongState):
        journal.accept(batch.id, NOW)
    journal.undo(now=NOW)
    assert tree(home) == {}


def test_a_rejected_proposal_is_kept_and_cannot_be_accepted(home: Home) -> None:
    journal = Journal(home)
    batch = journal.propose(Batch([Action("global/a.md", None, b"A")], "curator", ""), NOW)
    journal.reject(batch.id)
    assert journal.find(batch.id).state == "rejected" and len(journal.log()) == 1
    with pytest.raises(WrongState):
        journal.accept(batch.id)
    assert tree(home) == {}


def test_a_proposal_whose_file_changed_is_refused_and_still_waits(home: Home) -> None:
    create(home, "global/a.md", b"one")
    journal = Journal(home)
    batch = journal.propose(Batch([Action("global/a.md", b"one", b"two")], "curator", ""), NOW)
    Path(home.knowledge, "global/a.md").write_bytes(b"by hand")
    with pytest.raises(ChangedMeanwhile):
        journal.accept(batch.id)
    assert tree(home) == {"global/a.md": b"by hand"}
    assert [b.id for b in journal.pending()] == [batch.id]


def test_broken_records_are_set_aside_and_the_rest_still_read(home: Home) -> None:
    good = create(home, "global/a.md")
    broken = "20301201T024000.000000Z-00000000.json"
    for junk in (b"", b"{", b"\x00\xff", b'{"v": 1, "state": "applied"}'):
        Path(home.journal, broken).write_bytes(junk)
        assert [b.id for b in Journal(home).log()] == [good.id]
        assert Journal(home).broken() == [broken + ".broken"]
    Path(home.journal, broken).write_bytes(b"")
    Journal(home).undo(now=NOW)
    assert tree(home) == {}


def test_nothing_of_a_newer_home_is_set_aside(home: Home) -> None:
    create(home, "global/a.md")
    name = "20301201T024000.000000Z-00000000.json"
    Path(home.journal, name).write_bytes(b'{"v": 2}')
    Path(home.home_json).write_text('{"format": 2, "written_by": "9"}')
    assert len(Journal(home).log()) == 1
    assert name in os.listdir(home.journal)
    with pytest.raises(ForeignHome):
        Journal(home).undo()


def test_the_log_is_newest_first_and_limited(home: Home) -> None:
    for number in range(5):
        create(home, f"global/{number}.md", reason=str(number))
    assert [b.reason for b in Journal(home).log(3)] == ["4", "3", "2"]
    assert Journal(Home(home.root + "-absent")).log() == []


def test_records_are_kept_180_days_and_what_waits_for_longer(home: Home) -> None:
    journal = Journal(home)
    create(home, "global/a.md")
    waiting = journal.propose(Batch([Action("global/b.md", None, b"")], "curator", ""), NOW)
    assert journal.prune(NOW + 179 * DAY) == 0
    assert journal.prune(NOW + 182 * DAY) == 1
    assert [b.id for b in journal.log()] == [waiting.id]
    assert tree(home) == {"global/a.md": b"x"}


CONTENTS = st.one_of(st.none(), st.binary(max_size=6))
CHANGES = st.dictionaries(st.sampled_from(["global/a", "global/b/c", "projects/p/d"]), CONTENTS, min_size=1)


@settings(max_examples=40, deadline=None)
@given(st.lists(CHANGES, min_size=1, max_size=5))
def test_undoing_everything_leads_back_through_every_state(
    tmp_path_factory: pytest.TempPathFactory, steps: list[dict[str, bytes | None]]
) -> None:
    home = Home(str(tmp_path_factory.mktemp("undo")))
    journal = Journal(home)
    states = [tree(home)]
    for changes in steps:
        before = {path: content for path, content in states[-1].items()}
        actions = [Action(f"{n}.md", before.get(f"{n}.md"), content) for n, content in changes.items()]
        journal.apply(Batch(actions, "user", ""), NOW)
        states.append(tree(home))
    for state in reversed(states[:-1]):
        journal.undo(now=NOW)
        assert tree(home) == state
