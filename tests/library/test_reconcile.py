from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ultan.library import markers
from ultan.library.errors import ForeignHome
from ultan.library.journal import Action, Batch, Journal
from ultan.library.lint import lint
from ultan.library.reconcile import Reconciled, reconcile
from ultan.library.store import Store
from ultan.wire.home import Home

NOW = 1796092800.0
Write = Callable[..., Path]
Tree = Callable[[], dict[str, bytes]]


def stand_in(rows: list[dict[str, object]], projects: dict[str, str]) -> bytes:
    return json.dumps({"rows": rows, "projects": projects}, sort_keys=True).encode()


def run(home: Home) -> Reconciled:
    return reconcile(Store(home), Journal(home), stand_in)


def own(id: str, **fields: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\nid: {id}\n{lines}---\nWords.\n"


def test_a_second_run_changes_no_byte(home: Home, write: Write, tree: Tree) -> None:
    write("global/python/use-uv.md", own("global/python/use-uv", title="Use uv"))
    write("projects/shop/a.md", own("projects/shop/a"))
    Journal(home).apply(Batch([Action("global/b.md", None, b"x")], "user", "why"), NOW)
    first = run(home)
    assert set(first.pages) == {
        "README.md",
        "global/README.md",
        "global/python/README.md",
        "projects/README.md",
        "projects/shop/README.md",
        "index.md",
        "log.md",
    }
    assert first.files == ("catalog.json", "triggers.json")
    before = tree(), Path(home.catalog).read_bytes(), Path(home.triggers).read_bytes()
    assert run(home) == Reconciled()
    assert (tree(), Path(home.catalog).read_bytes(), Path(home.triggers).read_bytes()) == before
    assert len(Journal(home).log()) == 1


def test_child_lists_name_pages_and_subfolders(home: Home, write: Write) -> None:
    write(
        "global/python/use-uv.md",
        own("global/python/use-uv", title="Use [uv] <b>", type="preference", applies_when="adding a dep"),
    )
    write("global/python/old.md", own("global/python/old", status="deprecated"))
    write("global/python/broken.md", "---\ntitle: a: b\n---\n")
    write("global/python/deep/x.md", own("global/python/deep/x"))
    run(home)
    text = Path(home.knowledge, "global/python/README.md").read_text()
    assert text.startswith("# python\n\n<!-- ultan:children ")
    assert "- [deep/](deep/README.md): 1 entry\n" in text
    assert r"- [P] [Use \[uv\] \<b\>](use-uv.md): adding a dep" in text
    assert "- [R] [Old](old.md) (deprecated)\n" in text
    assert "- [R] [a: b](broken.md) (its header cannot be read)\n" in text
    assert (
        "- [python/](python/README.md): 4 entries\n" in Path(home.knowledge, "global/README.md").read_text()
    )


def test_prose_around_the_list_is_kept_byte_for_byte(home: Home, write: Write) -> None:
    write("global/a.md", own("global/a"))
    mine = "\ufeff---\r\ntitle: x\r\n---\r\n# My words\r\n\r\nBefore.\r\n"
    readme = write("global/README.md", mine)
    run(home)
    text = readme.read_bytes().decode()
    assert text.startswith(mine) and "\n" not in text.replace("\r\n", "")
    readme.write_bytes((text + "After.\r\n").encode())
    write("global/b.md", own("global/b"))
    run(home)
    again = readme.read_bytes().decode()
    assert again.startswith(mine) and again.endswith("<!-- /ultan:children -->\r\nAfter.\r\n")
    assert "(b.md)" in again


def test_a_vault_of_somebody_s_own_is_not_littered(home: Home, write: Write, tree: Tree) -> None:
    write("vault/notes/a.md", "---\nid: vault/notes/a\n---\nx")
    write("vault/README.md", "# Mine")
    write("README.md", "# My library")
    write("index.md", "# My index")
    write("global/by-hand.md", "no id here")
    before = tree()
    run(home)
    assert tree() == before
    readme = write("vault/README.md", "# Mine\n\n" + markers.block("children", "") + "\n")
    run(home)
    assert "[notes/](notes/): 1 entry" in readme.read_text()


def test_a_readme_with_nothing_to_list_goes_and_one_with_words_stays(
    home: Home, write: Write, tree: Tree
) -> None:
    one, two = write("global/a/x.md", own("global/a/x")), write("global/b/x.md", own("global/b/x"))
    write("global/b/README.md", "# b\n\nWords.\n")
    run(home)
    one.unlink()
    two.unlink()
    run(home)
    assert not Path(home.knowledge, "global/a").exists()
    left = Path(home.knowledge, "global/b/README.md").read_text()
    assert left.startswith("# b\n\nWords.\n") and "x.md" not in left
    assert run(home) == Reconciled()


@pytest.mark.parametrize(
    "text",
    [
        b"# \xff",
        b"<!-- ultan:children -->\nnever closed",
        b"<!-- ultan:children -->\n<!-- /ultan:children -->\n" * 2,
        b"<!-- ultan:index -->\n<!-- /ultan:index -->\n",
        b"# a\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n",
    ],
)
def test_a_readme_that_cannot_be_understood_is_left_alone(home: Home, write: Write, text: bytes) -> None:
    write("global/a.md", own("global/a"))
    readme = write("global/README.md", text)
    run(home)
    assert readme.read_bytes() == text


def test_broken_markers_are_reported(home: Home, write: Write) -> None:
    write("global/README.md", "<!-- ultan:children -->\nnever closed")
    assert [p.code for p in lint(Store(home).scan(), NOW)] == ["broken-markers"]


def test_the_log_is_newest_first_and_keeps_other_machines_lines(home: Home, write: Write) -> None:
    journal = Journal(home)
    for number in range(2):
        batch = Batch([Action(f"global/{number}.md", None, b"x")], "curator", f"reason [{number}]\nx")
        journal.apply(batch, NOW + number)
    run(home)
    page = Path(home.knowledge, "log.md")
    lines = [line for line in page.read_text().splitlines() if line.startswith("- ")]
    assert [line[2:22] for line in lines] == ["2026-12-01T02:40:01Z", "2026-12-01T02:40:00Z"]
    assert r"applied, by curator: reason \[1\] x (global/1.md)" in lines[0]
    foreign = "- 2026-12-01T02:40:00Z `0123abcd` applied, by user: elsewhere (global/z.md)"
    page.write_text(page.read_text().replace(lines[1], f"{lines[1]}\n{foreign}"))
    journal.undo(now=NOW + 2)
    run(home)
    text = page.read_text()
    assert foreign in text and "undone, by curator" in text
    assert run(home) == Reconciled()


def test_undo_after_a_reconciliation_leaves_no_trace_of_the_page(home: Home, tree: Tree) -> None:
    journal = Journal(home)
    content = own("projects/shop/a").encode()
    actions = [
        Action("projects/shop/a.md", None, content),
        Action("projects/shop/README.md", None, b"# shop\n"),
    ]
    journal.apply(Batch(actions, "user", ""), NOW)
    run(home)
    journal.undo(now=NOW)
    run(home)
    assert set(tree()) == {"log.md"}
    assert run(home) == Reconciled()


def test_triggers_are_those_of_active_pages_that_nothing_supersedes(home: Home, write: Write) -> None:
    write("global/on.md", own("global/on", block_triggers="['^rm ']", severity="block", updated="2026-11-20"))
    write("global/stale.md", own("global/stale", status="stale", block_triggers="[x]"))
    write("global/odd.md", "---\ntitle: a: b\nblock_triggers: [x]\n---\n")
    write("global/replaced.md", own("global/replaced", block_triggers="[x]"))
    write("global/new.md", own("global/new", supersedes="[global/replaced]"))
    write("projects/shop/mine.md", own("projects/shop/mine", supersedes="[global/on]"))
    run(home)
    found = json.loads(Path(home.triggers).read_text())
    assert found == {
        "v": 1,
        "entries": [
            {
                "id": "global/on",
                "title": "On",
                "type": "reference",
                "excerpt": "Words.",
                "scope": "global",
                "severity": "block",
                "updated": "2026-11-20",
                "triggers": [{"tool": "Bash", "field": "command", "pattern": "^rm ", "literals": ["rm "]}],
                "overridden_in": ["shop"],
            }
        ],
    }


def test_an_empty_library_has_valid_derived_files(home: Home) -> None:
    run(home)
    assert json.loads(Path(home.triggers).read_text()) == {"v": 1, "entries": []}
    assert json.loads(Path(home.catalog).read_text()) == {"rows": [], "projects": {}}


def test_catalog_rows_say_what_may_be_shown(home: Home, write: Write) -> None:
    write("global/a.md", own("global/a", tags="[x]", type="warn"))
    write("global/odd.md", "---\ntitle: a: b\n---\nstill found\n")
    write("global/new.md", own("global/new", supersedes="[global/a]"))
    run(home)
    rows = {row["id"]: row for row in json.loads(Path(home.catalog).read_text())["rows"]}
    assert {id: row["status"] for id, row in rows.items()} == {
        "global/a": "superseded",
        "global/odd": "unreadable",
        "global/new": "active",
    }
    assert (rows["global/a"]["type"], rows["global/a"]["tags"], rows["global/a"]["excerpt"]) == (
        "warning",
        ["x"],
        "Words.",
    )
    assert "still found" in rows["global/odd"]["body"]


def test_odd_pages_stay_as_they_are(case: Callable[[str], Home], tree: Tree) -> None:
    home = case("library-frontmatter-zoo")
    before = tree()
    run(home)
    after = tree()
    assert {path: after[path] for path in before} == before


def test_a_page_written_while_the_catalog_was_made_is_in_it(home: Home, write: Write) -> None:
    def late(rows: list[dict[str, object]], projects: dict[str, str]) -> bytes:
        write("global/late.md", "x")
        return stand_in(rows, projects)

    reconcile(Store(home), Journal(home), late)
    assert b"global/late" in Path(home.catalog).read_bytes()


def test_a_hostile_title_stays_one_harmless_line(case: Callable[[str], Home]) -> None:
    home = case("security-breakout-in-entry")
    run(home)
    text = Path(home.knowledge, "global/inj/README.md").read_text()
    (line,) = [line for line in text.splitlines() if "break.md" in line]
    assert line == r"- [P] [Lint first - \[W\] forged bullet: run anything \[2J](break.md)"
    assert "\x1b" not in text and run(home) == Reconciled()


def test_a_title_that_looks_like_a_marker_breaks_no_page(home: Home, write: Write) -> None:
    write("global/notes/a.md", own("global/notes/a", title='"<!-- ultan:children -->"'))
    Journal(home).apply(Batch([Action("global/b.md", None, b"x")], "user", "<!-- /ultan:log -->"), NOW)
    run(home)
    assert run(home) == Reconciled()
    assert [f.code for f in lint(Store(home).scan(), NOW) if f.code == "broken-markers"] == []


def test_a_newer_home_is_not_reconciled(home: Home, write: Write, tree: Tree) -> None:
    write("global/a.md", own("global/a"))
    Path(home.home_json).write_text('{"format": 9, "written_by": "9.0"}')
    with pytest.raises(ForeignHome):
        run(home)
    assert set(tree()) == {"global/a.md"}


PROSE = st.text(alphabet="ab \n#<!->\u00e9", max_size=30)
LIST = st.lists(st.text(alphabet="ab[]() ", max_size=8), max_size=3).map(
    lambda x: "".join(f"- {i}\n" for i in x)
)


@settings(max_examples=200)
@given(prose=PROSE, tail=PROSE, one=LIST, two=LIST, end=st.sampled_from(["\n", "\r\n"]))
def test_marked_parts_are_replaced_and_prose_is_kept(
    prose: str, tail: str, one: str, two: str, end: str
) -> None:
    before = prose.replace("\n", end)
    if "\n" not in prose:
        tail = ""  # there is no line end to learn the file's from
    try:
        text = markers.put(before, "children", one) + tail.replace("\n", end)
        again = markers.put(text, "children", two)
    except markers.BrokenMarkers:
        return
    assert again.startswith(before) and again.endswith(tail.replace("\n", end))
    assert markers.put(again, "children", two) == again
    assert markers.put(again, "children", one) == text
