"""What a person types after a slash command is text: never a shell line, never options."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from ultan.wire.expansion import handle
from ultan.wire.home import Home
from ultan.wire.hook import run

SENTINEL = "@@SENTINEL@@"
TEXTS = [
    "don't deploy on Fridays",
    "use \"uv\", not 'pip'",
    "run `date` before each release",
    "cost is $(touch @@SENTINEL@@) euros",
    "; touch @@SENTINEL@@",
    "a && touch @@SENTINEL@@ || true",
    "two\nlines, second one\n",
    "--help",
    "-n 5",
    "* and ? and [a-z]",
    "back\\slash and trailing \\",
    "wow! !! !$",
    "EOF\ntouch @@SENTINEL@@\nEOF",
    "本番では絶対に --force を使わない",
    "${HOME} and $1 and $ARGUMENTS",
    "<<'X'",
    "%s %n {0}",
    "---\ntitle: not a header\n---\nbody",
    "tab\there, two  blanks, \r\nand a carriage return",
]


def type_command(home: Home, cwd: Path, text: str) -> str:
    """Feed `/ultan TEXT` to the expansion hook; what it tells the agent."""
    payload = {
        "session_id": "s-1",
        "prompt_id": "p-1",
        "transcript_path": str(cwd / "s-1.jsonl"),
        "cwd": str(cwd),
        "hook_event_name": "UserPromptExpansion",
        "expansion_type": "slash_command",
        "command_name": "ultan:ultan",
        "command_args": text,
        "command_source": "plugin",
        "prompt": "/ultan:ultan " + text,
    }
    printed = io.BytesIO()
    environ = {"AGENT_MEM_HOME": home.root, "HOME": str(cwd), "ULTAN_RUNTIME": str(cwd / "none")}
    raw = json.dumps(payload).encode()
    run("UserPromptExpansion", handle, raw, environ, 1_796_000_000.0, str(cwd), printed.write)
    told: str = json.loads(printed.getvalue())["hookSpecificOutput"]["additionalContext"]
    return told


def saved_texts(home: Home) -> list[str]:
    """The bodies of the notes in the library."""
    notes = [path for path in Path(home.knowledge).rglob("*.md") if b"\nsource:" in path.read_bytes()]
    return [path.read_bytes().decode().split("\n---\n", 1)[1] for path in notes]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_is_saved_as_it_was_typed(home: Home, project: Path, tmp_path: Path, text: str) -> None:
    sentinel = tmp_path / "sentinel"
    typed = text.replace(SENTINEL, str(sentinel))
    type_command(home, project, typed)
    assert [body.removesuffix("\n") for body in saved_texts(home)] == [typed.removesuffix("\n")]
    assert not sentinel.exists()


@pytest.mark.parametrize("text", ["", "   ", "\n\t \n"])
def test_no_text_gets_a_line_on_how_to_use_it_and_saves_nothing(home: Home, project: Path, text: str) -> None:
    assert "Nothing was saved" in type_command(home, project, text)
    assert saved_texts(home) == []


def test_no_command_has_a_shell_line_that_takes_what_was_typed(repository: Path) -> None:
    commands = sorted((repository / "commands").glob("*.md"))
    assert commands
    for path in commands:
        text = path.read_text(encoding="utf-8")
        shell = re.findall(r"!`[^`]*`|^```!.*?^```", text, re.M | re.S)
        assert not any(re.search(r"\$ARGUMENTS|\$\{?\d", line) for line in shell), path.name


def test_commands_are_the_persons_and_have_their_short_names(repository: Path) -> None:
    for path in sorted((repository / "commands").glob("*.md")):
        header = path.read_text(encoding="utf-8").split("\n---\n")[0].splitlines()
        assert f"name: {path.stem}" in header
        assert "disable-model-invocation: true" in header
