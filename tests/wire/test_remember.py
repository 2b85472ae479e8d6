"""Saving what the person hands over: word for word, once, in the right place, never lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ultan.library.entry import parse
from ultan.wire import journal, remember
from ultan.wire.failures import BadPath
from ultan.wire.files import FileLock
from ultan.wire.home import Home

NOW = 1_796_000_000.0


def save(home: Home, text: str, cwd: str = "/nowhere", **more: object) -> remember.Saved:
    return remember.save(home, text, cwd, "s-1", NOW, **more)  # type: ignore[arg-type]  # keywords of save


def stored(home: Home, saved: remember.Saved) -> bytes:
    return Path(home.knowledge, saved.id + ".md").read_bytes()


def repository_at(folder: Path, remote: str = "") -> str:
    (folder / ".git").mkdir(parents=True)
    config = f'[remote "origin"]\n\turl = {remote}\n' if remote else ""
    (folder / ".git/config").write_text(config)
    return str(folder)


@pytest.mark.parametrize(
    "text",
    [
        "use \"uv\", not 'pip'",
        "cost is $(touch /x) euros",
        "two\nlines, second one",
        "--help",
        "back\\slash and trailing \\",
        "---\nid: other\n---\nlooks like a header",
        "tabs\tand\r\ncarriage returns",
        "本番では絶対に --force を使わない",
        "%s %n {0} ${HOME}",
    ],
)
def test_the_words_are_saved_as_they_were_said(home: Home, text: str) -> None:
    saved = save(home, text)
    raw = stored(home, saved)
    assert saved.kind == "saved"
    assert text.encode() in raw
    entry = parse(saved.id + ".md", raw)
    assert entry.readable
    assert not entry.problems
    assert entry.title == saved.title
    assert entry.body.strip() == text.replace("\r\n", "\n").strip()


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300))
def test_any_text_becomes_an_entry_that_the_library_reads(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    home = Home(str(tmp_path_factory.mktemp("home")))
    saved = save(home, text)
    if saved.kind == "empty":
        assert not text.strip()
        return
    if saved.kind == "not text":
        assert "\0" in text
        return
    raw = stored(home, saved)
    if not saved.redacted:
        assert text.encode() in raw
    entry = parse(saved.id + ".md", raw)
    assert entry.title
    assert entry.problems == ()


def test_nothing_to_save_saves_nothing(home: Home) -> None:
    assert save(home, "  \n ").kind == "empty"
    assert not Path(home.knowledge).exists()


def test_what_was_said_already_is_shown_instead_of_written_twice(home: Home) -> None:
    first = save(home, "never deploy to production on a Friday")
    again = save(home, "Never deploy to production on a Friday!")
    assert (again.kind, again.id) == ("duplicate", first.id)
    assert save(home, "never deploy to production on a Friday", force=True).kind == "saved"


def test_the_opposite_is_no_duplicate(home: Home) -> None:
    save(home, "deploy to production on a Friday")
    assert save(home, "do not deploy to production on a Friday").kind == "saved"


def test_a_secret_is_redacted_and_that_is_said(home: Home) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    saved = save(home, f"staging uses {token} for now")
    assert saved.redacted
    everything = b"".join(path.read_bytes() for path in Path(home.root).rglob("*") if path.is_file())
    assert token.encode() not in everything
    assert b"[redacted:github-token]" in stored(home, saved)


def test_a_note_said_in_a_repository_goes_to_its_project_which_the_library_then_knows(
    home: Home, tmp_path: Path
) -> None:
    cwd = repository_at(tmp_path / "shop", "git@github.com:acme/shop.git")
    saved = save(home, "we use uv", cwd)
    assert saved.scope == "project:shop"
    readme = Path(home.knowledge, "projects/shop/README.md").read_text()
    assert "remote:github.com/acme/shop" in readme
    clone = repository_at(tmp_path / "elsewhere", "https://me:pw@github.com/Acme/Shop")
    assert save(home, "tests need redis", clone).scope == "project:shop"


def test_two_repositories_of_one_name_are_two_projects(home: Home, tmp_path: Path) -> None:
    one = repository_at(tmp_path / "a/shop", "git@github.com:acme/shop.git")
    two = repository_at(tmp_path / "b/shop", "git@github.com:other/shop.git")
    assert save(home, "we use uv", one).scope == "project:shop"
    assert save(home, "we use poetry", two).scope == "project:shop-2"


def test_a_note_said_outside_any_repository_is_global(home: Home, tmp_path: Path) -> None:
    assert save(home, "we use uv", str(tmp_path)).scope == "global"


def test_saving_can_be_undone(home: Home) -> None:
    from ultan.library.journal import Journal

    saved = save(home, "use uv")
    Journal(home).undo(saved.batch)
    assert not Path(home.knowledge, saved.id + ".md").exists()


def test_the_words_wait_while_the_library_is_locked_and_are_saved_after(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remember, "LOCK_SECONDS", 0.0)
    with FileLock(home.library_lock, 1.0):
        saved = save(home, "use uv, never pip")
    assert saved.kind == "waiting"
    assert json.loads(Path(saved.path).read_text())["text"] == "use uv, never pip"
    (done,) = remember.save_waiting(home, NOW)
    assert b"use uv, never pip" in stored(home, done)
    assert not Path(saved.path).exists()


def test_a_home_of_a_newer_version_keeps_the_words_without_being_written(home: Home) -> None:
    Path(home.home_json).write_text('{"format": 99, "written_by": "9.0.0"}')
    saved = save(home, "use uv")
    assert saved.kind == "waiting"
    assert "9.0.0" in saved.reason
    assert not Path(home.knowledge).exists()


def test_a_broken_waiting_file_is_set_aside_and_does_not_block_the_others(home: Home) -> None:
    folder = Path(home.spool, "remember")
    folder.mkdir(parents=True)
    (folder / "1.json").write_text("{")
    with FileLock(home.library_lock, 1.0):
        kept = remember._spool(home, "use uv", "/nowhere", "s", NOW, "user", False, {})
    assert [saved.kind for saved in remember.save_waiting(home, NOW)] == ["saved"]
    assert (folder / "1.broken").exists()
    assert not Path(kept).exists()


def test_what_the_person_chose_is_kept_while_the_words_wait(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remember, "LOCK_SECONDS", 0.0)
    with FileLock(home.library_lock, 1.0):
        save(home, "use uv, never pip", chosen={"type": "warning", "folder": "tools/"})
    (done,) = remember.save_waiting(home, NOW)
    assert (done.type, done.id) == ("warning", "global/tools/use-uv-never-pip")


def test_a_waiting_note_that_cannot_be_saved_does_not_hold_up_the_others(home: Home) -> None:
    with FileLock(home.library_lock, 1.0):
        bad = remember._spool(home, "one", "/nowhere", "s", NOW, "user", False, {"folder": ".."})
        remember._spool(home, "use uv", "/nowhere", "s", NOW + 1, "user", False, {})
    assert [saved.title for saved in remember.save_waiting(home, NOW)] == ["use uv"]
    assert Path(bad).exists()


@pytest.mark.parametrize("folder", ["..", "a/../b", ".hidden", "a//b", "con/x", "x?y"])
def test_a_folder_that_can_be_none_is_refused_at_once(home: Home, folder: str) -> None:
    with pytest.raises(BadPath):
        save(home, "use uv", chosen={"folder": folder})
    assert not Path(home.spool, "remember").exists()


def test_a_note_goes_into_the_folder_of_that_name_in_any_case(home: Home, tmp_path: Path) -> None:
    Path(home.knowledge, "Global/Python").mkdir(parents=True)
    assert save(home, "use uv, never pip").id == "Global/Python/use-uv-never-pip"

    Path(home.knowledge, "projects/Shop").mkdir(parents=True)
    saved = save(home, "squash every branch here", cwd=repository_at(tmp_path / "shop"))
    assert saved.id.startswith("projects/Shop/") and saved.scope == "project:Shop"


def test_another_project_of_that_name_in_another_case_is_left_alone(home: Home, tmp_path: Path) -> None:
    page = Path(home.knowledge, "projects/Shop/README.md")
    page.parent.mkdir(parents=True)
    page.write_text("---\ntitle: Shop\nidentities: [remote:github.com/acme/shop]\n---\n")
    saved = save(home, "squash every branch here", cwd=repository_at(tmp_path / "shop"))
    assert saved.scope == "project:shop-2"


def test_what_holds_nul_bytes_is_no_text(home: Home) -> None:
    assert save(home, "use\0uv").kind == "not text"
    assert not Path(home.knowledge).exists()


def test_the_batch_in_the_journal_says_who_and_why(home: Home) -> None:
    saved = save(home, "use uv")
    records = [path for path in Path(home.journal).iterdir() if saved.batch in path.name]
    record = json.loads(records[0].read_text())
    assert (record["by"], record["state"]) == ("user", "applied")
    assert "use uv" in record["reason"]


def test_a_crash_before_the_file_is_written_leaves_nothing_half_done(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(journal.Writer, "_settle", crash)
    with pytest.raises(KeyboardInterrupt):
        save(home, "use uv")
    monkeypatch.undo()
    second = save(home, "tabs, not spaces")
    assert second.kind == "saved"
    texts = [path.read_text() for path in Path(home.knowledge).rglob("*.md")]
    assert sum("use uv" in text for text in texts) == 1  # finished by recovery, whole
