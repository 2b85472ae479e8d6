from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.library.entry import Entry, Trigger, body_hash, parse
from ultan.library.store import Store
from ultan.wire.home import Home

FULL = r"""---
id: global/python/use-uv   # the path
title: Use uv for Python environments
type: preference
scope: global
status: active
applies_when: adding a dependency
  or creating a virtualenv
tags: [python, packaging]
created: 2026-11-03
updated: 2026-11-20
encoding_strength: 0.8
reinforced: 2
last_reinforced: 2026-11-20
fired_helpful: 3
pinned: true
requires_approval: yes
source: {by: user, session: abc, quote: "always use uv, not pip"}
supersedes: [global/python/use-pip]
superseded_by: []
block_triggers: [{tool: Bash, field: command, pattern: '\bpip install\b'}]
severity: block
curated: 9f2c
mood: sunny
---

# Use uv
"""


def body_entry(header: str, path: str = "global/a.md") -> Entry:
    return parse(path, f"---\n{header}\n---\nbody\n".encode())


def codes(entry: Entry) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in entry.problems]


def test_every_field_of_a_full_header_is_read() -> None:
    entry = parse("global/python/use-uv.md", FULL.encode())
    assert entry.problems == () and entry.readable and entry.editable
    assert (entry.id, entry.title, entry.type) == (
        "global/python/use-uv",
        "Use uv for Python environments",
        "preference",
    )
    assert entry.applies_when == "adding a dependency or creating a virtualenv"
    assert entry.tags == ("python", "packaging")
    assert (entry.created, entry.updated, entry.last_reinforced) == ("2026-11-03", "2026-11-20", "2026-11-20")
    assert (entry.encoding_strength, entry.reinforced, entry.fired_helpful) == (0.8, 2, 3)
    assert entry.pinned and entry.requires_approval
    assert dict(entry.source) == {"by": "user", "session": "abc", "quote": "always use uv, not pip"}
    assert entry.supersedes == ("global/python/use-pip",) and entry.superseded_by == ()
    assert entry.block_triggers == (Trigger("Bash", "command", r"\bpip install\b"),)
    assert (entry.severity, entry.curated) == ("block", "9f2c")
    assert entry.body == "\n# Use uv\n" and entry.body_line == 26


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("global/a.md", "---\ntitle: Only a title\n---\nBody.", "Only a title"),
        ("global/a.md", "# From the heading\n\nBody.", "From the heading"),
        ("global/a.md", "Words first.\n\n## Then a heading ##\n", "Then a heading"),
        ("global/tabs-not-spaces.md", "Just words.", "Tabs not spaces"),
        ("global/a.md", "```\n# a comment in code\n```\n\n# Real\n", "Real"),
        ("global/a.md", "#hashtag only\n", "A"),
        ("global/a.md", "---\n---\n# Empty header\n", "Empty header"),
        ("global/a.md", '---\ntitle: "two\\nlines"\n---\n', "two lines"),
    ],
)
def test_a_hand_written_page_needs_nothing(path: str, text: str, title: str) -> None:
    entry = parse(path, text.encode())
    assert entry.title == title
    assert entry.readable and entry.primable and entry.problems == ()
    assert (entry.status, entry.scope, entry.severity) == ("active", "global", "advise")


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("global/a.md", "global"),
        ("a.md", "global"),
        ("vault/notes/a.md", "global"),
        ("projects/shop/a.md", "project:shop"),
        ("projects/shop/deep/er/a.md", "project:shop"),
        ("projects/a.md", "global"),
    ],
)
def test_the_path_gives_the_scope(path: str, scope: str) -> None:
    assert parse(path, b"x").scope == scope


def test_where_the_header_disagrees_the_path_wins_and_it_is_reported() -> None:
    entry = body_entry("id: global/b\nscope: project:shop")
    assert (entry.id, entry.scope) == ("global/a", "global")
    assert codes(entry) == [(2, "id-differs"), (3, "scope-differs")]
    assert "id: global/a" in entry.problems[0].fix


