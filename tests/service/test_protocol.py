"""What may be asked, and how everything else is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.service.protocol import ANSWER_BYTES, Prime, Refusal, client_version, encode, parse
from ultan.wire.version import newer


def raw(**fields: Any) -> bytes:
    return json.dumps({"v": 1, **fields}).encode()


def refusal(line: bytes) -> str:
    with pytest.raises(Refusal) as caught:
        parse(line)
    return caught.value.type


def test_a_question_of_the_hook_is_understood_and_unknown_fields_are_passed_over() -> None:
    question, version = parse(
        raw(op="prime", prompt="p", cwd="/x", exclude=["a"], deadline_ms=800, client_version="0.1.0", later=1)
    )
    assert isinstance(question, Prime)
    assert (question.prompt, question.exclude, question.deadline_ms, version) == ("p", ("a",), 800, "0.1.0")


@pytest.mark.parametrize(
    ("line", "type"),
    [
        (b"nonsense", "bad-request"),
        (b"\xff\xfe\x00", "bad-request"),
        (b"[1]", "bad-request"),
        (b"null", "bad-request"),
        (b"[" * 100_000, "bad-request"),
        (b'{"a":' * 30_000, "bad-request"),
        (b'{"op":"status"}', "bad-request"),
        (b'{"v":true,"op":"status"}', "bad-request"),
        (b'{"v":"1","op":"status"}', "bad-request"),
        (raw(v=2, op="status"), "wrong-version"),
        (raw(v=0, op="status"), "wrong-version"),
        (raw(), "unknown-op"),
        (raw(op="erase"), "unknown-op"),
        (raw(op=["prime"]), "unknown-op"),
        (raw(op="prime"), "bad-request"),
        (raw(op="prime", prompt=7), "bad-request"),
        (raw(op="prime", prompt="p", exclude="a"), "bad-request"),
        (raw(op="prime", prompt="p", exclude=[1]), "bad-request"),
        (raw(op="prime", prompt="p", deadline_ms=-1), "bad-request"),
        (raw(op="prime", prompt="p", cwd="x" * 5000), "bad-request"),
        (raw(op="search", text="p", limit=0), "bad-request"),
        (raw(op="read"), "bad-request"),
    ],
)
def test_everything_else_has_a_typed_refusal(line: bytes, type: str) -> None:
    assert refusal(line) == type


def test_a_refusal_does_not_repeat_what_was_sent() -> None:
    with pytest.raises(Refusal) as caught:
        parse(raw(op="prime", prompt={"secret": "sk-123"}, exclude=[{"x": "sk-123"}]))
    assert "sk-123" not in str(caught.value.as_answer())


@given(st.binary(max_size=300))
def test_no_line_is_too_odd(line: bytes) -> None:
    try:
        parse(line)
    except Refusal as error:
        assert error.as_answer()["error"]["type"]
    client_version(line)


def test_an_answer_that_is_too_long_becomes_a_refusal() -> None:
    answer = json.loads(encode({"entry": "x" * ANSWER_BYTES}))
    assert answer["ok"] is False and answer["error"]["type"] == "too-large"
    assert json.loads(encode({"text": "line\nend \ud800"}))["ok"] is True
    assert encode({"text": "a\nb"}).count(b"\n") == 1


def test_versions_are_compared_as_numbers_and_nonsense_is_never_newer() -> None:
    assert newer("0.10.0", "0.9.3")
    assert not newer("0.9.3", "0.10.0")
    assert not newer("0.1.0+local", "0.1.0")
    for version in ("", "x", "1.x", "9999999999999", "-1", "１.0"):
        assert not newer(version, "0.1.0")


def test_who_asks_is_known_also_where_the_question_is_not() -> None:
    assert client_version(b'{"v":9,"op":"new","client_version":"3.0.0"}') == "3.0.0"
    assert client_version(b'{"client_version":3}') == client_version(b"[]") == client_version(b"") == ""
