from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.library.code import code_blocks, inert_spans
from ultan.library.journal import Batch, Journal
from ultan.library.links import Names, backlinks, find, repoint
from ultan.library.lint import lint
from ultan.library.moves import move
from ultan.library.store import Store
from ultan.wire.home import Home

NOW = 1796092800.0
Write = Callable[..., Path]


def targets(body: str) -> list[str]:
    return [link.target for link in find(body)]


@pytest.mark.parametrize(
    ("text", "target", "heading", "alias", "embed"),
    [
        ("[[a/b]]", "a/b", "", "", False),
        ("[[a/b|see b]]", "a/b", "", "see b", False),
        ("[[a/b#Why]]", "a/b", "#Why", "", False),
        ("[[a/b#^b1|the reason]]", "a/b", "#^b1", "the reason", False),
        ("[[a/b^b1]]", "a/b", "^b1", "", False),
        ("![[a/b]]", "a/b", "", "", True),
        ("[[ a/b ]]", "a/b", "", "", False),
        ("[[a/b.md]]", "a/b", "", "", False),
        ("| [[a/b\\|cell]] |", "a/b", "", "cell", False),
        ("[text](a/b.md)", "a/b", "", "", False),
        ("[text](../a%20b.md#why)", "../a b", "#why", "", False),
        ("[text](<a b.md>)", "a b", "", "", False),
    ],
)
def test_every_form_of_link_is_found(text: str, target: str, heading: str, alias: str, embed: bool) -> None:
    (link,) = find(f"x\n\ny {text} z")
    assert (link.target, link.heading, link.alias, link.embed, link.line) == (
        target,
        heading,
        alias,
        embed,
        3,
    )


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]]`",
        "``[[a]] ` ``",
        "`code that\ngoes on [[a]]`",
        "```\n[[a]]\n```",
        "````\n```\n[[a]]\n````",
        "~~~toml\n[[a]]\n~~~",
        "  ```\n  [[a]]\n  ```",
        "```\n[[a]] never closed",
        "    [[a]]",
        "text\n\n\t[[a]]",
        "text\n\n    code\n\n    [[a]]",
        "# Heading\n    [[a]]",
        "- item\n\n      [[a]]",
        "\\[[a]]",
        "\\[\\[a\\]\\]",
        "<!-- [[a]] -->",
        "<!-- \n[[a]]",
        "[[#heading of this page]]",
        "[[]]",
        "[[a\nb]]",
        "![[picture.png]]",
        "[[paper.pdf|p]]",
        "[text](https://example.com/a.md)",
        "[text](mailto:a.md)",
        "[text](/absolute.md)",
        "[text](a.txt)",
        "[text](#a.md)",
    ],
)
def test_code_comments_escapes_and_other_targets_are_no_links(text: str) -> None:
    assert targets(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "text\n    [[a]]",
        "- item\n\n    [[a]]",
        "1. item\n   - inner\n\n     [[a]]",
        "`` ` `` [[a]]",
        "a ` lone tick [[a]]",
        "one ` tick\n\nanother ` [[a]]",
        "```\ncode\n```\n[[a]]",
        "``` not a fence ``` [[a]]",
        "\\\\[[a]]",
        "\\`[[a]]`",
        "`<!--` [[a]] `-->`",
        "> [[a]]",
        "| [[a]] |",
    ],
)
def test_what_only_looks_like_code_does_not_hide_a_link(text: str) -> None:
    assert targets(text) == ["a"]


def test_names_resolve_whole_then_by_a_unique_end_and_are_never_guessed() -> None:
    names = Names(["global/tools/uv", "global/a", "projects/p/a", "global/Case"])

    def to(target: str, source: str = "global/hub") -> tuple[str | None, int]:
        found = names.resolve(find(f"[[{target}]]")[0], source)
        return found.id, len(found.candidates)

    assert to("global/tools/uv") == ("global/tools/uv", 0)
    assert to("/global/tools/uv.md") == ("global/tools/uv", 0)
    assert to("uv") == to("tools/uv") == to("UV") == ("global/tools/uv", 0)
    assert to("a") == (None, 2)
    assert to("p/a") == ("projects/p/a", 0)
    assert to("case") == ("global/Case", 0)
    assert to("missing") == to("ools/uv") == (None, 0)
    assert to("./tools/uv") == ("global/tools/uv", 0)
    assert to("../global/a", "projects/x") == ("global/a", 0)


def test_exact_case_decides_between_twins() -> None:
    names = Names(["global/x/Uv", "global/y/uv"])
    assert names.resolve(find("[[uv]]")[0]).id == "global/y/uv"
    assert names.resolve(find("[[UV]]")[0]).candidates == ("global/x/Uv", "global/y/uv")


def test_the_hub_reports_exactly_its_broken_link(case: Callable[[str], Home]) -> None:
    home = case("library-wikilink-forms")
    found = [p for p in lint(Store(home).scan(), NOW)]
    assert [(p.path, p.line, p.code) for p in found] == [("global/links/hub.md", 21, "broken-link")]
    assert "global/tools/missing" in found[0].message
    assert Path(home.knowledge, "global/links/hub.md").read_text().splitlines()[20].startswith("BROKEN")


