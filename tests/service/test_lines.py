"""What is understood of a line, and what is saved of a broken one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.service.lines import understand


def line(number: int = 1, **fields: Any) -> bytes:
    event = {"v": 1, "event": "PostToolUse", "session_id": "s", "n": number, **fields}
    return json.dumps(event, ensure_ascii=False).encode()


def numbers(raw: bytes) -> list[int]:
    return [heard.event["n"] for heard in understand(raw).heard]


def test_a_whole_line_is_one_event_with_its_bytes_kept() -> None:
    raw = line(1, prompt="owl 🦉")
    said = understand(raw + b"\r")
    assert (said.heard[0].raw, said.fault) == (raw, "")


@pytest.mark.parametrize("raw", [b"", b"  ", b"\r"])
def test_a_blank_line_says_nothing_and_is_no_fault(raw: bytes) -> None:
    assert understand(raw) == understand(b"")
    assert understand(raw).fault == ""


NO_EVENTS = [
    b"[]",
    b"null",
    b"7",
    b'"x"',
    b"{}",
    b'{"event":1,"session_id":"s"}',
    b'{"event":"e"}',
    b"nonsense",
]
DAMAGED = [b"\xff\xfe", b'{"event":"e","session_id":"s"', b"[" * 100_000, b'{"a":' * 50_000]


@pytest.mark.parametrize("raw", NO_EVENTS + DAMAGED)
def test_what_is_no_event_is_a_fault_and_nothing_is_heard(raw: bytes) -> None:
    said = understand(raw)
    assert said.heard == () and said.fault


def test_events_welded_to_one_line_are_all_heard() -> None:
    raw = line(1) + line(2) + b" " + line(3)
    assert numbers(raw) == [1, 2, 3]
    assert understand(raw).fault


@pytest.mark.parametrize("cut", [1, 7, 20, 40])
def test_of_a_torn_line_with_another_welded_to_it_the_whole_one_is_heard(cut: int) -> None:
    assert numbers(line(1)[:cut] + line(2)) == [2]
    assert numbers(line(1) + line(2)[:cut]) == [1]
    assert numbers(line(1, prompt="🦉")[:-4] + line(2, prompt="🦉") + line(3)) == [2, 3]


def test_an_event_that_stands_inside_another_is_never_heard_by_itself() -> None:
    inner = {"v": 1, "event": "UserPromptSubmit", "session_id": "s", "n": 7}
    outer = line(1, tool_input=inner, more="x")
    for cut in range(1, len(outer)):
        assert numbers(outer[:cut]) == []
    assert numbers(outer[:-1] + line(2)) == [2]


def test_bytes_that_are_no_text_do_not_enter_an_event() -> None:
    assert numbers(line(1) + b"\xff" + line(2)) == [1, 2]
    assert numbers(line(1, prompt="a?b").replace(b"?", b"\xff")) == []


@given(st.binary(max_size=200))
def test_no_line_is_too_odd(raw: bytes) -> None:
    understand(raw)
    assert numbers(raw.replace(b'{"', b"") + b"\x00" + line(5))[-1:] == [5]
