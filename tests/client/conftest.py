"""The repository as a plugin in the real client, offline, against a scripted model.

These tests run where a client is found (ULTAN_TEST_CLAUDE, `claude` on PATH, or the SDK's own) and a network
namespace can be made; elsewhere they are skipped with the reason. ULTAN_TEST_CLAUDE_OLDEST names the oldest
supported client, for the tests that load the plugin in both.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "tools")]

from offline_client import client as offline  # noqa: E402 (the path above makes it importable)
from stage import Stage  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "client: drives the real client, offline")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.client)


@pytest.fixture(scope="session")
def program() -> str:
    """The client under test."""
    found = offline.find()
    if found is None:
        pytest.skip("no client: set ULTAN_TEST_CLAUDE, put claude on PATH, or install claude-agent-sdk")
    if not offline.can_isolate():
        pytest.skip("no network namespace can be made here (unshare -n), and a client must not be online")
    return found


@pytest.fixture(scope="session")
def oldest(program: str) -> str:
    """The oldest supported client."""
    found = os.environ.get("ULTAN_TEST_CLAUDE_OLDEST")
    if not found:
        pytest.skip("ULTAN_TEST_CLAUDE_OLDEST names no client")
    return found


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Stage]]:
    """Makes stages; the daemons that were started on them are ended with the module."""
    made: list[Stage] = []

    def make(program: str) -> Stage:
        stage = Stage(program, tmp_path_factory.mktemp("stage"))
        made.append(stage)
        return stage

    yield make
    for stage in made:
        stage.stop_daemon()


@pytest.fixture
def stage(program: str, stages: Callable[[str], Stage]) -> Stage:
    """A fresh machine with the client under test."""
    return stages(program)