@pytest.mark.parametrize(
    ("header", "field", "value", "problem"),
    [
        ("type: warn", "type", "warning", None),
        ("type: Finding", "type", "finding", None),
        ("type: sermon", "type", "reference", "bad-value"),
        ("type: [a]", "type", "reference", "bad-value"),
        ("status: draft", "status", "active", "bad-value"),
        ("fired-helpful: 4", "fired_helpful", 4, None),
        ("reinforced: many", "reinforced", 0, "bad-value"),
        ("reinforced: -1", "reinforced", 0, "bad-value"),
        ("reinforced: 99999999999999999999", "reinforced", 0, "bad-value"),
        ("reinforced: \u0664", "reinforced", 0, "bad-value"),
        ("encoding_strength: 1.5", "encoding_strength", 0.5, "bad-value"),
        ("encoding_strength: nan", "encoding_strength", 0.5, "bad-value"),
        ("encoding_strength: {a: b}", "encoding_strength", 0.5, "bad-value"),
        ("pinned: maybe", "pinned", False, "bad-value"),
        ("pinned: On", "pinned", True, None),
        ("created: soon", "created", "", "bad-value"),
        ("created: 2026-11-03T10:00:00Z", "created", "2026-11-03T10:00:00Z", None),
        ("tags:", "tags", (), None),
        ("tags: a, b c", "tags", ("a", "b", "c"), None),
        ("tags: ['#a', a, b]", "tags", ("a", "b"), None),
        ("tags: {a: b}", "tags", (), "bad-value"),
        ("tags: [a, {b: c}]", "tags", ("a",), "bad-value"),
        ("supersedes: [[global/x]]", "supersedes", ("global/x",), None),
        ("supersedes: '[[global/x|alias]], [[y#h]]'", "supersedes", ("global/x", "y"), None),
        ("supersedes: ['[[a]]', b.md]", "supersedes", ("a", "b"), None),
        ("source: user", "source", {"by": "user"}, None),
        ("source: [a]", "source", {}, "bad-value"),
        ("severity: fatal", "severity", "advise", "bad-value"),
        ("title: [a, b]", "title", "A", "bad-value"),
        ("title: {{title}}", "title", "A", "bad-value"),
        ("title: ~", "title", "A", None),
        ("title: 'null'", "title", "null", None),
        ("title: 007", "title", "007", None),
        ("title: yes", "title", "yes", None),
    ],
)
def test_a_wrong_value_gets_its_default_and_a_problem(
    header: str, field: str, value: object, problem: str | None
) -> None:
    entry = body_entry(header)
    assert getattr(entry, field) == value
    assert [code for _, code in codes(entry)] == ([problem] if problem else [])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r"'git push --force'", [("Bash", "command", "git push --force")]),
        (r"['^echo ', '\brm\b']", [("Bash", "command", "^echo "), ("Bash", "command", r"\brm\b")]),
        ("[{pattern: x}]", [("Bash", "command", "x")]),
        ("{tool: Edit, field: file_path, pattern: x}", [("Edit", "file_path", "x")]),
        ("[{tool: Edit, pattern: x}]", None),
        ("[{tool: Bash}]", None),
        ("[[a]]", None),
        ("3", [("Bash", "command", "3")]),
    ],
)
def test_triggers_are_read_in_every_form(written: str, expected: list[tuple[str, str, str]] | None) -> None:
    entry = body_entry(f"block_triggers: {written}")
    assert entry.block_triggers == tuple(Trigger(*parts) for parts in expected or [])
    assert [code for _, code in codes(entry)] == ([] if expected else ["bad-value"])


def test_of_two_severities_the_weaker_counts_whatever_their_order() -> None:
    for header in ("severity: advise\nseverity: block", "severity: block\nseverity: advise"):
        entry = body_entry(header)
        assert entry.severity == "advise" and not entry.editable
        assert [code for _, code in codes(entry)] == ["repeated-key"]
    entry = body_entry("fired_helpful: 1\nfired-helpful: 2")
    assert [code for _, code in codes(entry)] == ["repeated-key"] and not entry.editable


UNREADABLE = {
    "colon-title": (3, "a colon", 'title: "Rule: never force-push"'),
    "list-header": (2, "`key: value`", "lines"),
    "never-closed": (1, "never ends", "`---`"),
    "star-value": (3, "`*`", "'*Important*'"),
    "tab-indent": (4, "tab", "spaces"),
    "wikilink-suffix": (4, "link", "'[[global/zoo/good]] see also'"),
    "wikilinks-inline": (3, "list", '["[[global/zoo/good]]", "[[global/zoo/x]]"]'),
    "winpath": (3, "backslash", "'C:\\Users\\dev'"),
    "zero-bytes": (1, "empty", "delete"),
}


def test_unreadable_headers_are_named_with_line_reason_and_fix(case: Callable[[str], Home]) -> None:
    entries = Store(case("library-frontmatter-zoo")).scan().entries
    found = {entry.name: entry for entry in entries.values() if not entry.readable}
    assert set(found) == set(UNREADABLE)
    for name, (line, reason, fix) in UNREADABLE.items():
        (problem,) = found[name].problems
        assert problem.path == f"global/zoo/{name}.md"
        assert (problem.line, reason in problem.message, fix in problem.fix) == (line, True, True), problem
        assert not found[name].primable and not found[name].editable


