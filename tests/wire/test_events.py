from __future__ import annotations

import errno
import json
import multiprocessing
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import SCRIPTS, event, lines, prompt
from ultan.wire import events
from ultan.wire.files import FileLock
from ultan.wire.home import Home

SECRET = "ghp" + "_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
KEY = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIB" * 300 + "\n-----END " + "PRIVATE KEY-----"
JSON = st.recursive(
    st.text(max_size=30) | st.integers() | st.booleans() | st.none() | st.floats(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


def append_many(root: str, writer: int, count: int) -> None:
    home = Home(root)
    for number in range(count):
        events.append(home, {"writer": writer, "number": number, "pad": "x" * (number * 37 % 3000)})


def test_1600_appends_from_eight_processes_are_1600_whole_lines(home: Home) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=append_many, args=(home.root, writer, 200)) for writer in range(8)]
    for process in writers:
        process.start()
    for process in writers:
        process.join(120)
        assert process.exitcode == 0
    found = lines(home.events)
    assert len(found) == 1600
    for writer in range(8):
        assert [line["number"] for line in found if line["writer"] == writer] == list(range(200))


def test_events_are_private_to_the_user(home: Home) -> None:
    before = os.umask(0)
    try:
        events.append(home, {"a": 1})
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(home.events).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(home.root).st_mode) == 0o700


def test_a_line_does_not_weld_to_one_that_somebody_left_half(home: Home) -> None:
    Path(home.events).write_bytes(b'{"whole":1}\n{"half":')
    events.append(home, {"next": 2})
    assert Path(home.events).read_bytes() == b'{"whole":1}\n{"half":\n{"next":2}\n'


