"""The open segments of sessions: each event once, whole, in order, read back as it was heard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.curator import spool as spools
from ultan.curator.spool import Heard, Spool, folder_name, identity, notices, user_turns
from ultan.wire.home import Home


def heard(session: str = "s-1", **fields: Any) -> Heard:
    event = {
        "v": 1,
        "event": "UserPromptSubmit",
        "session_id": session,
        "ts": "2026-12-01T02:40:00Z",
        **fields,
    }
    return Heard(event, json.dumps(event, ensure_ascii=False).encode())


def prompts(spool: Spool, session: str = "s-1") -> list[str]:
    return [turn.text for turn in user_turns(spool.events(session))]


def test_events_come_back_in_order_each_in_its_own_session(home: Home) -> None:
    spool = Spool(home)
    spool.append([heard("a", prompt="1"), heard("b", prompt="2"), heard("a", prompt="3")])
    assert prompts(spool, "a") == ["1", "3"]
    assert prompts(spool, "b") == ["2"]
    assert spool.sessions() == ["a", "b"]


def test_an_event_that_is_handed_over_again_is_kept_once_also_after_a_restart(home: Home) -> None:
    first = heard(prompt="uv, not pip", prompt_id="p-1")
    assert Spool(home).append([first, first]).duplicates == 1
    added = Spool(home).append([first, heard(prompt="next", prompt_id="p-2")])
    assert (added.kept, added.duplicates) == (1, 1)
    assert prompts(Spool(home)) == ["uv, not pip", "next"]


def test_a_hook_that_is_wired_twice_is_heard_once_though_a_second_passed(home: Home) -> None:
    one = heard(prompt="hello", prompt_id="p-1")
    other = heard(prompt="hello", prompt_id="p-1", ts="2026-12-01T02:40:01Z")
    assert Spool(home).append([one, other]).kept == 1


def test_the_same_word_said_again_later_is_another_turn_where_the_client_numbers_none(home: Home) -> None:
    spool = Spool(home)
    spool.append([heard(prompt="ok"), heard(prompt="ok", ts="2026-12-01T02:41:00Z")])
    assert prompts(spool) == ["ok", "ok"]


@pytest.mark.parametrize("name", ["agent_id", "prompt_id", "tool_use_id", "event", "prompt"])
def test_events_that_differ_in_who_when_or_what_are_two(home: Home, name: str) -> None:
    assert Spool(home).append([heard(prompt="x"), heard(**{"prompt": "x", name: "other"})]).kept == 2


def test_a_record_that_a_crash_left_unfinished_is_taken_off_and_can_be_added_again(home: Home) -> None:
    Spool(home).append([heard(prompt="whole", prompt_id="p-1")])
    path = Path(home.spool, "s-1", "open.jsonl")
    whole = path.read_bytes()
    for cut in (1, 40, len(whole) - 1):
        path.write_bytes(whole + whole[:cut])
        assert list(spools.read_segment(path)) == [heard(prompt="whole", prompt_id="p-1").event]
        assert Spool(home).append([heard(prompt="next", prompt_id="p-2")]).kept == 1
        assert prompts(Spool(home)) == ["whole", "next"]
        path.write_bytes(whole)


def test_a_full_disk_leaves_the_segment_as_it_was(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(home)
    spool.append([heard(prompt="kept")])
    before = Path(home.spool, "s-1", "open.jsonl").read_bytes()
    write = spools.os.write

    def half(descriptor: int, data: memoryview) -> int:
        write(descriptor, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spools.os, "write", half)
    with pytest.raises(OSError, match="No space"):
        spool.append([heard(prompt="lost?")])
    monkeypatch.undo()
    assert Path(home.spool, "s-1", "open.jsonl").read_bytes() == before
    assert spool.append([heard(prompt="lost?")]).kept == 1
    assert prompts(spool) == ["kept", "lost?"]


def test_a_segment_that_another_process_took_away_is_begun_anew(home: Home) -> None:
    spool = Spool(home)
    spool.append([heard(prompt="1")])
    Path(home.spool, "s-1", "open.jsonl").unlink()
    spool.append([heard(prompt="2")])
    assert prompts(spool) == ["2"]


def test_what_the_client_sends_on_its_own_account_is_a_notice_and_no_turn(home: Home) -> None:
    spool = Spool(home)
    spool.append(
        [
            heard(prompt="do it", prompt_id="p-1", cwd="/src"),
            heard(prompt="<task-notification>done</task-notification>", prompt_id="p-2", synthetic=True),
            heard(prompt="<system-reminder>an old record without the mark", prompt_id="p-3"),
            heard(prompt="/review it", prompt_id="p-4", command="review"),
        ]
    )
    turns = user_turns(spool.events("s-1"))
    assert [(turn.prompt_id, turn.cwd, turn.command) for turn in turns] == [
        ("p-1", "/src", ""),
        ("p-4", "", "review"),
    ]
    assert [event["prompt_id"] for event in notices(spool.events("s-1"))] == ["p-2", "p-3"]


@pytest.mark.parametrize(
    "session", ["", "../../etc", "a/b", "remember", "A", "x" * 300, "\ud800", "packets", "."]
)
def test_any_session_id_has_a_folder_of_its_own_below_the_spool(home: Home, session: str) -> None:
    name = folder_name(session)
    assert "/" not in name and name not in (".", "..", "") and len(name) < 100
    assert name not in spools.RESERVED
    assert name != folder_name(session + "x")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda v: st.lists(v) | st.dictionaries(st.text(), v),
    )
)
def test_identity_does_not_depend_on_the_order_of_fields_nor_on_when_it_was_noted(value: Any) -> None:
    one = {"event": "e", "session_id": "s", "ts": "1", "x": value}
    other = {"x": value, "ts": "2", "session_id": "s", "event": "e"}
    assert identity(one) == identity(other) != identity({**one, "y": 1})


def test_folders_and_files_are_private(home: Home) -> None:
    Spool(home).append([heard(prompt="x")])
    assert Path(home.spool).stat().st_mode & 0o777 == 0o700
    assert Path(home.spool, "s-1").stat().st_mode & 0o777 == 0o700
    assert Path(home.spool, "s-1", "open.jsonl").stat().st_mode & 0o777 == 0o600