def test_the_bodies_of_unreadable_pages_can_still_be_searched(case: Callable[[str], Home]) -> None:
    entries = Store(case("library-frontmatter-zoo")).scan().entries
    assert "Never force-push to a shared branch." in entries["global/zoo/colon-title"].body
    assert "Body text goes on." in entries["global/zoo/never-closed"].body
    assert entries["global/zoo/colon-title"].title == "Rule: never force-push"


def test_odd_but_valid_pages_are_read(case: Callable[[str], Home]) -> None:
    entries = Store(case("library-frontmatter-zoo")).scan().entries
    for name in ("good", "dates-ok"):
        assert entries[f"global/zoo/{name}"].primable and entries[f"global/zoo/{name}"].problems == ()
    twice = entries["global/zoo/duplicate-key"]
    assert twice.severity == "advise" and [p.line for p in twice.problems] == [8]


def test_bom_line_ends_fences_and_rules_are_no_obstacle(case: Callable[[str], Home]) -> None:
    entries = Store(case("library-bytes-and-fences")).scan().entries
    titles = {entry.name: entry.title for entry in entries.values()}
    assert titles == {
        "bom": "Starts with a BOM",
        "crlf": "Windows line ends",
        "fence-at-eof": "Header only",
        "rules-in-body": "Has rules in the body",
        "latin1": "Umlaute",
    }
    assert entries["global/enc/rules-in-body"].status == "active"
    assert "status: stale" in entries["global/enc/rules-in-body"].body
    assert "\r" not in entries["global/enc/crlf"].body
    latin = entries["global/enc/latin1"]
    assert not latin.readable and "Änderungen für Müller" in latin.body
    assert [(p.line, p.code) for p in latin.problems] == [(14, "not-utf8")]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"\xef\xbb\xbf", "empty-file"),
        (b" \n\t\r\n", "empty-file"),
        (b"\0" * 40, "empty-file"),
        (b"text\nwith \0 inside", "not-text"),
        ("# Übung\n".encode("utf-16"), "not-utf8"),
        (b"---\ntitle: \x1b[2J\n---\n", "header-yaml"),
        (b"---\n" + b"[" * 70000 + b"\n---\n", "header-too-long"),
        (b"---\n" + b"[" * 5000 + b"\n---\n", "header-yaml"),
        (b"---\n", "header-not-closed"),
        (b"---", "header-not-closed"),
        (b"---\nplain text\n---\n", "header-not-keys"),
        (b"---\n[a, b]: c\n---\n", "header-yaml"),
    ],
)
def test_every_other_kind_of_broken_file_is_listed_not_fatal(raw: bytes, code: str) -> None:
    entry = parse("global/a.md", raw)
    assert not entry.readable and [problem.code for problem in entry.problems] == [code]


def test_aliases_that_grow_without_end_do_no_harm() -> None:
    lines = ["a: &a [x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join(['*' + before] * 9)}]")
    bomb = "\n".join([*lines, ""])
    assert body_entry(bomb + "tags: *i").title == "A"
    assert body_entry("tags: &t [*t, *t]").title == "A"


@given(st.binary(max_size=400))
def test_any_bytes_give_an_entry(raw: bytes) -> None:
    entry = parse("global/a.md", raw)
    assert entry.id == "global/a" and entry.title


HEADERISH = st.text(alphabet="ab:-[]{}#&*!|>'\"%@`\\,? \n\t\r~=<.0\u00e9\U0001f389", max_size=60)


@given(
    header=HEADERISH,
    body=HEADERISH,
    end=st.sampled_from(["\n", "\r\n"]),
    bom=st.sampled_from(["", "\ufeff"]),
)
def test_any_header_gives_an_entry_whose_body_is_found(header: str, body: str, end: str, bom: str) -> None:
    entry = parse("global/a.md", f"{bom}---{end}{header}{end}---{end}{body}".encode())
    assert body.replace("\r\n", "\n").replace("\r", "\n") in entry.body.replace("\r", "\n")
    assert all(problem.line >= 1 and problem.message and problem.fix for problem in entry.problems)


def test_the_curator_s_hash_ignores_line_ends_and_trailing_blanks() -> None:
    assert body_hash("\na\n\nb\n") == body_hash("a  \r\n\r\nb\r\n\r\n")
    assert body_hash("a") != body_hash("b")
    raw = f"---\ncurated: '{body_hash('Rule.')}'\n---\n\nRule.\r\n".encode()
    assert not parse("global/a.md", raw).hand_edited
    assert parse("global/a.md", raw.replace(b"Rule.", b"Rules.")).hand_edited
    assert parse("global/a.md", b"by hand").hand_edited
