"""The answer without a daemon."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import CASES
from ultan.library.derived import catalog_projects, catalog_rows
from ultan.library.store import Store
from ultan.wire.catalog import Pages
from ultan.wire.home import Home
from ultan.wire.lexical import Catalog, build_catalog
from ultan.wire.tokens import counts


def entry(id: str, title: str, body: str = "", **more: object) -> dict[str, object]:
    base: dict[str, object] = {
        "id": id,
        "title": title,
        "type": "preference",
        "scope": "global",
        "status": "active",
        "updated": "2026-01-10",
        "applies_when": "",
        "tags": [],
        "body": body,
        "excerpt": body,
    }
    return {**base, **more}


FRIDAY = entry("global/friday", "No deploys on Fridays", "Never start a production deploy on a Friday.")
RESPX = entry("global/respx", "Mock HTTP with respx", "Use respx and not vcr cassettes for HTTP in tests.")


def written(home: Home, *rows: dict[str, object], projects: dict[str, str] | None = None) -> Catalog:
    Path(home.catalog).write_bytes(build_catalog(list(rows), projects or {}))
    return Catalog.open(home.catalog)


def ids(found: list[dict[str, object]]) -> list[object]:
    return [row["id"] for row in found]


def library_of(home: Home, folder: Path) -> Catalog:
    """The catalog of a folder of markdown, made as the daemon makes it."""
    Path(home.knowledge).symlink_to(folder)
    snapshot = Store(home).scan()
    Path(home.catalog).write_bytes(build_catalog(catalog_rows(snapshot), catalog_projects(snapshot)))
    return Catalog.open(home.catalog)


def test_what_applies_is_found_and_what_does_not_is_not(home: Home) -> None:
    catalog = written(home, FRIDAY, RESPX)
    found = catalog.search("shall we deploy to production this Friday afternoon?", None)
    assert ids(found) == ["global/friday"]
    assert set(found[0]) == {"id", "title", "type", "updated", "scope", "excerpt", "score"}
    assert catalog.search("rename the variable foo to bar", None) == []
    assert catalog.search("", None) == []


@pytest.mark.parametrize(
    "question", json.loads((CASES / "retrieval-tiny-library/queries.json").read_text("utf-8"))
)
def test_a_library_of_two_ranks_its_exact_match_first(home: Home, question: dict[str, str]) -> None:
    catalog = library_of(home, CASES / "retrieval-tiny-library/lib1/knowledge")
    found = catalog.search(question["q"], None)
    assert ids(found)[:1] == ([question["want"]] if question["want"] else [])


@pytest.mark.parametrize("library", ["lib0", "lib-empty-bodies"])
def test_a_library_of_nothing_says_nothing(home: Home, library: str) -> None:
    catalog = library_of(home, CASES / "retrieval-tiny-library" / library / "knowledge")
    assert catalog.search("anything at all, --no-verify", "shop") == []


@pytest.mark.parametrize("question", json.loads((CASES / "i18n-cjk-recall/queries.json").read_text("utf-8")))
def test_questions_without_spaces_find_their_rule(home: Home, question: dict[str, str]) -> None:
    catalog = library_of(home, CASES / "i18n-cjk-recall/knowledge")
    found = catalog.search(question["q"], None)
    assert ids(found)[:1] == ([question["want"]] if question["want"] else [])


def test_only_active_entries_in_scope_are_considered(home: Home) -> None:
    catalog = written(
        home,
        {**FRIDAY, "id": "projects/shop/a", "scope": "project:shop"},
        {**FRIDAY, "id": "projects/bank/a", "scope": "project:bank"},
        {**FRIDAY, "id": "global/old", "status": "deprecated"},
        {**FRIDAY, "id": "global/overruled", "overridden_in": ["shop"]},
    )
    question = "may I deploy on Friday?"
    assert set(ids(catalog.search(question, "shop"))) == {"projects/shop/a"}
    assert set(ids(catalog.search(question, "bank"))) == {"projects/bank/a", "global/overruled"}
    assert ids(catalog.search(question, None)) == ["global/overruled"]
    assert ids(catalog.search(question, "unknown")) == ["global/overruled"]


def test_what_was_shown_is_left_out_and_makes_room_for_the_next(home: Home) -> None:
    catalog = written(home, *({**FRIDAY, "id": f"global/{n}"} for n in range(5)), RESPX)
    first = ids(catalog.search("deploy on Friday?", None, limit=2))
    second = ids(catalog.search("deploy on Friday?", None, limit=2, exclude=frozenset(map(str, first))))
    assert len(first) == len(second) == 2
    assert not set(first) & set(second)


def test_a_project_is_known_by_its_identities(home: Home) -> None:
    known = {"remote:example.org/acme/shop": "shop", "path:/home/dev/bank": "bank", "name:tools": "tools"}
    catalog = written(home, FRIDAY, projects=known)
    assert catalog.project_for(["remote:example.org/acme/shop", "path:/elsewhere"]) == "shop"
    assert catalog.project_for(["path:/home/dev/bank"]) == "bank"
    assert catalog.project_for(["path:/home/dev/tools"]) == "tools"
    assert catalog.project_for(["path:/home/dev/other"]) is None
    assert catalog.project_for([]) is None


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"null", b"\0\0", b'{"v":2,"kind":"ultan-catalog"}\n', b"{" * 600]
)
def test_a_broken_or_foreign_catalog_is_an_empty_one(home: Home, content: bytes) -> None:
    Path(home.catalog).write_bytes(content)
    catalog = Catalog.open(home.catalog)
    assert len(catalog) == 0
    assert catalog.search("deploy on Friday", None) == []
    assert catalog.project_for(["path:/x"]) is None


def test_a_missing_catalog_is_an_empty_one(home: Home) -> None:
    assert Catalog.open(home.catalog).search("deploy", None) == []


@given(cut=st.integers(0, 2000), byte=st.integers(0, 255))
@settings(max_examples=150)
def test_a_damaged_catalog_never_raises(
    tmp_path_factory: pytest.TempPathFactory, cut: int, byte: int
) -> None:
    data = bytearray(build_catalog([FRIDAY, RESPX], {"path:/x": "shop"}))
    data[cut % len(data)] = byte
    path = tmp_path_factory.mktemp("damaged") / "catalog.json"
    path.write_bytes(data)
    Catalog.open(str(path)).search("deploy with respx on Friday", "shop")
    path.write_bytes(data[: cut % len(data)])
    assert Catalog.open(str(path)).search("deploy with respx on Friday", "shop") == []


_WORDS = st.text("abcXYZ.-_+/#'é日本の 0123", max_size=40)


@given(st.lists(st.tuples(_WORDS, _WORDS, st.sampled_from(["global", "project:a", "project:b"])), max_size=8))
def test_the_file_is_one_json_object_and_every_word_is_found_in_it(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str, str]]
) -> None:
    rows = [entry(f"id/{n}", title, body, scope=scope) for n, (title, body, scope) in enumerate(texts)]
    data = build_catalog(rows, {"path:/é": "a"})
    assert len(json.loads(data)["rows"]) == len(rows)
    path = tmp_path_factory.mktemp("whole") / "catalog.json"
    path.write_bytes(data)
    pages = Pages(str(path))
    by_id = {str(pages.row(number)["id"]): number for number in range(pages.entries)}
    held = {str(row["id"]): counts(row) for row in rows}
    for token in {token for found in held.values() for token in found}:
        holders, at = pages.find(token)
        numbers, gains = pages.posting(at)
        assert numbers == sorted(by_id[id] for id, found in held.items() if token in found)
        assert holders == len(numbers)
        assert all(gain > 0 for gain in gains)
    assert pages.find("no such token") == (0, 0)


def test_counts_that_are_given_save_tokenizing_and_change_nothing() -> None:
    given_counts = [{**row, "counts": counts(row)} for row in (FRIDAY, RESPX)]
    assert build_catalog(given_counts, {}) == build_catalog([FRIDAY, RESPX], {})


def test_the_same_library_in_another_order_is_the_same_file() -> None:
    assert build_catalog([FRIDAY, RESPX], {}) == build_catalog([RESPX, FRIDAY], {})


def test_a_huge_paste_is_answered_by_its_question(home: Home) -> None:
    rng = random.Random(1)
    paste = " ".join(f"w{rng.randrange(10**6)}" for _ in range(250_000))
    catalog = written(home, FRIDAY, RESPX)
    assert isinstance(catalog.search("deploy on Friday?\n" + paste, None), list)
