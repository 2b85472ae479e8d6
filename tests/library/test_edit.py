"""One-line edits: what was not meant stays byte for byte."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ultan.library import header
from ultan.library.edit import edit, render, render_new, replace_body, set_field, set_fields
from ultan.library.entry import parse
from ultan.library.errors import UnreadableEntry
from ultan.library.store import Store
from ultan.wire.home import Home

NOW = 1796092800.0


def changed_lines(before: bytes, after: bytes) -> int:
    """How many lines differ, where both have the same number of lines."""
    one, two = before.splitlines(keepends=True), after.splitlines(keepends=True)
    assert len(one) == len(two)
    return sum(a != b for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("name", ["bom", "crlf", "fence-at-eof", "rules-in-body"])
def test_a_counter_changes_exactly_its_line(case: Callable[[str], Home], name: str) -> None:
    store = Store(case("library-bytes-and-fences"))
    raw = store.raw(f"global/enc/{name}.md")
    bumped = set_field(raw, "reinforced", 1)
    assert changed_lines(raw, bumped) == 1
    assert raw.replace(b"reinforced: 0", b"reinforced: 1", 1) == bumped
    assert parse(f"global/enc/{name}.md", bumped).reinforced == 1


@pytest.mark.parametrize(
    "name",
    [
        "colon-title",
        "duplicate-key",
        "list-header",
        "never-closed",
        "star-value",
        "tab-indent",
        "wikilink-suffix",
        "wikilinks-inline",
        "winpath",
        "zero-bytes",
    ],
)
def test_a_page_that_cannot_be_read_for_sure_is_never_edited(case: Callable[[str], Home], name: str) -> None:
    store = Store(case("library-frontmatter-zoo"))
    with pytest.raises(UnreadableEntry, match="was left as it is"):
        set_field(store.raw(f"global/zoo/{name}.md"), "reinforced", 1)


def test_latin1_is_never_edited(case: Callable[[str], Home]) -> None:
    raw = Store(case("library-bytes-and-fences")).raw("global/enc/latin1.md")
    for attempt in (lambda: set_field(raw, "reinforced", 1), lambda: replace_body(raw, "x")):
        with pytest.raises(UnreadableEntry):
            attempt()


HEADER = """---\r
# a comment\r
é\U0001f389: 1  # c\r
a: 'x y'  # d\r
tags:  # mine\r
  - a\r
  - b\r
# between\r
empty:\r
fold: |\r
  x\r
  y\r
\r
last: [a,\r
 b] # e\r
