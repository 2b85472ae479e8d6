from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ultan.library import scopes
from ultan.library.entry import parse
from ultan.library.errors import UnreadableEntry
from ultan.library.journal import Batch, Journal
from ultan.library.lint import lint
from ultan.library.store import Store
from ultan.wire.home import Home

NOW = 1796092800.0
Write = Callable[..., Path]
ACME = ["remote:github.com/acme/shop", "path:/home/dev/shop"]
OTHER = ["remote:github.com/other/shop", "path:/home/dev/clients/shop"]


def claim(home: Home, mine: list[str], slug: str | None = None) -> str:
    found, actions = scopes.claim_project(Store(home).scan(), mine, NOW, slug)
    if actions:
        Journal(home).apply(Batch(actions, "user", "claim"), NOW)
    return found


def project(home: Home, mine: list[str]) -> str | None:
    return scopes.project_for(Store(home).scan(), mine)


def test_a_page_applies_in_its_own_project_and_a_global_one_everywhere() -> None:
    everywhere, shop = parse("global/a.md", b"x"), parse("projects/shop/a.md", b"x")
    assert scopes.in_scope(everywhere, None) and scopes.in_scope(everywhere, "shop")
    assert scopes.in_scope(shop, "shop")
    assert not scopes.in_scope(shop, "other") and not scopes.in_scope(shop, None)


def test_two_repositories_of_one_name_are_two_projects(home: Home) -> None:
    assert claim(home, ACME) == "shop"
    second = claim(home, OTHER)
    assert second != "shop"
    assert project(home, ACME) == "shop" and project(home, OTHER) == second
    assert project(home, ["remote:github.com/acme/shop", "path:/elsewhere/clone"]) == "shop"
    assert claim(home, ACME) == "shop"
    assert len(Journal(home).log()) == 2


def test_a_folder_without_identities_goes_by_its_name_until_it_is_claimed(home: Home, write: Write) -> None:
    write("projects/shop/a.md", "x")
    assert project(home, OTHER) == "shop"
    assert claim(home, ACME) == "shop"
    assert project(home, ACME) == "shop" and project(home, OTHER) is None


def test_a_person_s_readme_learns_the_identity_and_keeps_its_words(home: Home, write: Write) -> None:
    readme = write("projects/shop/README.md", "---\r\ntitle: The shop\r\n---\r\n# Mine\r\n\r\nWords.\r\n")
    assert claim(home, ACME) == "shop"
    text = readme.read_bytes().decode()
    assert text.startswith("---\r\ntitle: The shop\r\nidentities: ")
    assert text.endswith("---\r\n# Mine\r\n\r\nWords.\r\n")
    assert project(home, ACME) == "shop"


def test_a_readme_that_cannot_be_read_is_left_alone(home: Home, write: Write) -> None:
    write("projects/shop/README.md", "---\ntitle: a: b\n---\n")
    with pytest.raises(UnreadableEntry):
        claim(home, ACME)


def test_a_folder_without_a_remote_learns_the_one_it_gets(home: Home) -> None:
    assert claim(home, ["path:/home/dev/shop"]) == "shop"
    assert claim(home, ACME) == "shop"
    assert scopes.projects(Store(home).scan()) == {
        "shop": ["path:/home/dev/shop", "remote:github.com/acme/shop"]
    }


def test_a_project_may_be_claimed_under_a_chosen_name(home: Home) -> None:
    assert claim(home, ACME, "store-front") == "store-front"
    assert project(home, ACME) == "store-front"


def test_an_identity_listed_twice_is_reported_and_the_first_counts(home: Home, write: Write) -> None:
    for slug in ("a", "b"):
        write(f"projects/{slug}/README.md", "---\nidentities: [remote:github.com/acme/shop]\n---\n")
    assert project(home, ACME) == "a"
    found = [p for p in lint(Store(home).scan(), NOW) if p.code == "shared-identity"]
    assert [p.path for p in found] == ["projects/b/README.md"]


def test_the_catalog_learns_identities_and_names(home: Home, write: Write) -> None:
    write("projects/shop/README.md", "---\nidentities: remote:github.com/acme/shop\n---\n")
    write("projects/plain/a.md", "x")
    assert scopes.identity_map(Store(home).scan()) == {
        "remote:github.com/acme/shop": "shop",
        "name:plain": "plain",
    }


def test_a_project_rule_stands_before_the_global_one_it_supersedes(home: Home, write: Write) -> None:
    write("global/pip.md", "x")
    write("global/uv.md", "x")
    write("projects/shop/pixi.md", "---\nsupersedes: [global/uv]\n---\nx")
    write("global/new.md", "---\nsupersedes: [global/pip]\n---\nx")
    write("global/stale.md", "---\nstatus: stale\nsupersedes: [global/new]\n---\nx")
    entries = Store(home).scan().entries
    assert scopes.overridden(entries, None) == {"global/pip"}
    assert scopes.overridden(entries, "shop") == {"global/pip", "global/uv"}
    assert scopes.overridden(entries, "other") == {"global/pip"}
