from __future__ import annotations

import os
import stat
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from ultan.wire.home import Home
from ultan.wire.session import ANY_PROMPT, SessionMemory, file_name


def test_what_was_shown_is_remembered_until_the_context_is_lost(home: Home) -> None:
    SessionMemory(home, "s").add(0, surfaced=["a", "b"], prompt_id="p-1")
    memory = SessionMemory(home, "s")
    assert memory.shown == {"a", "b"} and memory.prompts == {"p-1"}
    memory.add(0, reset="compact")
    memory.add(0, surfaced=["c"], prompt_id="p-2")
    memory.read()
    assert memory.shown == {"c"} and memory.prompts == {"p-1", "p-2"}


def test_sessions_do_not_know_each_other(home: Home) -> None:
    SessionMemory(home, "s").add(0, surfaced=["a"], prompt_id="p")
    assert SessionMemory(home, "t").shown == set()


def test_reading_makes_nothing_and_writing_makes_private_files(home: Home) -> None:
    memory = SessionMemory(home, "s")
    assert os.listdir(home.root) == []
    before = os.umask(0)
    try:
        memory.add(0, surfaced=[])
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(memory.path).st_mode) & 0o077 == 0
    assert stat.S_IMODE(os.stat(home.recall).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(os.path.dirname(memory.path)).st_mode) == 0o700


def test_a_private_turn_lasts_until_the_next_prompt_and_its_events_stay_private_for_ever(home: Home) -> None:
    memory = SessionMemory(home, "s")
    memory.add(0, private="p-1")
    memory.read()
    assert memory.is_private("p-1") and memory.is_private("")
    assert not memory.is_private("p-0")  # a late event of an earlier turn
    memory.add(0, private=None)
    memory.read()
    assert memory.is_private("p-1")  # a late event of the private turn
    assert not memory.is_private("p-2") and not memory.is_private("")
    assert memory.had_private


def test_without_prompt_ids_everything_until_the_next_prompt_is_private(home: Home) -> None:
    memory = SessionMemory(home, "s")
    memory.add(0, private=ANY_PROMPT)
    memory.read()
    assert memory.is_private("") and memory.is_private("p-9")
    memory.add(0, private=None)
    memory.read()
    assert not memory.is_private("") and not memory.is_private("p-9")


def test_a_fork_may_hold_a_private_turn(home: Home) -> None:
    SessionMemory(home, "s").add(0, forked=True)
    assert SessionMemory(home, "s").had_private


def test_broken_lines_are_passed_over(home: Home) -> None:
    memory = SessionMemory(home, "s")
    memory.add(0, surfaced=["a"])
    junk = b'not json\n[1]\n{"surfaced":7}\n{"surfaced":[1,"b"]}\n' + b"[" * 3000 + b'\n{"private":3}\n{"v"'
    Path(memory.path).write_bytes(Path(memory.path).read_bytes() + junk)
    memory.read()
    assert memory.shown == {"a", "b"}


def test_a_memory_that_cannot_be_read_counts_as_private(home: Home) -> None:
    memory = SessionMemory(home, "s")
    os.makedirs(memory.path)
    memory.read()
    assert memory.is_private("p") and memory.had_private


@given(st.text(min_size=1, max_size=120), st.text(min_size=1, max_size=120))
def test_any_session_id_has_a_safe_file_of_its_own(one: str, two: str) -> None:
    names = [file_name(one), file_name(two)]
    for name in names:
        assert name.isascii() and "/" not in name and "." not in name and len(name) <= 80
    assert (names[0].lower() == names[1].lower()) == (one == two)


def test_odd_session_ids_are_told_apart_on_any_file_system(home: Home) -> None:
    ids = ["", "a", "A", "../a", "a/b", "a.", "é", "e\u0301", "\ud800", "x" * 81, "x" * 82]
    assert len({file_name(name).lower() for name in ids}) == len(ids)
    for name in ids:
        memory = SessionMemory(home, name)
        memory.add(0, surfaced=[name.encode("ascii", "replace").decode()])
        assert Path(memory.path).parent == Path(home.recall) / "sessions"
