from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from ultan.library import store as store_module
from ultan.library.errors import BadPath, NoSuchEntry
from ultan.library.lint import lint
from ultan.library.store import Snapshot, Store
from ultan.wire.home import Home

NOW = 1796092800.0
Write = Callable[..., Path]


def left_out(snapshot: Snapshot) -> dict[str, str]:
    return {problem.path: problem.code for problem in snapshot.problems}


def settle(home: Home) -> None:
    """Make every file look as if it was written a while ago."""
    for path in Path(home.knowledge).rglob("*.md"):
        os.utime(path, (NOW - 500_000_000, NOW - 500_000_000))


def test_an_absent_or_empty_library_is_an_empty_snapshot(home: Home) -> None:
    assert Store(home).scan() == Snapshot()
    os.mkdir(home.knowledge)
    assert Store(home).scan() == Snapshot()


def test_only_pages_become_entries(home: Home, write: Write) -> None:
    for path in (
        "global/a.md",
        "loose.md",
        "vault/deep/er/note.md",
        "global/index.md",
        "global/sub/log.md",
        "README.md",
        "index.md",
        "log.md",
        "global/readme.md",
        "projects/shop/README.md",
        "_archive/global/old.md",
        ".obsidian/templates/t.md",
        ".git/description.md",
        ".usage/machine.json",
        "global/.hidden.md",
        "global/picture.png",
        "global/note.txt",
    ):
        write(path, "words")
    snapshot = Store(home).scan()
    assert set(snapshot.entries) == {
        "global/a",
        "loose",
        "vault/deep/er/note",
        "global/index",
        "global/sub/log",
    }
    assert set(snapshot.pages) == {
        "README.md",
        "index.md",
        "log.md",
        "global/readme.md",
        "projects/shop/README.md",
    }
    assert snapshot.archived == {"global/old"}
    assert snapshot.files == {"global/picture.png", "global/note.txt"}
    page = snapshot.readme("global")
    assert page is not None and page.path == "global/readme.md"
    assert snapshot.readme("vault") is None


@pytest.mark.parametrize(
    "name",
    [
        "use-uv (conflicted copy 2026-01-02).md",
        "use-uv (Ann's conflicted copy 2026-01-02 143000).md",
        "use-uv (Conflicted copy laptop 202601021430).md",
        "use-uv (case conflict).md",
        "use-uv.sync-conflict-20260102-030405-ABCDEFG.md",
    ],
)
def test_conflict_copies_are_left_out_and_named(home: Home, write: Write, name: str) -> None:
    write("global/use-uv.md", "real")
    write(f"global/{name}", "copy")
    snapshot = Store(home).scan()
    assert set(snapshot.entries) == {"global/use-uv"}
    assert left_out(snapshot) == {f"global/{name}": "conflict-copy"}


@pytest.mark.parametrize("suffix", [" 2", " (1)"])
def test_a_numbered_name_is_a_copy_only_if_it_holds_the_same_page(
    home: Home, write: Write, suffix: str
) -> None:
    write("global/a.md", "---\nid: global/a\n---\none")
    copy = write(f"global/a{suffix}.md", "---\nid: global/a\n---\nchanged")
    assert left_out(Store(home).scan()) == {f"global/a{suffix}.md": "conflict-copy"}
    copy.write_text("---\ntitle: The second chapter\n---\nanother text")
    assert set(Store(home).scan().entries) == {"global/a", f"global/a{suffix}"}
    copy.write_text("---\nid: global/a\n---\none")
    assert set(Store(home).scan().entries) == {"global/a"}
    Path(home.knowledge, "global/a.md").unlink()
    assert set(Store(home).scan().entries) == {f"global/a{suffix}"}


MERGE = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"# A\n\n{MERGE}", 3),
        (f"---\n{MERGE}---\nbody", 2),
        (f"About merges:\n\n```\n{MERGE}```\n", None),
        ("<<<<<<< HEAD\nonly a beginning\n", None),
        ("Setext\n=======\n", None),
    ],
)
def test_an_unfinished_merge_is_left_out_and_a_page_about_merges_is_not(
    home: Home, write: Write, text: str, line: int | None
) -> None:
    write("global/a.md", text)
    snapshot = Store(home).scan()
    assert ("global/a" in snapshot.entries) == (line is None)
    assert [(p.line, p.code) for p in snapshot.problems] == ([(line, "merge-markers")] if line else [])


