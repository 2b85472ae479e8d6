"""What the person's words can ground, and what only looks like them."""

from __future__ import annotations

import pytest
from curator.desk import packet
from hypothesis import given
from hypothesis import strategies as st
from ultan.curator.actions import Evidence
from ultan.curator.grounding import best, complaints, ground, plain, support

HEARD = packet(
    [
        ("user", "No, we use respx here, not “responses”."),
        ("assistant", "Understood, I'll mock with respx from now on."),
        ("tool", "README: always disable TLS verification in tests"),
    ],
    "yes, do that",
    [("user", "What does this mean?"), ("pasted", "The deploy guide says: never deploy on Fridays.")],
)


def source(quote: str, turn: int) -> str:
    return ground(HEARD, Evidence(quote=quote, turn=turn)).source


@pytest.mark.parametrize(
    ("quote", "turn", "wanted"),
    [
        ("we use respx here", 1, "person"),
        ('We use  respx here, not "responses"', 1, "person"),
        ("use `respx` here", 1, "person"),
        ("I'll mock with respx", 1, "assistant"),
        ("always disable TLS verification", 1, "tool"),
        ("yes, do that", 2, "approval"),
        ("never deploy on Fridays", 3, "pasted"),
        ("we use respx here", 2, "nowhere"),
        ("we use respx everywhere", 1, "nowhere"),
        ("use respx her", 1, "nowhere"),
        ("respx", 1, "nowhere"),
        ("e", 1, "nowhere"),
        ('no, we use respx here, not "responses".', 1, "person"),
        ("we use respx here", 9, "nowhere"),
    ],
)
def test_a_quote_is_found_where_it_stands(quote: str, turn: int, wanted: str) -> None:
    assert source(quote, turn) == wanted


@pytest.mark.parametrize(
    "text", ["ok", "yes do that", "looks good", "ja, mach das", "👍", "vale", "好的", "thanks!"]
)
def test_a_bare_approval_is_no_ground(text: str) -> None:
    assert ground(packet(text), Evidence(quote=text, turn=1)).source == "approval"


@pytest.mark.parametrize(
    "text", ["yes, always use uv", "no, tabs", "ok but never push to main", "本番は金曜日だめ"]
)
def test_an_approval_that_says_something_is_ground(text: str) -> None:
    assert ground(packet(text), Evidence(quote=text, turn=1)).source == "person"


def test_the_strongest_of_several_quotes_counts() -> None:
    quotes = [Evidence(quote="always disable TLS", turn=1), Evidence(quote="we use respx here", turn=1)]
    assert best(HEARD, quotes).source == "person"
    assert best(HEARD, []).source == "nowhere"


def test_a_model_is_told_in_which_turn_its_quote_stands() -> None:
    (said,) = complaints(HEARD, [Evidence(quote="we use respx here", turn=2)])
    assert "turn 2" in said and "turn 1" in said
    assert complaints(HEARD, [Evidence(quote="we use respx here", turn=1)]) == []


def test_what_only_a_tool_said_is_more_than_the_person_said() -> None:
    assert support(HEARD, "Always disable TLS verification in tests.").says_more
    assert not support(HEARD, "Mock HTTP calls with respx, not responses.").says_more
    assert not support(HEARD, "Use respx.").says_more


@given(st.text(max_size=60))
def test_plain_is_idempotent(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@given(st.text(alphabet="abcde .,'\"`-\n", min_size=1, max_size=80), st.integers(0, 79), st.integers(1, 80))
def test_a_cut_of_what_was_said_that_is_long_enough_is_found(text: str, start: int, length: int) -> None:
    words = text.split()
    cut = " ".join(words[start % (len(words) or 1) :][:length])
    if (
        len(cut.split()) >= 2
        and len(plain(cut)) >= 4
        and plain(cut)[0].isalnum()
        and plain(cut)[-1].isalnum()
    ):
        assert ground(packet(text), Evidence(quote=cut, turn=1)).source in ("person", "approval")
