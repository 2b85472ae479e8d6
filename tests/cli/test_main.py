"""What holds for every command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
from ultan.cli import outcome
from ultan.cli.main import COMMANDS
from ultan.cli.main import ultan as group
from ultan.library.errors import LibraryBusy

START = "import sys; from ultan.cli.main import main; sys.exit(main())"


def process(repository: Path, *arguments: str, code: str = START, **more: Any) -> subprocess.Popen[bytes]:
    environ = {**os.environ, "PYTHONPATH": str(repository / "daemon")}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def leaves() -> list[tuple[str, ...]]:
    """Every command that does something, with its subcommands."""
    found: list[tuple[str, ...]] = []
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            found += [(name, below) for below in command.commands]
        else:
            found.append((name,))
    return found


@pytest.mark.parametrize("path", leaves(), ids=" ".join)
def test_every_command_has_json_and_a_help_with_an_example(ultan: Any, path: tuple[str, ...]) -> None:
    ran = ultan(*path, "--help")
    assert ran.code == 0
    assert "--json" in ran.out
    assert "Example" in ran.out and f"ultan {' '.join(path)}" in ran.out


def test_the_help_names_every_command_and_every_exit_code(ultan: Any) -> None:
    ran = ultan("--help")
    assert ran.code == 0
    assert all(f"  {name} " in ran.out for name in COMMANDS)
    assert "Exit codes:" in ran.out and "130" in ran.out


def test_the_help_loads_no_command_and_none_of_the_heavy_packages(repository: Path) -> None:
    heavy = ("rich", "numpy", "pydantic", "onnxruntime", "ultan.library", "ultan.service", "ultan.recall")
    code = (
        "import sys; from ultan.cli.main import main; main(['--help']); "
        f"print([name for name in sys.modules if name.startswith({heavy})], file=sys.stderr)"
    )
    with process(repository, code=code) as child:
        _, err = child.communicate(timeout=60)
    assert err.decode().strip() == "[]"


def test_an_unknown_command_is_a_usage_error(ultan: Any) -> None:
    ran = ultan("serach")
    assert ran.code == 2
    assert ran.out == "" and "serach" in ran.err and "--help" in ran.err


def test_a_usage_error_with_json_is_one_object_too(ultan: Any) -> None:
    ran = ultan("search", "--json")
    assert ran.code == 2
    assert ran.value["ok"] is False and ran.value["error"]["type"] == "usage"


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (LibraryBusy(3, "the daemon"), 1, "Try again in a moment"),
        (PermissionError(13, "Permission denied", "/some/file"), 1, "/some/file: Permission denied"),
        (KeyError("oops"), 1, "This should not have happened"),
        (KeyboardInterrupt(), 130, "Interrupted"),
        (click.Abort(), 130, "Interrupted"),
        (click.UsageError("no such thing"), 2, "no such thing"),
    ],
)
def test_an_error_ends_in_its_exit_code_and_words(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, words: str
) -> None:
    def fail() -> None:
        raise error

    assert outcome.end(fail, as_json=False) == code
    assert words in capsys.readouterr().err
    assert outcome.end(fail, as_json=True) == code
    told = json.loads(capsys.readouterr().out)
    assert set(told["error"]) == {"type", "what", "kept", "advice"} and words in " ".join(
        told["error"].values()
    )


def test_a_reader_that_leaves_is_no_trouble(repository: Path, library: Any) -> None:
    with process(repository, "list") as child:
        assert child.stdout is not None and child.stderr is not None
        child.stdout.close()
        err = child.stderr.read()
        assert child.wait(60) == outcome.UNREAD
    assert err == b""


def test_ctrl_c_ends_without_a_traceback(repository: Path, home: Any) -> None:
    code = START.replace("sys.exit", "print('up', flush=True); sys.exit")
    with process(repository, "add", "-", code=code, stdin=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"up\n"
        # It waits for standard input soon after; a signal before that would meet the interpreter itself.
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert b"Traceback" not in err and b"Interrupted" in err


def test_json_among_the_words_of_a_text_is_no_option() -> None:
    assert outcome.wants_json(["list", "--json"])
    assert not outcome.wants_json(["add", "--", "--json"])