def test_a_second_page_of_the_name_makes_the_bare_link_ambiguous(
    case: Callable[[str], Home], write: Write
) -> None:
    home = case("library-wikilink-forms")
    write("global/other/uv.md", "another")
    found = [p for p in lint(Store(home).scan(), NOW) if p.code == "ambiguous-link"]
    assert [(p.line, "global/other/uv, global/tools/uv" in p.message) for p in found] == [(20, True)]


def test_moving_a_page_points_every_link_to_it_and_touches_nothing_else(
    case: Callable[[str], Home], tree: Callable[[], dict[str, bytes]]
) -> None:
    home = case("library-wikilink-forms")
    before = tree()
    store = Store(home)
    actions = move(store, store.scan(), "global/tools/uv", "global/python/uv", NOW)
    Journal(home).apply(Batch(actions, "user", "move"), NOW)
    after = tree()
    assert set(after) == {"global/python/uv.md", "global/links/hub.md"}
    hub = before["global/links/hub.md"].decode()
    expected = "".join(
        line.replace("global/tools/uv", "global/python/uv") if line.startswith("OK ") else line
        for line in hub.splitlines(keepends=True)
    )
    assert after["global/links/hub.md"].decode() == expected
    assert b"\nid: global/python/uv\n" in after["global/python/uv.md"]
    assert [p.code for p in lint(store.scan(), NOW)] == ["broken-link"]
    Journal(home).undo(now=NOW)
    assert tree() == before


def test_moving_follows_relations_relative_links_and_the_scope(home: Home, write: Write) -> None:
    write("global/a.md", "---\nid: global/a\nscope: global\n---\nSee [b](sub/b.md) and [[c]].\n")
    write("global/sub/b.md", "---\nsuperseded_by: [global/a]\n---\nBack to [a](../a.md#x) and ../a.md\r\n")
    write("global/c.md", "---\nsupersedes: ['[[global/a]]', global/z]\n---\nx")
    write("global/plain.md", "mentions a only")
    store = Store(home)
    actions = move(store, store.scan(), "global/a", "projects/shop/new/a", NOW)
    Journal(home).apply(Batch(actions, "user", ""), NOW)
    base = Path(home.knowledge)
    moved = (base / "projects/shop/new/a.md").read_text()
    assert "[b](../../../global/sub/b.md)" in moved and "[[c]]" in moved
    assert "scope: project:shop" in moved.replace('"', "") and "id: projects/shop/new/a" in moved
    assert "[a](../../projects/shop/new/a.md#x) and ../a.md" in (base / "global/sub/b.md").read_text()
    assert "superseded_by: [projects/shop/new/a]" in (base / "global/sub/b.md").read_text()
    assert "supersedes: [projects/shop/new/a, global/z]" in (base / "global/c.md").read_text()
    assert {a.path for a in actions} == {
        "global/a.md",
        "projects/shop/new/a.md",
        "global/sub/b.md",
        "global/c.md",
    }


def test_short_links_stay_short_while_they_are_unique() -> None:
    names = Names(["global/uv", "global/hub", "global/y/uv2"])
    assert repoint("[[uv]]", {"global/uv": "global/x/uv"}, names, "global/hub") == "[[uv]]"
    assert repoint("[[uv|u]]", {"global/uv": "global/x/pip"}, names, "global/hub") == "[[global/x/pip|u]]"
    assert repoint("[[uv2]] [[uv]]", {"global/y/uv2": "global/y/uv"}, names, "global/hub") == (
        "[[global/y/uv]] [[global/uv]]"
    )


def test_backlinks_name_the_pages_that_link_here() -> None:
    bodies = {"a": "[[b]] [[b]] [[missing]] [[a]]", "b": "[[c]]", "c": "`[[a]]`"}
    assert backlinks(bodies, Names(bodies)) == {"b": ["a"], "c": ["b"]}


PIECES = "[[a]] [[b|x]] ![[a#h]] ` `` ``` ~~~ - \\ <!-- --> [t](a.md) text [[ ]] | # é".split()
MARKDOWN = st.lists(st.sampled_from([*PIECES, " ", "    ", "\t", "\n", "\n\n", "\r\n"]), max_size=25).map(
    "".join
)


@given(MARKDOWN)
def test_repointing_changes_exactly_the_links(body: str) -> None:
    names = Names(["a", "b", "hub"])
    links = find(body)
    changed = repoint(body, {"a": "new/place"}, names, "hub")
    again = find(changed)
    assert [link.target for link in again] == [
        "new/place" if link.target == "a" else link.target for link in links
    ]
    assert [(x.heading, x.alias, x.embed) for x in again] == [(x.heading, x.alias, x.embed) for x in links]
    back = repoint(changed, {"new/place": "a"}, Names(["new/place", "b", "hub"]), "hub")
    assert back == body


@given(MARKDOWN)
def test_code_is_found_in_order_without_overlap(body: str) -> None:
    place = 0
    for block in code_blocks(body):
        assert place <= block.start < block.stop <= len(body)
        place = block.stop
    assert all(0 <= start < stop <= len(body) for start, stop in inert_spans(body))
