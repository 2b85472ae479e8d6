"""Starting, stopping and asking the daemon by hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support import StubRuntime
from ultan.cli import daemon
from ultan.wire.files import FileLock, utc_now
from ultan.wire.home import Home


def test_without_an_installed_copy_start_says_how_to_install(ultan: Any, home: Home) -> None:
    ran = ultan("daemon", "start")
    assert ran.code == 1
    assert "./tools/ultan setup" in ran.err


def test_a_daemon_that_dies_at_once_is_reported_with_its_reason(home: Home, tmp_path: Path) -> None:
    runtime = StubRuntime(Path(home.runtime))
    words = json.dumps({"state": "failed", "pid": 1, "error": "no room on the disk"})
    python = Path(runtime.folder, "python")
    python.write_text(f"#!/bin/sh\nprintf '%s' '{words}' > {home.daemon_pid}\n")
    with pytest.raises(daemon.NotStarted, match="no room on the disk"):
        daemon.started(home, dict(os.environ), 30, lambda words: None)


def test_an_earlier_failure_does_not_forbid_a_start_by_hand(home: Home) -> None:
    runtime = StubRuntime(Path(home.runtime))
    Path(home.daemon_pid).write_text(json.dumps({"state": "failed", "since": utc_now(), "error": "old"}))
    with pytest.raises(daemon.NotStarted, match="not ready in 1 s"):
        daemon.started(home, dict(os.environ), 1, lambda words: None)
    assert runtime.starts(1)


def test_stop_without_a_daemon_is_fine(ultan: Any, home: Home) -> None:
    assert ultan("daemon", "stop", "--json").value == {"ok": True, "was": "down"}


def test_a_daemon_that_does_not_end_is_named_and_not_killed(home: Home) -> None:
    Path(home.daemon_pid).write_text(json.dumps({"state": "ready", "pid": 4242}))
    with FileLock(home.daemon_lock), pytest.raises(daemon.NotStopped, match="kill 4242"):
        daemon.stopped(home, seconds=0.2)


def test_status_is_1_unless_it_is_ready(ultan: Any, home: Home) -> None:
    ran = ultan("daemon", "status", "--json")
    assert (ran.code, ran.value["state"], ran.value["socket"]) == (1, "down", home.socket)
