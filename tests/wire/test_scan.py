"""A catalog that the hook makes itself: the first session of a fresh home is answered too."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.library.entry import parse
from ultan.wire import remember, scan
from ultan.wire.files import FileLock
from ultan.wire.home import Home
from ultan.wire.lexical import Catalog

CASES = Path(__file__).resolve().parent.parent / "cases"
NOW = 1_796_000_000.0


def test_a_home_without_a_catalog_is_searched_all_the_same(home: Home) -> None:
    shutil.copytree(CASES / "hook-output-envelope/knowledge", home.knowledge)
    assert scan.refresh(home)
    found = Catalog.open(home.catalog).search("shall we deploy to production this Friday afternoon?", None)
    assert [row["id"] for row in found] == ["global/deploy/no-friday-deploys"]
    assert found[0]["excerpt"] == "Never start a production deploy on a Friday. Wait for Monday."
    assert Catalog.open(home.catalog).search("rename the variable foo to bar", None) == []
    assert not scan.refresh(home)


@pytest.mark.parametrize("case", ["retrieval-tiny-library", "i18n-cjk-recall"])
def test_the_small_libraries_of_the_cases_are_answered_without_a_daemon(home: Home, case: str) -> None:
    folder = next((CASES / case).rglob("lib1/knowledge"), CASES / case / "knowledge")
    shutil.copytree(folder, home.knowledge)
    scan.refresh(home)
    for question in json.loads((CASES / case / "queries.json").read_text()):
        found = Catalog.open(home.catalog).search(question["q"], None)
        assert [row["id"] for row in found][:1] == ([question["want"]] if question["want"] else [])


def test_a_note_that_was_just_saved_is_known_to_the_next_prompt(home: Home) -> None:
    scan.refresh(home)
    os.utime(home.catalog, (NOW - 10**8, NOW - 10**8))
    saved = remember.save(home, "never deploy to production on a Friday", "/nowhere", "s", NOW)
    assert scan.refresh(home)
    found = Catalog.open(home.catalog).search("do we deploy to production on a Friday?", None)
    assert [row["id"] for row in found] == [saved.id]


def test_a_living_daemon_is_left_to_make_its_own(home: Home) -> None:
    scan.refresh(home)
    os.utime(home.catalog, (1, 1))
    remember.save(home, "tabs", "/nowhere", "s", NOW)
    with FileLock(home.daemon_lock, 1.0):
        assert not scan.refresh(home)


def test_a_large_library_waits_for_the_daemon(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "MOST_FILES", 2)
    for number in range(4):
        path = Path(home.knowledge, f"global/{number}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a note")
    assert not scan.refresh(home)
    assert not Path(home.catalog).exists()


def test_what_the_library_cannot_read_for_sure_is_left_out(home: Home) -> None:
    shutil.copytree(CASES / "library-frontmatter-zoo/knowledge", home.knowledge)
    found = scan.rows(home.knowledge, 1e18)
    assert found is not None
    for row in found:
        raw = Path(home.knowledge, f"{row['id']}.md").read_bytes()
        entry = parse(f"{row['id']}.md", raw)
        assert entry.readable, row["id"]
        assert (row["title"], row["type"], row["status"]) == (entry.title, entry.type, entry.status)
    assert "global/zoo/good" in [row["id"] for row in found]


@given(
    st.dictionaries(
        st.sampled_from(["title", "type", "status", "applies_when", "tags", "mood"]),
        st.text(alphabet="ab:#-'\"[],{}*&!|> \\\t@`%?", max_size=12),
        max_size=4,
    )
)
def test_no_header_is_understood_otherwise_than_the_library_does(fields: dict[str, str]) -> None:
    head = "".join(f"{key}: {value}\n" for key, value in fields.items())
    values = scan.header(head.rstrip("\n"))
    entry = parse("global/a.md", f"---\n{head}---\nbody\n".encode())
    title = values.get("title") if values is not None else None
    if entry.readable and isinstance(title, str) and title.strip():
        assert " ".join(title.split()) == entry.title
    if values is not None and not entry.readable:
        raise AssertionError(f"taken for readable: {head!r}")


def test_no_value_of_two_marks_is_understood_otherwise_than_the_library_does() -> None:
    marks = "a:#-'\"[],{}*&!|> %@`?=<.~0\\"
    for key in ("title", "status", "applies_when", "tags"):
        for value in map("".join, itertools.product(marks, repeat=2)):
            values = scan.header(f"{key}: {value}")
            if values is not None:
                assert parse("global/a.md", f"---\n{key}: {value}\n---\nbody\n".encode()).readable, value