nothing:   # f\r
fired-helpful: 3\r
---\r
body: 1\r
"""


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("é\U0001f389", "é\U0001f389: 1  # c\r\n", "é\U0001f389: [p, q]  # c\r\n"),
        ("a", "a: 'x y'  # d\r\n", "a: [p, q]  # d\r\n"),
        ("tags", "tags:  # mine\r\n  - a\r\n  - b\r\n", "tags: [p, q] # mine\r\n"),
        ("empty", "empty:\r\n", "empty: [p, q]\r\n"),
        ("fold", "fold: |\r\n  x\r\n  y\r\n", "fold: [p, q]\r\n"),
        ("last", "last: [a,\r\n b] # e\r\n", "last: [p, q] # e\r\n"),
        ("nothing", "nothing:   # f\r\n", "nothing: [p, q] # f\r\n"),
        ("fired_helpful", "fired-helpful: 3\r\n", "fired-helpful: [p, q]\r\n"),
        ("new", "---\r\nbody", "new: [p, q]\r\n---\r\nbody"),
    ],
)
def test_only_the_value_is_replaced_whatever_stands_around_it(key: str, before: str, after: str) -> None:
    assert HEADER.count(before) == 1
    assert set_field(HEADER.encode(), key, ["p", "q"]).decode() == HEADER.replace(before, after)


def test_a_page_without_a_header_gets_one_and_keeps_its_body() -> None:
    assert set_field(b"# Mine\r\ntext", "pinned", True) == b"---\r\npinned: true\r\n---\r\n# Mine\r\ntext"
    assert (
        set_field(b"\xef\xbb\xbf# Mine\n", "pinned", True) == b"\xef\xbb\xbf---\npinned: true\n---\n# Mine\n"
    )
    assert set_field(b"---\n---\nx", "pinned", True) == b"---\npinned: true\n---\nx"


@pytest.mark.parametrize(
    "text",
    [
        "---\n{a: 1}\n---\n",
        "---\n&x a: 1\nb: *x\n---\n",
        "---\n? a\n: 1\n---\n",
        "---\na: 1\na: 2\n---\n",
        "---\na: 1",
    ],
)
def test_what_cannot_be_edited_for_sure_is_refused_or_right(text: str) -> None:
    for key in ("a", "b", "new"):
        try:
            done = set_field(text.encode(), key, 7)
        except UnreadableEntry:
            continue
        items = header.read(header.split(done.decode()).header)
        assert items[key].values == ["7"]


SCALARS = st.one_of(
    st.text(max_size=20),
    st.integers(0, 10**6),
    st.booleans(),
    st.floats(0, 1),
    st.lists(st.text(max_size=8), max_size=3),
    st.dictionaries(st.sampled_from(["by", "quote"]), st.text(max_size=8), max_size=2),
)
KEYS = st.sampled_from(["title", "tags", "reinforced", "source", "mood", "severity", "new"])


@given(SCALARS)
def test_a_rendered_value_is_one_line_that_reads_back(value: object) -> None:
    text = render(value)  # type: ignore[arg-type]  # the strategy's union is wider than it looks
    assert "\n" not in text and "\r" not in text
    found = header.to_value(yaml.compose(text, Loader=header.LOADER))
    if isinstance(value, str):
        assert found == value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    elif isinstance(value, list):
        assert found == value


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "title: 'it''s' # c",
                'title: "a: b"',
                "tags: [a, b]",
                "tags:\n  - a\n  - b # c",
                "reinforced: 3",
                "reinforced:    3   # three",
                "source: {by: user,\n  quote: x}",
                "mood: |\n  line\n\n  line\n",
                "mood: >-\n  folded\n  text",
                "mood: plain\n  continued",
                "# comment",
                "",
                "severity:",
                "'quoted key': 1",
                "\u00fcn\u00efc\u00f6d\u00e9 \U0001f389: \u4e2d\u6587",
            ]
        ),
        st.builds(
            lambda key, value: f"{key}: {value}",
            st.sampled_from(["title", "mood", "x", "y"]),
            st.text("ab '\"#[]{},:-", max_size=8),
        ),
    ),
    max_size=7,
)


@settings(max_examples=300)
@given(
    lines=LINES,
    key=KEYS,
    value=SCALARS,
    body=st.text(max_size=30),
    end=st.sampled_from(["\n", "\r\n"]),
    bom=st.sampled_from(["", "\ufeff"]),
    closed=st.sampled_from(["---\n", "---", "--- \n"]),
)
def test_an_edit_changes_one_value_and_nothing_else(
    lines: list[str], key: str, value: object, body: str, end: str, bom: str, closed: str
) -> None:
    body = body if closed.endswith("\n") else ""
    text = bom + ("---\n" + "".join(line + "\n" for line in lines) + closed).replace("\n", end) + body
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        assume(False)
    try:
        done = set_field(raw, key, value)  # type: ignore[arg-type]  # the strategy's union is wider
    except UnreadableEntry:
        return
    before, after = header.split(text), header.split(done.decode())
    assert after.text[after.body :] == before.text[before.body :]
    old, new = header.read(before.header), header.read(after.header)
    assert {name: item.values for name, item in old.items() if name != key} == {
        name: item.values for name, item in new.items() if name != key
    }
    assert [name for name in new if name in old] == list(old)
    comments = [line for line in before.header.splitlines() if line.startswith("#")]
    assert [line for line in after.header.splitlines() if line.startswith("#")] == comments
    if key not in old:
        one, two = raw.split(b"\n"), done.split(b"\n")
        assert len(two) == len(one) + 1
    again = set_field(done, key, value)  # type: ignore[arg-type]  # as above
    assert again == done


def test_edit_sets_the_date_only_if_something_changed() -> None:
    raw = b"---\ntitle: A\nupdated: 2026-01-10\n---\nx\n"
    assert edit(raw, {"title": "A"}, NOW) == raw
    assert edit(raw, {"title": "B"}, NOW) == b"---\ntitle: B\nupdated: 2026-12-01\n---\nx\n"
    assert edit(b"x\n", {"status": "stale"}, NOW) == b"---\nstatus: stale\nupdated: 2026-12-01\n---\nx\n"


def test_set_fields_sets_several() -> None:
    done = set_fields(b"---\na: 1\n---\n", {"a": 2, "b": [1, 2]})
    assert done == b"---\na: 2\nb: [1, 2]\n---\n"


def test_a_body_is_replaced_in_the_file_s_own_line_ends() -> None:
    assert (
        replace_body(b"---\r\na: 1\r\n---\r\nold", "new\nlines\n")
        == b"---\r\na: 1\r\n---\r\nnew\r\nlines\r\n"
    )
    assert replace_body(b"---\na: 1\n---", "new\n") == b"---\na: 1\n---\nnew\n"
    assert replace_body(b"\xef\xbb\xbfold", "new") == b"\xef\xbb\xbfnew"


@given(
    title=st.text(min_size=1, max_size=40).filter(str.strip),
    body=st.text(max_size=80),
    tags=st.lists(st.text("abc -:#", min_size=1, max_size=6), max_size=3),
)
def test_a_new_entry_reads_back(title: str, body: str, tags: list[str]) -> None:
    raw = render_new({"title": title, "id": "global/a", "tags": tags, "mood": "x: y"}, body, NOW)
    entry = parse("global/a.md", raw)
    assert entry.readable or "\0" in body
    if entry.readable:
        assert entry.title == " ".join(
            title.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split()
        )
        assert (entry.created, entry.updated, entry.declared_id) == ("2026-12-01", "2026-12-01", "global/a")
    assert raw.splitlines()[1] == b"id: global/a"