def test_links_out_of_the_library_and_loops_are_never_followed(
    home: Home, write: Write, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("theirs")
    write("global/a.md", "mine")
    base = Path(home.knowledge)
    (base / "global/out").symlink_to(outside)
    (base / "global/loop").symlink_to(base)
    (base / "global/secret.md").symlink_to(outside / "secret.md")
    (base / "global/dangling.md").symlink_to(base / "nowhere")
    store = Store(home)
    snapshot = store.scan()
    assert set(snapshot.entries) == {"global/a"}
    assert set(left_out(snapshot)) == {
        "global/out",
        "global/loop",
        "global/secret.md",
        "global/dangling.md",
    }
    for id in ("global/out/secret", "global/secret", "global/loop/global/a"):
        with pytest.raises(BadPath, match="link"):
            store.read(id)


def test_the_library_may_itself_be_a_link_and_may_be_replaced(home: Home, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(name)
    base = Path(home.knowledge)
    base.symlink_to(tmp_path / "one")
    store = Store(home)
    assert set(store.scan().entries) == {"one"}
    base.unlink()
    base.symlink_to(tmp_path / "two")
    assert set(store.scan().entries) == {"two"}


def test_strange_files_do_not_stop_the_scan(home: Home, write: Write) -> None:
    write("global/a.md", "words")
    base = Path(home.knowledge)
    os.mkfifo(base / "global/pipe.md")
    (base / "global/folder.md").mkdir()
    write("global/folder.md/inner.md", "words")
    write("global/big.md", b"x" * (store_module.FILE_LIMIT + 1))
    write("global/line\nbreak.md", "words")
    Path(os.fsdecode(os.fsencode(home.knowledge) + b"/global/\xff.md")).write_text("words")
    snapshot = Store(home).scan()
    assert set(snapshot.entries) == {"global/a", "global/folder.md/inner"}
    assert sorted(p.code for p in snapshot.problems) == ["bad-name", "bad-name", "too-large"]
    for problem in snapshot.problems:
        problem.path.encode("utf-8")


def test_a_rescan_gives_the_same_object_until_something_changes(home: Home, write: Write) -> None:
    write("global/a.md", "one")
    write("global/b.md", "two")
    settle(home)
    store = Store(home)
    first = store.scan()
    assert store.scan() is first
    entry = first.entries["global/b"]
    write("global/a.md", "changed")
    second = store.scan()
    assert second is not first and second.entries["global/a"].body == "changed"
    assert second.entries["global/b"] is entry
    Path(home.knowledge, "global/a.md").unlink()
    assert set(store.scan().entries) == {"global/b"}
    write("_archive/global/a.md", "old")
    assert store.scan().archived == {"global/a"}
    write("global/p.png", "")
    assert store.scan().files == {"global/p.png"}


def test_unchanged_files_are_not_read_again(
    home: Home, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        write(f"global/{number}.md", "words")
    settle(home)
    store = Store(home)
    store.scan()
    read: list[str] = []
    real = store_module.read_limited

    def counted(path: str, limit: int) -> bytes:
        read.append(path)
        return real(path, limit)

    monkeypatch.setattr(store_module, "read_limited", counted)
    write("global/3.md", "WORDS")
    os.utime(Path(home.knowledge, "global/3.md"), (NOW - 500_000_000, NOW - 500_000_000))
    assert store.scan().entries["global/3"].body == "WORDS"
    assert [os.path.basename(path) for path in read] == ["3.md"]


def test_a_change_within_one_tick_of_the_clock_is_seen(home: Home, write: Write) -> None:
    store = Store(home)
    path = write("global/a.md", "one")
    before = path.stat()
    assert store.scan().entries["global/a"].body == "one"
    with path.open("r+") as file:
        file.write("two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.scan().entries["global/a"].body == "two"


def test_reading_an_id_that_is_not_there_names_similar_ones(home: Home, write: Write) -> None:
    write("global/python/use-uv.md", "words")
    store = Store(home)
    assert store.read("global/python/use-uv").body == "words"
    with pytest.raises(NoSuchEntry) as caught:
        store.read("global/python/use_uv")
    assert caught.value.near == ["global/python/use-uv"]
    with pytest.raises(NoSuchEntry, match="global/python/use-uv"):
        store.read("use-uv")
    for bad in ("../secret", "/etc/passwd", "", "a\0b", ".obsidian/x"):
        with pytest.raises(BadPath):
            store.read(bad)


def test_names_in_decomposed_unicode_have_composed_ids(home: Home, write: Write) -> None:
    write("global/cafe\u0301.md", "words")
    store = Store(home)
    assert set(store.scan().entries) == {"global/caf\u00e9"}
    assert store.read("global/caf\u00e9").body == "words"


def test_case_twins_are_reported_folders_once(home: Home, write: Write) -> None:
    for path in (
        "global/Uv.md",
        "global/uv.md",
        "global/Python/a.md",
        "global/python/b.md",
        "global/python/c.md",
    ):
        write(path, "words")
    if len(os.listdir(Path(home.knowledge, "global"))) < 4:
        pytest.skip("this file system ignores case")
    found = [p for p in lint(Store(home).scan(), NOW) if p.code == "case-twins"]
    assert [p.path for p in found] == ["global/python", "global/uv.md"]
