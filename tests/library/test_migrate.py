from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from ultan.library.errors import ForeignHome, NoSuchBatch, WrongState
from ultan.library.journal import Action, Journal
from ultan.library.migrate import open_home
from ultan.library.store import Store
from ultan.wire.format import read_format
from ultan.wire.home import Home
from ultan.wire.version import VERSION

NOW = 1796092800.0
Write = Callable[..., Path]


def to_two(store: Store) -> list[Action]:
    """A step that upper-cases every page."""
    found = []
    for entry in store.scan().entries.values():
        raw = store.raw(entry.path)
        found.append(Action(entry.path, raw, raw.upper()))
    return found


def to_three(store: Store) -> list[Action]:
    return [Action("global/three.md", None, b"3")]


STEPS = {1: to_two, 2: to_three}


@pytest.fixture
def old_home(home: Home, write: Write) -> Home:
    """A home of format 1 with two pages."""
    write("global/a.md", "one")
    write("projects/p/b.md", "two")
    Path(home.home_json).write_text('{"format": 1, "written_by": "0.0.9"}')
    return home


def test_a_fresh_home_gets_the_present_format(home: Home) -> None:
    assert open_home(home) == []
    assert json.loads(Path(home.home_json).read_text()) == {"format": 1, "written_by": VERSION}


def test_an_older_home_is_brought_up_to_date_one_batch_a_step(
    old_home: Home, tree: Callable[[], dict[str, bytes]]
) -> None:
    assert open_home(old_home, NOW, 3, STEPS) == [1, 2]
    assert tree() == {"global/a.md": b"ONE", "projects/p/b.md": b"TWO", "global/three.md": b"3"}
    assert read_format(old_home) == (3, VERSION)
    assert [b.reason for b in Journal(old_home).log()] == [
        "bring the library from format 2 to 3",
        "bring the library from format 1 to 2",
    ]
    assert open_home(old_home, NOW, 3, STEPS) == []


def test_a_crash_at_any_step_of_a_migration_is_finished_at_the_next_start(
    tmp_path: Path, write: Write
) -> None:
    for step in range(1, 400):
        home = Home(str(tmp_path / str(step)))
        Path(home.knowledge, "global").mkdir(parents=True)
        Path(home.knowledge, "global/a.md").write_bytes(b"one")
        Path(home.home_json).write_text('{"format": 1, "written_by": "0.0.9"}')
        child = os.fork()
        if child == 0:
            try:
                _crash_at(step)
                open_home(home, NOW, 2, STEPS)
            finally:
                os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        open_home(home, NOW, 2, STEPS)
        assert Path(home.knowledge, "global/a.md").read_bytes() == b"ONE"
        assert read_format(home) == (2, VERSION)
        assert len([name for name in os.listdir(home.journal) if name.endswith(".json")]) == 1
        if code == 0:
            return
    pytest.fail("the migration never got to its end")


def _crash_at(step: int) -> None:
    count = [0]
    for name in ("open", "write", "fsync", "replace", "rename", "unlink"):
        real = getattr(os, name)

        def call(*arguments: object, real: Callable[..., object] = real, **named: object) -> object:
            count[0] += 1
            if count[0] == step:
                os._exit(9)
            return real(*arguments, **named)

        setattr(os, name, call)


def test_a_newer_home_is_read_and_never_written(home: Home, write: Write) -> None:
    write("global/a.md", "theirs")
    Path(home.home_json).write_text('{"format": 7, "written_by": "4.2.0"}')
    before = sorted(str(path) for path in Path(home.root).rglob("*"))
    with pytest.raises(ForeignHome, match=r"4\.2\.0"):
        open_home(home)
    assert Store(home).read("global/a").body == "theirs"
    assert sorted(str(path) for path in Path(home.root).rglob("*")) == before


def test_a_home_too_old_says_so(old_home: Home) -> None:
    with pytest.raises(ForeignHome, match="too old"):
        open_home(old_home, NOW, 5, {2: to_three})


def test_a_migration_is_not_undone(old_home: Home) -> None:
    open_home(old_home, NOW, 2, STEPS)
    Path(old_home.home_json).write_text('{"format": 1, "written_by": "x"}')  # as this version's journal needs
    (batch,) = Journal(old_home).log()
    with pytest.raises(NoSuchBatch):
        Journal(old_home).undo()
    with pytest.raises(WrongState):
        Journal(old_home).undo(batch.id)
