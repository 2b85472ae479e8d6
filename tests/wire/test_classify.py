"""Plain rules for what the person hands over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.wire import classify
from ultan.wire.paths import check_new


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I prefer tabs", "preference"),
        ("use uv, not pip", "preference"),
        ("we squash before merging", "convention"),
        ("careful: make clean deletes the fixtures", "warning"),
        ("turns out the timeout was a DNS cache", "finding"),
        ("https://wiki.example.org/runbook", "reference"),
        ("本番では絶対に --force を使わない", "preference"),
    ],
)
def test_the_words_decide_the_type(text: str, kind: str) -> None:
    assert classify.note_type(text) == kind


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("- remember that we use uv. Never pip.", "we use uv"),
        ("# Heading\nbody", "Heading"),
        ("--help", "--help"),
        ("\n\n  two\nlines", "two"),
        ("本番では使わない。絶対に。", "本番では使わない"),
        ("a\x1b[2Jb", "a [2Jb"),
        ("word " * 40, ("word " * 15).strip() + "…"),
    ],
)
def test_the_title_is_the_first_sentence_in_one_line(text: str, title: str) -> None:
    assert classify.title(text) == title


@pytest.mark.parametrize(
    ("text", "in_repository", "everywhere"),
    [
        ("use uv", True, False),
        ("use uv", False, True),
        ("use uv in all my projects", True, True),
        ("use uv in this repo", False, False),
        ("in every repository we squash", True, True),
    ],
)
def test_a_note_said_in_a_repository_is_that_projects_unless_it_says_otherwise(
    text: str, in_repository: bool, everywhere: bool
) -> None:
    assert classify.is_global(text, in_repository) is everywhere


@given(st.text(max_size=400), st.sets(st.sampled_from(["note", "use-uv", "a"]), max_size=3))
def test_any_text_gives_a_title_and_a_name_that_the_library_takes(text: str, taken: set[str]) -> None:
    title = classify.title(text)
    name = classify.file_name(title, taken)
    check_new(f"global/{classify.folder(text)}/{name}.md")
    assert 0 < len(title) <= classify.TITLE_CHARS
    assert name not in taken


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("never deploy on a Friday afternoon", "Never deploy on a Friday afternoon!", True),
        ("use 4 spaces in Python files", "use 2 spaces in Python files", False),
        ("use tabs not spaces in Go", "use spaces not tabs in Go", False),
        ("deploy on Fridays is fine by me", "deploy on Fridays is not fine by me", False),
        ("run make test before pushing", "run make lint before pushing to main please", False),
        ("uv", "uv", True),
        ("", "", True),
        ("本番では使わない", "本番では使う", False),
    ],
)
def test_only_what_says_the_same_is_a_duplicate(first: str, second: str, same: bool) -> None:
    assert classify.same_saying(first, second) is same
