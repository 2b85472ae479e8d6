"""`ultan trigger`: adding, listing, testing and backtesting patterns."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import CASES, event, run_hook
from ultan.cli.place import refresh
from ultan.wire.home import Home

UV = "global/python/use-uv"
FRIDAY = "global/deploy/no-friday-deploys"
PIP = r"\bpip install\b"


def page(home: Home, id: str = UV) -> str:
    return Path(home.knowledge, id + ".md").read_text("utf-8")


def called(command: str, cwd: str = "/home/dev/shop") -> dict[str, Any]:
    return event("PreToolUse", tool_name="Bash", tool_input={"command": command}, cwd=cwd)


def heard(home: Home, *commands: str) -> None:
    home.ensure()
    rows = [
        {
            "v": 1,
            "event": "PostToolUse",
            "ts": f"2026-11-0{number}T10:00:00Z",
            "session_id": "s",
            "cwd": "/home/dev/shop",
            "tool_name": "Bash",
            "tool_input": {"command": command},
        }
        for number, command in enumerate(commands, 1)
    ]
    half = len(rows) // 2
    for path, part in ((home.events + ".1", rows[:half]), (home.events, rows[half:])):
        text = "".join(json.dumps(row) + "\n" for row in part)
        Path(path).write_text(text + 'broken\n{"event": "Stop"}\n', "utf-8")


def test_an_added_pattern_is_one_line_of_the_file_and_the_hook_knows_it_at_once(
    ultan: Any, library: Home
) -> None:
    before = page(library).splitlines()
    ran = ultan("trigger", "add", UV, PIP)
    assert ran.code == 0 and "ultan undo" in ran.out
    changed = [line for line in page(library).splitlines() if line not in before]
    assert len(changed) == 2 and changed[0].startswith("updated:") and "block_triggers:" in changed[1]
    assert f"({UV})" in run_hook(called("sudo pip install x")).context
    ultan("trigger", "add", UV, "^conda ", "--block")
    assert "deny" in run_hook(called("conda env list")).out.decode()
    assert [t["pattern"] for t in ultan("trigger", "list", "--json").value["triggers"]] == [PIP, "^conda "]


def test_adding_the_same_again_writes_nothing_and_undo_takes_it_back(ultan: Any, library: Home) -> None:
    original = page(library)
    assert ultan("trigger", "add", UV, PIP, "--json").value["changed"] is True
    written = page(library)
    assert ultan("trigger", "add", UV, PIP, "--json").value["changed"] is False
    assert page(library) == written
    assert ultan("undo").code == 0
    assert page(library) == original
    assert run_hook(called("pip install x")).out == b""


def test_patterns_that_stand_there_in_any_form_are_kept(ultan: Any, library: Home) -> None:
    path = Path(library.knowledge, UV + ".md")
    text = "block_triggers: {tool: WebFetch, field: url, pattern: pypi}\nupdated: 2026-01-10"
    path.write_text(page(library).replace("updated: 2026-01-10", text))
    ultan("trigger", "add", UV, r"\.env$", "--tool", "Write", "--field", "file_path")
    found = ultan("trigger", "list", "--json").value["triggers"]
    assert [(row["tool"], row["field"], row["pattern"]) for row in found] == [
        ("WebFetch", "url", "pypi"),
        ("Write", "file_path", r"\.env$"),
    ]


@pytest.mark.parametrize("pattern", ["([unclosed", "(a+)+$", "a*", "x" * 2000])
def test_a_pattern_that_cannot_be_used_is_refused_by_name(ultan: Any, library: Home, pattern: str) -> None:
    before = page(library)
    ran = ultan("trigger", "add", UV, pattern)
    assert ran.code == 1 and pattern[:20] in ran.err and "Nothing was written" in ran.err
    assert page(library) == before
    assert ultan("trigger", "backtest", UV, "--pattern", pattern).code == 1


def test_what_is_missing_is_named(ultan: Any, library: Home) -> None:
    assert FRIDAY in ultan("trigger", "add", FRIDAY[:-1], "x y").err
    assert "--field" in ultan("trigger", "add", UV, "x y", "--tool", "Write").err
    assert "--pattern" in ultan("trigger", "backtest", UV).err
    assert ultan("trigger", "list").out.startswith("No entry has a pattern")


def test_the_list_says_what_keeps_a_pattern_from_being_used(ultan: Any, library: Home) -> None:
    path = Path(library.knowledge, UV + ".md")
    path.write_text(page(library).replace("updated:", "block_triggers: ['(a+)+$', '^ls ']\nupdated:"))
    other = Path(library.knowledge, FRIDAY + ".md")
    other.write_text(
        page(library, FRIDAY).replace("updated:", "status: stale\nblock_triggers: '^x '\nupdated:")
    )
    found = {row["pattern"]: row["state"] for row in ultan("trigger", "list", "--json").value["triggers"]}
    assert found == {"(a+)+$": "refused", "^ls ": "advise", "^x ": "stale"}
    assert "can take forever" in ultan("trigger", "list").out
    assert "can take forever" in ultan("lint").out


def test_a_test_shows_what_would_be_said_and_runs_and_records_nothing(ultan: Any, library: Home) -> None:
    ultan("trigger", "add", UV, PIP)
    ultan("trigger", "add", FRIDAY, "^make deploy", "--block")
    advised = ultan("trigger", "test", "cd x && python3 -m pip install y", "--json")
    assert advised.code == 0
    assert [(hit["id"], hit["what"]) for hit in advised.value["hits"]] == [(UV, "advises")]
    denied = ultan("trigger", "test", "env A=1 make deploy")
    assert denied.code == 1 and "denies: No deploys on Fridays" in denied.out and "^make deploy" in denied.out
    assert ultan("trigger", "test", "git commit -m 'pip install'").out.startswith("Nothing in the library")
    assert ultan("trigger", "test", f"rm -rf {library.root}").code == 1
    assert not Path(library.events).exists() and not Path(library.recall).exists()


def test_a_test_of_another_tool_takes_a_field_or_json(ultan: Any, library: Home) -> None:
    ultan("trigger", "add", UV, "requirements", "--tool", "Write", "--field", "file_path")
    assert ultan(
        "trigger", "test", "/x/requirements.txt", "--tool", "Write", "--field", "file_path", "--json"
    ).value["hits"]
    given = json.dumps({"file_path": "/x/requirements.txt"})
    assert ultan("trigger", "test", given, "--tool", "Write", "--json").value["hits"]
    assert ultan("trigger", "test", "x", "--tool", "Write").code == 2


def test_a_backtest_tells_how_often_a_pattern_would_have_spoken_and_on_what(
    ultan: Any, library: Home
) -> None:
    heard(library, "pip install a", "ls", "sudo pip install b", "echo 'pip install'", "pip install a")
    value = ultan("trigger", "backtest", UV, "--pattern", PIP, "--json").value
    assert (value["calls"], len(value["fired"])) == (5, 3)
    assert value["often"][0] == {"seen": "pip install a", "times": 2}
    assert [one["ts"][:10] for one in value["fired"]] == ["2026-11-01", "2026-11-03", "2026-11-05"]
    later = ultan("trigger", "backtest", UV, "--pattern", PIP, "--since", "2026-11-03", "--json").value
    assert (later["calls"], len(later["fired"])) == (3, 2)
    ultan("trigger", "add", UV, PIP)
    assert "3 times in 5 recorded calls" in ultan("trigger", "backtest", UV).out


def test_doctor_names_each_pattern_that_is_refused_or_was_too_slow(ultan: Any, home: Home) -> None:
    case = CASES / "pretool-redos"
    shutil.copytree(case / "knowledge", home.knowledge)
    refresh(home)
    run_hook(json.loads((case / "toolcall.json").read_text("utf-8")))
    told = ultan("doctor").out
    for id in ("slow", "slow2", "invalid"):
        assert f"global/trig/{id}.md" in told, id
    assert "global/trig/slow2 could not be tried in time" in told
    assert "global/trig/good.md" not in told
