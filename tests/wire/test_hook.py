from __future__ import annotations

import importlib
import json
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import ROOT, SCRIPTS, event, lines, prompt
from ultan.wire import events, hook
from ultan.wire.home import Home

NOW = 1_800_000_000.0
HANDLERS = {
    "SessionStart": ("capture", "start"),
    "UserPromptSubmit": ("prompt", "handle"),
    "UserPromptExpansion": ("expansion", "handle"),
    "PreToolUse": ("stop", "handle"),
    "PreCompact": ("capture", "compact"),
    "PostCompact": ("capture", "compact"),
    "SessionEnd": ("capture", "end"),
}
TEXT = st.text(alphabet=st.characters(codec=None), max_size=40)
JSON = st.recursive(
    TEXT | st.integers() | st.booleans() | st.none() | st.floats(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
NAMES = sorted(
    {
        *events.IDENTITY,
        "hook_event_name",
        "source",
        *(name for own in events._FIELDS.values() for name in own),
    }
)
FIELDS = st.dictionaries(
    st.sampled_from(NAMES), JSON | st.sampled_from(["", "#private", "/ultan x", "ultan:ultan"])
)


def run(name: str, raw: bytes) -> list[bytes]:
    """What a hook prints for an input, in this process."""
    module, function = HANDLERS.get(name, ("capture", "listen"))
    handle = getattr(importlib.import_module("ultan.wire." + module), function)
    printed: list[bytes] = []
    hook.run(name, handle, raw, dict(os.environ), NOW, str(ROOT / "nowhere"), printed.append)
    return printed


def check(printed: list[bytes], home: Home) -> None:
    assert len(printed) <= 1
    for out in printed:
        assert set(json.loads(out)) == {"hookSpecificOutput"}
    lines(home.events)
    lines(home.hook_errors)


@pytest.mark.parametrize("name", sorted(SCRIPTS))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fields=FIELDS, session=TEXT.filter(bool), junk=JSON)
def test_no_input_breaks_a_hook(
    name: str, home: Home, fields: dict[str, Any], session: str, junk: object
) -> None:
    whole = {**fields, "session_id": session, "hook_event_name": name}
    for value in (whole, fields, junk):
        check(run(name, json.dumps(value).encode()), home)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=200))
def test_no_bytes_break_a_hook(home: Home, raw: bytes) -> None:
    check(run("Stop", raw), home)
    assert not os.path.exists(home.events)


@given(raw=st.binary(max_size=100) | JSON.map(lambda value: json.dumps(value).encode()))
def test_reading_an_input_gives_an_object_or_says_why_not(raw: bytes) -> None:
    try:
        payload = hook.parse(raw, "Stop")
    except hook.Rejected as refusal:
        assert str(refusal)
    else:
        assert payload["hook_event_name"] == "Stop" and payload["session_id"]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"[1]", "a JSON list"),
        (b"{} {}", "not one JSON object"),
        (b"[" * 100_000, "not one JSON object"),
        (b'{"session_id":"s","hook_event_name":"Stop","n":NaN}', "NaN is no JSON value"),
        (b'{"hook_event_name":"Stop"}', "session_id"),
        (b'{"session_id":"s","hook_event_name":7}', "hook_event_name"),
        (b'{"session_id":"s","hook_event_name":"New"}', "for another: New"),
    ],
)
def test_a_refused_input_is_noted_with_the_reason(home: Home, raw: bytes, why: str) -> None:
    assert run("Stop", raw) == []
    (line,) = lines(home.hook_errors)
    assert why in line["message"] and line["kind"] == "input"
    assert not os.path.exists(home.events)


def test_an_input_over_the_limit_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "INPUT_LIMIT", 10)
    run("Stop", json.dumps(event("Stop")).encode())
    assert "over 10 bytes" in lines(home.hook_errors)[0]["message"]


def test_every_event_has_a_script_that_runs_its_handler() -> None:
    for name, script in SCRIPTS.items():
        module, function = HANDLERS.get(name, ("capture", "listen"))
        text = (ROOT / "hooks" / script).read_text("utf-8")
        assert f"from ultan.wire.{module} import {function}\n" in text
        assert f'main("{name}", {function}, ROOT)' in text


def test_a_huge_prompt_id_does_not_grow_the_sessions_memory(home: Home) -> None:
    run("UserPromptSubmit", json.dumps(prompt("#private x", prompt_id="p" * 1_000_000)).encode())
    run("Stop", json.dumps(event("Stop", prompt_id="p" * 1_000_000, last_assistant_message="x")).encode())
    assert os.path.getsize(os.path.join(home.recall, "sessions", "s-1.jsonl")) < 1000
    assert not os.path.exists(home.events)


def test_a_fresh_home_hears_every_event(home: Home) -> None:
    for name in SCRIPTS:
        given_input = prompt("hello") if name == "UserPromptSubmit" else event(name)
        run(name, json.dumps(given_input).encode())
    recorded = [name for name in SCRIPTS if name != "PreToolUse"]
    assert [line["event"] for line in lines(home.events)] == recorded