def test_a_short_write_leaves_no_half_line(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    events.append(home, {"a": 1})
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[: len(data) // 2]))
    with pytest.raises(OSError, match="the disk took"):
        events.append(home, {"b": "x" * 100})
    monkeypatch.undo()
    assert lines(home.events) == [{"a": 1}]


def test_a_full_disk_leaves_what_was_there(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    events.append(home, {"a": 1})

    def full(*_arguments: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        events.append(home, {"b": 2})
    monkeypatch.undo()
    events.append(home, {"c": 3})
    assert lines(home.events) == [{"a": 1}, {"c": 3}]


def test_a_frozen_holder_of_the_lock_costs_no_event(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LOCK_SECONDS", 0.01)
    with FileLock(home.events_lock):
        events.append(home, {"a": 1})
    assert lines(home.events) == [{"a": 1}]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_a_file_system_without_locks_costs_no_event(
    home: Home, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(_lock: FileLock) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(FileLock, "acquire", refuse)
    events.append(home, {"a": 1})
    assert lines(home.events) == [{"a": 1}]


@given(JSON)
def test_an_encoded_event_is_one_line_of_utf8_json(value: object) -> None:
    raw = events.encode({"a": value})
    assert raw.endswith(b"\n") and raw.count(b"\n") == 1
    json.loads(raw.decode("utf-8"))


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert "\ufffd" in events.encode({"a": "x\ud800y"}).decode("utf-8")


def test_a_record_keeps_identity_and_own_fields_and_nothing_else() -> None:
    given_input = prompt("hello", agent_id="a-1", permission_mode="default", unknown={"x": 1})
    assert events.record("UserPromptSubmit", given_input, now=0) == {
        "v": 1,
        "event": "UserPromptSubmit",
        "ts": "1970-01-01T00:00:00Z",
        "session_id": "s-1",
        "cwd": "/home/dev/shop",
        "transcript_path": "/home/dev/.claude/projects/x/s-1.jsonl",
        "agent_id": "a-1",
        "prompt_id": "p-1",
        "prompt": "hello",
    }


def test_what_is_too_long_is_cut_and_marked() -> None:
    record = events.record("UserPromptSubmit", prompt("word " * 100_000))
    assert len(record["prompt"]) == events.PROMPT_CHARS  # type: ignore[arg-type] # a string, as the next line shows
    assert str(record["prompt"]).startswith("word word")
    assert record["truncated"] is True
    assert "truncated" not in events.record("UserPromptSubmit", prompt("short"))


def test_long_lists_and_deep_nesting_are_cut_and_marked() -> None:
    deep: Any = "x"
    for _ in range(50):
        deep = [deep]
    for value in (deep, ["x"] * 1000, {str(i): i for i in range(1000)}, ["y" * 9000] * 90):
        record = events.record("PostToolUse", event("PostToolUse", tool_response=value))
        assert record["truncated"] is True
        assert len(events.encode(record)) < events.TOOL_CHARS * 5


def test_a_flag_or_a_duration_is_kept_only_where_it_is_one() -> None:
    kept = events.record("PostToolUse", event("PostToolUse", duration_ms=12))
    assert kept["duration_ms"] == 12
    for junk in (["x"] * 10, {"a": "b"}, "x" * 10_000, None):
        assert "duration_ms" not in events.record("PostToolUse", event("PostToolUse", duration_ms=junk))


@given(st.integers(-80, 80), st.sampled_from([SECRET, KEY, "password: hunter22"]), st.integers(0, 4))
def test_a_secret_across_the_cut_never_survives(shift: int, secret: str, keys_before: int) -> None:
    before = (KEY + "\n") * keys_before
    for limit in (events.PROMPT_CHARS, events.PROMPT_CHARS + events.MARGIN_CHARS):
        pad = "ab " * limit
        text = before + pad[: max(0, limit - len(before) + shift)] + " " + secret + " " + "tail " * 2000
        kept = str(events.record("UserPromptSubmit", prompt(text))["prompt"])
        for part in (SECRET[:12], "MIIB" * 8, "hunter22"):
            assert part not in kept


@given(st.text(max_size=50), st.text(max_size=50), st.integers(0, 3))
def test_private_parts_never_reach_the_record(before: str, after: str, tabs: int) -> None:
    mark = "CANARY-7f3a"
    text = (
        before.replace("<", "")
        + "<Private>"
        + mark
        + "</private"
        + "\t" * tabs
        + ">"
        + after.replace("<", "")
    )
    record = events.record("UserPromptSubmit", prompt(text))
    assert mark not in json.dumps(record)


def test_private_parts_are_cut_from_what_tools_say_too_also_across_lines() -> None:
    response = {
        "stdout": "a <private>x1</private> b",
        "lines": [" a", "+<private>", "+x2", "+</private>", " b"],
    }
    record = events.record("PostToolUse", event("PostToolUse", tool_response=response))
    assert record["tool_response"] == {"stdout": "a  b", "lines": [" a", "+", " b"]}


def test_an_event_that_names_a_hidden_path_keeps_only_the_tools_name() -> None:
    given_input = event(
        "PostToolUse",
        cwd="/home/dev/shop",
        tool_name="Bash",
        tool_input={"command": "cat config/secrets/prod.yml"},
        tool_response={"stdout": "CANARY"},
    )
    record = events.record("PostToolUse", given_input, hidden=["config/secrets/**"])
    assert "CANARY" not in json.dumps(record) and "prod.yml" not in json.dumps(record)
    assert record["tool_name"] == "Bash"
    assert "CANARY" in json.dumps(events.record("PostToolUse", given_input, hidden=["other/**"]))


# What comes before a tool is judged, and what comes after it is recorded.
RECORDED = set(SCRIPTS) - {"PreToolUse"}


@given(st.sampled_from(sorted(RECORDED)), st.dictionaries(st.text(max_size=12), JSON, max_size=6), JSON)
def test_any_input_gives_a_record_that_can_be_written(name: str, junk: dict[str, Any], value: object) -> None:
    fields = {field: value for field in (*events.IDENTITY, *events._FIELDS[name])}
    for given_input in ({**fields, **junk}, {**junk, "session_id": "s"}):
        record = events.record(name, given_input, 0, ["*.secret"])
        assert json.loads(events.encode(record))["event"] == name


def test_every_recorded_event_has_its_fields() -> None:
    assert set(events._FIELDS) == RECORDED
