"""The index follows the library at once, pages and catalog a moment later, settings too."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from light_daemon import LightEngine
from support import wait
from ultan.library import config as configuration
from ultan.library.journal import Journal
from ultan.library.reconcile import Reconciled, reconcile
from ultan.library.store import Store
from ultan.service.keeper import Keeper
from ultan.service.pages import Pages, same_but
from ultan.service.schedule import Worker
from ultan.service.watcher import Watcher
from ultan.wire import remember
from ultan.wire.files import FileLock
from ultan.wire.home import Home


class House:
    """A keeper whose worker is given the time."""

    def __init__(self, home: Home) -> None:
        Path(home.knowledge).mkdir(exist_ok=True)
        self.home = home
        self.now = 0.0
        self.said: list[str] = []
        self.left: list[str] = []
        self.troubles: list[str] = []
        self.engine = LightEngine(home)

        def trouble(name: str, error: Exception) -> None:
            self.troubles.append(f"{name}: {error}")

        config = configuration.load(home)
        said, left = self.said.append, self.left.append
        self.pages = Pages(home, self.engine.store, said)
        self.keeper = Keeper(home, self.engine, self.pages, config, said, trouble, left)
        self.keeper.watcher.check = lambda: "scan"  # type: ignore[method-assign]  # no threads here
        jobs = [*self.keeper.jobs(), *self.pages.jobs(0.0)]
        self.worker = Worker("library", jobs, trouble, lambda: self.now)
        self.keeper.worker = self.pages.worker = self.worker

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now <= end:
            self.now += max(self.worker.step(self.now), 0.001)
        self.now = end

    def write(self, name: str, text: str) -> None:
        path = Path(self.home.knowledge, name + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\ntitle: {text}\n---\n{text}\n")

    def found(self, text: str) -> list[str]:
        return [row["id"] for row in self.engine.search(text)]

    def catalog(self) -> str:
        return Path(self.home.catalog).read_text()


@pytest.fixture
def house(home: Home) -> House:
    it = House(home)
    it.run(5.0)
    return it


def test_a_change_that_the_system_tells_is_found_at_once(house: House) -> None:
    house.write("global/a", "zanzibar")
    house.keeper.changed()
    house.run(0.16)
    assert house.found("zanzibar") == ["global/a"]
    house.run(2.0)
    assert "global/a" in house.catalog()


def test_a_change_that_nobody_told_is_found_by_the_next_scan(house: House) -> None:
    house.write("global/a", "zanzibar")
    house.run(2.0)
    assert house.found("zanzibar") == ["global/a"]


def test_changes_that_go_on_and_on_are_not_put_off_for_ever(house: House) -> None:
    house.write("global/a", "zanzibar")
    for _ in range(8):
        house.keeper.changed()
        house.run(0.1)
    assert house.found("zanzibar") == ["global/a"]


def test_our_own_pages_start_no_further_round(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write("global/a", "zanzibar")
    house.keeper.changed()
    house.run(5.0)
    monkeypatch.setattr("ultan.service.pages.reconcile", lambda *_: pytest.fail("pages were made again"))
    house.keeper.changed()
    house.run(10.0)
    assert house.troubles == []


def test_while_the_library_is_locked_the_index_follows_and_the_pages_wait(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.pages.journal.timeout = 0.01
    with FileLock(house.home.library_lock):
        house.write("global/a", "zanzibar")
        house.keeper.changed()
        house.run(4.0)
        assert house.found("zanzibar") == ["global/a"]
        assert "global/a" not in house.catalog()
    house.run(4.0)
    assert "global/a" in house.catalog()
    assert house.troubles == []


def test_a_home_of_a_newer_version_is_read_and_never_written(home: Home) -> None:
    home.ensure()
    Path(home.home_json).write_text('{"format": 99, "written_by": "9.9.9"}')
    house = House(home)
    house.write("global/a", "zanzibar")
    house.run(5.0)
    assert house.found("zanzibar") == ["global/a"]
    assert not Path(home.catalog).exists() and "9.9.9" in house.pages.read_only
    assert len(house.said) == 1


def test_changed_settings_reach_the_hooks_and_the_engine(house: House) -> None:
    seen: list[Any] = []
    house.engine.configure = seen.append  # type: ignore[method-assign]  # to look at it
    Path(house.home.config).write_text("[priming]\nmax_entries = 2\n")
    house.run(1.5)
    assert json.loads(Path(house.home.hook_config).read_text())["max_entries"] == 2
    assert seen[0].priming.max_entries == 2 and house.left == []


def test_what_the_hooks_read_of_the_settings_is_made_again_where_it_was_lost(house: House) -> None:
    Path(house.home.config).write_text("[priming]\nmax_entries = 2\n")
    house.run(1.5)
    derived = Path(house.home.hook_config)
    whole = derived.read_bytes()
    derived.unlink()
    house.run(1.5)
    assert derived.read_bytes() == whole
    derived.write_text("{")
    house.run(1.5)
    assert derived.read_bytes() == whole
    assert house.said == ["config.toml changed"]


def test_settings_that_cannot_be_used_change_nothing_but_are_told(house: House) -> None:
    Path(house.home.config).write_text('deamon = "off"\n')
    house.run(1.5)
    assert "daemon" in house.keeper.config_error and len(house.said) == 1
    assert house.left == []
    Path(house.home.config).write_text('daemon = "on"\n')
    house.run(1.5)
    assert house.keeper.config_error == ""


@pytest.mark.parametrize("text", ['daemon = "off"\n', '[models]\nbackend = "hub"\n', 'auth = "env"\n'])
def test_turned_off_or_with_other_models_the_daemon_leaves(house: House, text: str) -> None:
    Path(house.home.config).write_text(text)
    house.run(1.5)
    assert len(house.left) == 1
    assert json.loads(Path(house.home.hook_config).read_text())["config_text"] == text


def test_what_was_said_while_the_library_was_locked_is_saved_later(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remember, "LOCK_SECONDS", 0.01)
    with FileLock(house.home.library_lock):
        assert remember.save(house.home, "Use tabs in makefiles", "", "s", 1_796_000_000.0).kind == "waiting"
    house.run(13.0)
    assert len(house.found("makefiles")) == 1
    assert not list(Path(house.home.spool, "remember").glob("*.json"))


def test_missing_vectors_are_computed_in_small_portions(house: House) -> None:
    house.engine.pending = 3
    portions: list[float] = []

    def embed(seconds: float) -> int:
        portions.append(seconds)
        house.engine.pending -= 1
        return house.engine.pending

    house.engine.embed_pending = embed  # type: ignore[method-assign]  # to look at it
    house.write("global/a", "zanzibar")
    house.keeper.changed()
    house.run(1.0)
    assert len(portions) == 3 and max(portions) <= 1.0


def test_at_a_start_pages_are_made_again_only_where_the_library_is_not_as_it_was_left(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.write("global/a", "zanzibar")
    house.run(5.0)
    made: list[int] = []
    monkeypatch.setattr(Pages, "settle", lambda pages: made.append(1))

    def starts() -> int:
        made.clear()
        again = House(house.home)
        again.engine.refresh()
        again.pages.settle_at_start()
        return len(made)

    assert starts() == 0
    house.write("global/a", "quetzal")
    assert starts() == 1
    house.write("global/a", "zanzibar")
    assert starts() == 0
    Path(house.home.knowledge, "global", "README.md").write_text("# Mine\n")
    assert starts() == 1
    Path(house.home.knowledge, "global", "README.md").unlink()
    Path(house.home.catalog).write_text("{}")
    assert starts() == 1


def test_what_looked_up_to_date_at_the_start_is_made_sure_of_later(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    monkeypatch.setattr(Pages, "settle", lambda pages: made.append(1))
    again = House(house.home)
    again.engine.refresh()
    again.pages.settle_at_start()
    again.run(50.0)
    assert made == []
    again.run(20.0)
    assert made == [1]


@pytest.mark.parametrize("name", ["catalog.json", "triggers.json"])
def test_a_derived_file_that_is_removed_or_broken_is_made_again(house: House, name: str) -> None:
    path = Path(house.home.path(name))
    good = path.read_bytes()
    path.unlink()
    house.run(5.0)
    assert path.read_bytes() == good
    path.write_text("broken")
    house.run(5.0)
    assert path.read_bytes() == good


def test_what_is_written_while_pages_are_made_is_not_taken_for_settled(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.write("global/a", "zanzibar")

    def slow(store: Store, journal: Journal) -> Reconciled:
        done = reconcile(store, journal)
        house.write("global/b", "quetzal")
        return done

    with monkeypatch.context() as patch:
        patch.setattr("ultan.service.pages.reconcile", slow)
        house.pages.settle()
    assert "global/b" not in house.catalog()
    house.run(5.0)
    assert "global/b" in house.catalog()


def test_snapshots_are_compared_but_for_our_own_pages(house: House) -> None:
    store = house.engine.store
    house.write("global/a", "zanzibar")
    before = store.scan()
    Path(house.home.knowledge, "global", "README.md").write_text("# Global\n")
    after = store.scan()
    assert same_but(before, before, ())
    assert same_but(before, after, ["global/README.md"]) and not same_but(before, after, ["log.md"])
    house.write("global/b", "quetzal")
    assert not same_but(after, store.scan(), ["global/README.md"])
    house.write("global/a", "another")
    assert not same_but(after, store.scan(), ["global/README.md"])


# Watching.


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_system_tells_of_a_new_file_in_a_new_folder(home: Home) -> None:
    Path(home.knowledge).mkdir()
    told = threading.Event()
    watcher = Watcher(home.knowledge, told.set, lambda *_: None)
    assert watcher.check() == watcher.check() == "events"
    try:
        Path(home.knowledge, "new", "deep").mkdir(parents=True)
        Path(home.knowledge, "new", "deep", "a.md").write_text("x")
        assert told.wait(20)
    finally:
        watcher.close()


def test_reading_the_library_tells_nothing(home: Home) -> None:
    Path(home.knowledge).mkdir()
    path = Path(home.knowledge, "a.md")
    path.write_text("x")
    told: list[int] = []
    watcher = Watcher(home.knowledge, lambda: told.append(1), lambda *_: None)
    watcher.check()
    try:
        for _ in range(3):
            path.read_text()
            list(Path(home.knowledge).iterdir())
        (Path(home.knowledge) / "b.md").write_text("x")
        for _ in wait():
            if told:
                break
        count = len(told)
        path.read_text()
        assert len(told) <= count + 2
    finally:
        watcher.close()


def test_where_the_system_cannot_tell_a_scan_has_to_do_and_that_is_said(home: Home) -> None:
    Path(home.knowledge).mkdir()
    troubles: list[str] = []

    watcher = Watcher(
        home.knowledge, lambda: None, lambda where, error: troubles.append(str(error)), exhausted_observer
    )
    assert watcher.check() == watcher.check() == "scan"
    assert troubles == ["[Errno 28] inotify watch limit reached"]


def exhausted_observer() -> Any:
    class Exhausted:
        daemon = False

        def schedule(self, *_: object, **__: object) -> None:
            raise OSError(28, "inotify watch limit reached")

    return Exhausted()


def test_a_library_that_comes_later_or_is_replaced_is_watched_then(home: Home) -> None:
    told = threading.Event()
    watcher = Watcher(home.knowledge, told.set, lambda *_: None)
    assert watcher.check() == "scan"
    Path(home.knowledge).mkdir()
    assert watcher.check() == "events"
    Path(home.knowledge).rename(home.knowledge + "-old")
    Path(home.knowledge).mkdir()
    assert watcher.check() == "events"
    try:
        told.clear()
        Path(home.knowledge, "a.md").write_text("x")
        assert told.wait(20)
    finally:
        watcher.close()
