"""Patterns against calls of tools: which entries speak, and what is sure about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ultan.library.derived import trigger_row
from ultan.library.fields import Trigger
from ultan.wire.bounded import Budget
from ultan.wire.triggers import NO_TIME, NOT_APART, judge, load

ENDLESS = "(x|xx)+y"


def entry(*patterns: str, id: str = "global/a", severity: str = "advise", **more: Any) -> dict[str, Any]:
    rows = [trigger_row(Trigger("Bash", "command", pattern)) for pattern in patterns]
    return {"id": id, "title": "A", "scope": "global", "severity": severity, "triggers": rows, **more}


def on(tool: str, field: str, pattern: str, **more: Any) -> dict[str, Any]:
    return {**entry(**more), "triggers": [trigger_row(Trigger(tool, field, pattern))]}


def ids(command: str, *entries: dict[str, Any]) -> list[str]:
    return [str(hit.entry["id"]) for hit in judge("Bash", {"command": command}, list(entries)).hits]


def test_an_entry_speaks_where_one_of_its_patterns_matches_a_command() -> None:
    one = entry(r"\bpip install\b", "^conda ")
    assert ids("cd /tmp && pip install x", one) == ids("conda env list", one) == ["global/a"]
    assert ids('git commit -m "pip install"', one) == []
    (hit,) = judge("Bash", {"command": "ls; sudo pip install x"}, [one]).hits
    assert "pip install x" in hit.seen and hit.pattern == r"\bpip install\b" and not hit.doubt


def test_those_that_block_come_first() -> None:
    both = entry("^ls", id="global/a"), entry("^ls", id="global/b", severity="block")
    assert ids("ls", *both) == ["global/b", "global/a"]


def test_who_may_not_speak_here_is_not_heard_and_asked_only_where_needed() -> None:
    asked = []

    def speaks(one: dict[str, Any]) -> bool:
        asked.append(one["id"])
        return False

    assert judge("Bash", {"command": "ls"}, [entry("^ls"), entry("^rm", id="global/b")], speaks).hits == []
    assert asked == ["global/a"]


@pytest.mark.parametrize(
    ("tool", "field", "pattern", "name", "given", "speaks"),
    [
        ("Write", "file_path", r"\.env$", "Write", {"file_path": "/x/.env"}, True),
        ("Write", "file_path", r"\.env$", "Edit", {"file_path": "/x/.env"}, False),
        ("Write", "content", "AKIA", "Write", {"content": "a\nAKIA", "file_path": "x"}, True),
        ("MultiEdit", "edits.new_string", "eval", "MultiEdit", {"edits": [{"new_string": "eval()"}]}, True),
        ("WebFetch", "url", "^http://", "WebFetch", {"url": "http://a"}, True),
        ("mcp__git__*", "*", "force", "mcp__git__push", {"options": {"mode": ["force"]}}, True),
        ("mcp__git__*", "*", "force", "mcp__hub__push", {"options": {"mode": ["force"]}}, False),
        ("mcp__db__run", "limit", "^1000$", "mcp__db__run", {"limit": 1000}, True),
        ("Bash", "description", "deploy", "Bash", {"command": "x", "description": "deploy it"}, True),
        ("Write", "a.b.c", "x", "Write", {"a": "x"}, False),
    ],
)
def test_a_pattern_may_be_for_any_field_of_any_tool(
    tool: str, field: str, pattern: str, name: str, given: dict[str, object], speaks: bool
) -> None:
    assert bool(judge(name, given, [on(tool, field, pattern)]).hits) is speaks


def test_a_refused_pattern_of_advice_says_nothing_and_the_good_ones_beside_it_work() -> None:
    one = entry("([unclosed", "a*", r"echo (a+)+$", "^echo ")
    (hit,) = judge("Bash", {"command": "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}, [one]).hits
    assert hit.pattern == "^echo "
    assert ids("echo aa", entry(r"echo (a+)+$")) == []


def test_a_block_that_cannot_be_judged_in_time_is_a_doubt_and_hides_nobody() -> None:
    block = entry(ENDLESS, id="global/b", severity="block")
    judged = judge("Bash", {"command": "echo " + "x" * 60}, [block, entry("^echo ")])
    assert [(hit.entry["id"], hit.doubt) for hit in judged.hits] == [("global/b", NO_TIME), ("global/a", "")]
    assert judged.late == ["global/b"]


def test_a_refused_block_pattern_is_judged_all_the_same_where_it_ends_in_time() -> None:
    block = entry(ENDLESS, severity="block")
    (hit,) = judge("Bash", {"command": "make xxy"}, [block]).hits
    assert hit.doubt == "" and ids("ls -la", block) == []


def test_of_a_line_that_cannot_be_taken_apart_advice_goes_by_the_text_and_a_block_is_a_doubt() -> None:
    line = "echo 'unfinished; git push --force"
    (advice,) = judge("Bash", {"command": line}, [entry("git push --force")]).hits
    (block,) = judge("Bash", {"command": line}, [entry("git push --force", severity="block")]).hits
    assert (advice.doubt, block.doubt) == ("", NOT_APART)
    assert ids("echo 'unfinished", entry("git push --force", severity="block")) == []


def test_without_any_time_all_that_blocks_is_a_doubt_and_advice_is_silent() -> None:
    entries = [entry("^ls", severity="block"), entry("^ls", id="global/b")]
    judged = judge("Bash", {"command": "ls"}, entries, budget=Budget(0.0, 0.0))
    assert [(hit.entry["id"], hit.doubt) for hit in judged.hits] == [("global/a", NO_TIME)]
    assert judged.late == ["global/a", "global/b"]


@pytest.mark.parametrize(
    "given", [{}, {"command": None}, {"command": 7}, {"command": ["ls"]}, {"command": ""}]
)
def test_an_input_without_a_command_meets_nothing(given: dict[str, object]) -> None:
    assert judge("Bash", given, [entry("^rm", severity="block")]).hits == []


def test_an_absent_file_has_no_entries_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    assert load(str(tmp_path / "none.json")) == []
    for text in ("{", "[]", '{"entries": 7}'):
        (tmp_path / "t.json").write_text(text)
        with pytest.raises(ValueError):
            load(str(tmp_path / "t.json"))


def test_rows_that_somebody_spoiled_are_passed_over(tmp_path: Path) -> None:
    good = entry("^ls")
    spoiled = [7, {"id": 3}, {**good, "triggers": "x"}, {**good, "triggers": [3, {"tool": "Bash"}]}, good]
    (tmp_path / "t.json").write_text(json.dumps({"v": 1, "entries": spoiled}))
    assert ids("ls", *load(str(tmp_path / "t.json"))) == ["global/a"]
