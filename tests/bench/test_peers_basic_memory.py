"""basic-memory as a peer, with drivers that answer as its own would; nothing is installed or asked for."""

from __future__ import annotations

import asyncio
import io
import json
import sys
import types
from pathlib import Path
from typing import Any

import peers
import peers_basic_memory as other
import peers_basic_memory_driver as driver
import pytest
from ultan.retrieval.evaluate import Prompt

ENTRIES = [{"id": "global/friday", "title": "Friday"}, {"id": "global/money", "title": "Money"}]
SCOPES = {"global/friday": "global", "global/money": "global"}
PROMPTS = [
    Prompt("1", "deploy", None, {"global/friday": 2}, "keyword"),
    Prompt("2", "break", None, {"global/money": 2}, "keyword"),
    Prompt("3", "haiku", None, {}, "negative-easy"),
]
ANSWERS = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "index" in asked:
        notes = sorted(os.listdir(os.path.join(asked["index"], "global")))
        said = {"version": "9.9"} if notes == ["friday.md", "money.md"] else {"error": repr(notes)}
    elif asked["mode"] in %r:
        said = {"error": "no vectors\\nhere"}
    elif asked["query"] == "break":
        said = {"error": "syntax"}
    else:
        said = {"results": [["global/friday.md", 2.5], ["global/money.md", 1]]}
    print(json.dumps(said), flush=True)
