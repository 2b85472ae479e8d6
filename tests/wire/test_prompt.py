from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.wire import guard, prompt

SECRET = "ghp" + "_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def asked(text: str) -> str:
    return prompt.text_to_prime(text, guard.slash_command(text))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("deploy on Friday?", "deploy on Friday?"),
        ("  spaced \n", "spaced"),
        ("/ultan never deploy on Fridays", ""),
        ("/ultan:ultan-advisor which test runner do we use", ""),
        ("/ultan-why", ""),
        ("/compact", ""),
        ("/review it", ""),
        ("/review the Friday deploy", "the Friday deploy"),
        ("/tmp is full", "/tmp is full"),
        ("a <private>b</private> c", "a  c"),
        ("use " + SECRET, "use [redacted:github-token]"),
        ("why <system-reminder>is</system-reminder> <ultan-notes> here", "why  is    here"),
        ("if a < b and <T> c", "if a < b and <T> c"),
        ("", ""),
    ],
)
def test_the_library_is_asked_about_what_the_person_says(text: str, question: str) -> None:
    assert asked(text) == question


def test_of_a_long_paste_the_beginning_and_the_end_are_asked() -> None:
    text = "first question " + "middle " * 100_000 + "last question"
    question = asked(text)
    assert len(question) <= prompt.PRIME_CHARS + 1
    assert question.startswith("first question") and question.endswith("last question")
    assert set(question.split()) == {"first", "question", "middle", "last"}


def test_a_private_part_in_the_middle_of_a_long_paste_is_cut_whole() -> None:
    text = "start " * 40_000 + "<private>" + "CANARY " * 40_000 + "</private> end"
    assert "CANARY" not in asked(text)


@given(st.text(max_size=200), st.integers(0, 3))
def test_any_text_gives_a_question_without_secrets(text: str, times: int) -> None:
    question = prompt.text_to_prime((text + " ") * times + SECRET + " " + text, None)
    assert SECRET not in question and question == question.strip()
