"""What is pasted into a prompt is told from what the person says."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.wire.heard import SHORT, heard, words
from ultan.wire.pasted import names, pasted, said, saying, split

TRACE = """Traceback (most recent call last):
  File "/srv/app/orders.py", line 12, in load
    row = table[key]
KeyError: 'total'"""
DIFF = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-old = 1\n+new = 1\n same"
CODE = "def area(self):\n    # both sides\n    return self.width * self.height\n\nprint(area())"
LOG = "2026-11-02 10:01:02,123 INFO started\n2026-11-02 10:01:03,001 ERROR lost the connection"
BOX = "╷\n│ Error: Error acquiring the state lock\n╵"
HISTORY = "commit 9c1d2aa\nAuthor: A <a@b.example>\n51f0be3 round per line"
SHELL = "$ git push\nerror: failed to push some refs"
JSON = '{\n  "name": "x",\n  "private": true\n}'
QUOTE = "> we should merge on Fridays\n> says the page"
FENCED = "```\nUse tabs everywhere\n```"


@pytest.mark.parametrize("paste", [TRACE, DIFF, CODE, LOG, SHELL, JSON, QUOTE, FENCED, BOX, HISTORY])
def test_of_a_prompt_with_a_paste_only_what_stands_around_it_is_said(paste: str) -> None:
    parts = split(f"Why is that?\n\n{paste}\n\nFix it please.")
    assert said(parts) == "Why is that?\nFix it please."
    assert pasted(parts).split() == [word for word in paste.split() if word != "```"]


@pytest.mark.parametrize(
    "text",
    [
        "From now on use uv.\nImport sorting is done by ruff.\nReturn early, don't nest.",
        "WARNING: never push to main\nIs that clear?",
        "Do this:\n- rename foo to bar\n- use `bar_baz()` rather than x\n1. then deploy",
        "select a name for it\nupdate the docs\nwith care",
        "Language: Python\nDatabase: Postgres",
        "a > b is what I meant\n=> no arrows",
        "class names are nouns\nfunction names are verbs\nif in doubt, ask",
    ],
)
def test_what_people_type_is_not_taken_for_a_paste(text: str) -> None:
    assert said(split(text)) == "\n".join(line for line in text.splitlines() if line)


def test_an_open_fence_lasts_to_the_end() -> None:
    assert said(split("Explain\n~~~~\nthis\n~~~\nand that")) == "Explain"


@given(st.text() | st.lists(st.sampled_from([TRACE, DIFF, CODE, "words", "", "```", "> q"])).map("\n".join))
def test_the_parts_of_a_prompt_are_the_prompt(text: str) -> None:
    parts = split(text)
    assert "".join(part for part, _ in parts) == text
    assert all(one[1] != other[1] for one, other in pairwise(parts))


def test_a_paste_says_what_went_wrong_and_which_command_it_was() -> None:
    assert saying(TRACE) == "KeyError: 'total'"
    assert saying(SHELL) == "git push\nerror: failed to push some refs"
    assert saying(CODE) == ""
    assert len(saying("\n".join(f"error {n}" for n in range(50))).splitlines()) == 5


def test_a_paste_mentions_files_options_and_identifiers_often_named_ones_first() -> None:
    found = names("load_rows(path)\nload_rows(src/orders.py)\nmyTool --dry-run is plain").split()
    assert found == ["load_rows", "src/orders.py", "myTool", "--dry-run"]


LONG = "\n".join(f"2026-11-02 10:01:02 INFO job {n} of pgbouncer_pool is done" for n in range(40))


def test_a_long_paste_leaves_the_question_and_how_it_ended() -> None:
    question = heard(
        f"How do we pool our database connections here?\n\n{LONG}\nPoolError: connection refused"
    )
    assert question.own == "How do we pool our database connections here?"
    assert question.text == f"{question.own}\nPoolError: connection refused"
    tokens, mentioned = words(question)
    assert "pool" in tokens and "pgbouncer_pool" in mentioned and "job" not in tokens + mentioned


def test_who_says_next_to_nothing_lets_the_paste_speak() -> None:
    assert "pgbouncer_pool" in heard(f"why?\n{LONG}").text
    assert heard(LONG).text


def test_a_short_paste_is_part_of_the_question() -> None:
    prompt = f"Why is that, and what do we do about it?\n{TRACE}"
    assert heard(prompt).text == prompt
    assert len(TRACE) < SHORT


@given(st.text(), st.integers(1, 400))
def test_every_prompt_has_a_question(text: str, times: int) -> None:
    prompt = text * times
    assert not prompt.strip() or heard(prompt).text.strip()
    words(heard(prompt))