"""


@pytest.fixture
def answering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """answering(text): runs this program instead of the driver and gives what to call for the rows."""

    def prepare(text: str) -> Any:
        path = tmp_path / "driver.py"
        path.write_text(text)
        real = other.driven
        monkeypatch.setattr(other, "driven", lambda python, home: real(python, home, path))
        return peers.basic_memory(Path(sys.executable), ENTRIES, PROMPTS, SCOPES, tmp_path / "peer")

    return prepare


def test_both_of_its_searches_are_scored_and_errors_are_counted(answering: Any) -> None:
    rows = list(answering(ANSWERS % ("",)))
    assert [row["peer"] for row in rows] == ["basic-memory text"] * 2 + ["basic-memory hybrid"] * 2
    always = rows[0]
    assert (always["recall_at_3"], always["silence"], always["precision_at_3_all"]) == (0.5, 0.0, 0.25)
    assert "9.9" in always["note"] and "1 prompts answered by an error" in always["note"]
    assert rows[2]["index_s"] >= rows[0]["index_s"]


def test_what_worked_is_kept_where_its_vectors_do_not(answering: Any) -> None:
    rows = answering(ANSWERS % ("hybrid",))
    assert [next(rows)["peer"], next(rows)["peer"]] == ["basic-memory text"] * 2
    with pytest.raises(other.Missing, match="hybrid search does not work here: no vectors here"):
        next(rows)


@pytest.mark.parametrize("text", ["", "import sys; sys.stdin.readline(); sys.exit(3)"])
def test_a_driver_that_ends_is_told(answering: Any, text: str) -> None:
    with pytest.raises(other.Missing, match="ended"):
        list(answering(text))


def test_a_peer_that_fails_is_a_row_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": "1", "prompt": "money", "relevant": [{"id": "global/money", "grade": 2}]}]
    for name, lines in (("entries", ENTRIES), ("queries", rows)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in lines))
    monkeypatch.setattr(other, "provide", lambda cache, python, say: Path("/nowhere/python"))
    monkeypatch.setattr(other, "driven", failing)
    files = ["--entries", str(tmp_path / "entries"), "--queries", str(tmp_path / "queries")]
    assert peers.main([*files, "--with", "basic-memory"]) == 0
    assert "none            basic-memory cannot be asked" in capsys.readouterr().out


def failing(python: Path, home: Path) -> Any:
    raise other.Missing("cannot be asked")


def test_it_runs_without_the_persons_settings_and_without_a_hub() -> None:
    person = {"PATH": "/bin", "HOME": "/person", "BASIC_MEMORY_HOME": "/person/notes", "HF_HOME": "/models"}
    found = other.environment(person, Path("/bench"))
    assert (found["PATH"], found["HOME"], found["HF_HUB_OFFLINE"]) == ("/bin", "/bench", "1")
    assert "/person" not in " ".join(found.values()) and "HF_HOME" not in found


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """What provide() would run; answers[a part of the last word] is what that prints, None: it fails."""
    seen: dict[str, Any] = {"lines": [], "answers": {"enable_load_extension": "True\n"}}

    def run(line: list[str], environ: dict[str, str]) -> str:
        seen["lines"].append(line)
        (tmp_path / f"basic-memory-{other.VERSION}").mkdir(exist_ok=True)
        told = next((told for word, told in seen["answers"].items() if word in line[-1]), "")
        if told is None:
            raise other.Missing("cannot be installed: no such package")
        return told

    monkeypatch.setattr(other, "_run", run)
    return seen


def test_it_is_installed_once_at_its_pinned_version(commands: dict[str, Any], tmp_path: Path) -> None:
    for _ in range(2):
        found = other.provide(tmp_path, Path("/usr/bin/python3.12"), lambda told: None)
        assert found.is_relative_to(tmp_path)
    made, installed, _ = commands["lines"]
    assert made[0] == "/usr/bin/python3.12" and installed[-1] == f"basic-memory=={other.VERSION}"


def test_a_python_without_extensions_of_sqlite_gets_a_stand_in(
    commands: dict[str, Any], tmp_path: Path
) -> None:
    commands["answers"].update({"enable_load_extension": "False\n", "purelib": f"{tmp_path}\n"})
    told: list[str] = []
    other.provide(tmp_path, Path("/usr/bin/python3.12"), told.append)
    assert [line[-1] for line in commands["lines"]].count("pysqlite3-binary") == 1
    assert "pysqlite3" in (tmp_path / "pysqlite3.pth").read_text() and "stands in" in told[-1]


def test_without_the_stand_in_there_is_still_the_search_by_words(
    commands: dict[str, Any], tmp_path: Path
) -> None:
    commands["answers"].update({"enable_load_extension": "False\n", "pysqlite3-binary": None})
    told: list[str] = []
    other.provide(tmp_path, Path("/usr/bin/python3.12"), told.append)
    assert told[-1].endswith("without vectors") and not list(tmp_path.glob("*.pth"))


def test_without_a_fit_python_nothing_is_tried(
    commands: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(other, "fit", lambda environ: None)
    monkeypatch.setattr(other.interpreters, "find_uv", lambda environ: None)
    with pytest.raises(other.Missing, match=r"3\.12.*--basic-memory-python"):
        other.provide(tmp_path, None, lambda told: None)
    assert commands["lines"] == []


def test_a_failed_installation_says_its_last_words_and_is_tried_again(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho first\necho 'no space left' >&2\nexit 1\n")
    python.chmod(0o755)
    for _ in range(2):
        with pytest.raises(other.Missing, match="cannot be installed: no space left"):
            other.provide(tmp_path / "cache", python, lambda told: None)


def asked(monkeypatch: pytest.MonkeyPatch, found: object, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    """What the driver answers where basic-memory's search finds this."""

    async def search_notes(**_: object) -> object:
        if isinstance(found, Exception):
            raise found
        return found

    for name in ("basic_memory", "basic_memory.mcp"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    tools = types.ModuleType("basic_memory.mcp.tools")
    tools.search_notes = search_notes  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "basic_memory.mcp.tools", tools)
    out = io.StringIO()
    asyncio.run(driver.serve(io.StringIO("".join(json.dumps(line) + "\n" for line in lines)), out))
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_driver_turns_scores_so_that_higher_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"results": [{"file_path": "global/a.md", "score": -3.5}]}
    lines = [{"query": "x", "mode": mode, "limit": 5} for mode in ("text", "hybrid")]
    assert [line["results"][0][1] for line in asked(monkeypatch, found, *lines)] == [3.5, -3.5]


def test_the_driver_answers_every_failure_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    line = {"query": "x", "mode": "text", "limit": 5}
    assert asked(monkeypatch, "# Search  Failed", line, line) == [{"error": "# Search Failed"}] * 2
    assert asked(monkeypatch, KeyError("score"), line)[0]["error"].startswith("KeyError")
