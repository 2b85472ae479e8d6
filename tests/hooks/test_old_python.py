"""The hooks run on the oldest Python that a machine may have."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from support import CASES, SCRIPTS, event, fill, lines, prompt, run_hook
from ultan.wire.home import Home


def old_python() -> str | None:
    found = shutil.which("python3.9")
    if found is None:
        return None
    try:
        works = subprocess.run([found, "-c", "pass"], capture_output=True, timeout=60, check=False)
    except OSError:
        return None
    return found if works.returncode == 0 else None


def test_every_hook_runs_on_python_3_9(home: Home) -> None:
    python = old_python()
    if python is None:
        pytest.skip("no python3.9 on the PATH")
    fill(home, CASES / "hook-output-envelope" / "knowledge")
    for name in SCRIPTS:
        given = prompt("deploy to production on Friday?") if name == "UserPromptSubmit" else event(name)
        context = run_hook(given, python=python).context
        assert bool(context) == (name == "UserPromptSubmit"), name
    assert (
        run_hook(prompt("password: hunter2 <private>x</private>", prompt_id="p-2"), python=python).context
        == ""
    )
    assert [line["event"] for line in lines(home.events)] == [*SCRIPTS, "UserPromptSubmit"]
    assert lines(home.events)[-1]["prompt"] == "password: [redacted:secret] "
    assert lines(home.hook_errors) == []
