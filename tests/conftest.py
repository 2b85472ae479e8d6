"""Every test runs with HOME and AGENT_MEM_HOME in a temporary folder of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "daemon"), str(ROOT / "tests")]

from ultan.wire.home import Home  # noqa: E402 (the path above makes it importable)

# A busy machine is slow now and then; that is no failure.
settings.register_profile("ultan", deadline=None)
settings.load_profile("ultan")


@pytest.fixture(autouse=True)
def private_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test reads or writes the person's own folders, and none inherits a session's variables."""
    for name in list(os.environ):
        if name.startswith(("CLAUDE_", "ANTHROPIC_", "ULTAN_")) and not name.startswith("ULTAN_TEST_"):
            monkeypatch.delenv(name)
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("AGENT_MEM_HOME", str(user / ".agent-mem"))
    yield


@pytest.fixture
def home() -> Home:
    """An empty memory home."""
    found = Home.resolve()
    found.ensure()
    return found


@pytest.fixture
def repository() -> Path:
    """The folder of the plugin itself."""
    return ROOT
