"""A stage for the client: a machine of its own, and what the tests look at afterwards."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from offline_client import client as offline
from offline_client.terminal import Terminal
from ultan.wire.home import Home
from ultan.wire.lexical import build_catalog
from ultan.wire.version import VERSION

ROOT = Path(__file__).resolve().parent.parent.parent
ANSWERS: dict[str, Any] = {"rules": [{"name": "turn", "times": 0, "reply": {"text": "Answer ${n}."}}]}
FRIDAY = {
    "global/deploy/no-friday-deploys": "No deploys on Fridays\n"
    "Never start a production deploy on a Friday. Wait for Monday."
}
# What no answer of the client's may exceed, whatever is broken; generous, for slow machines.
TURN_SECONDS = 45
PATIENCE_SECONDS = 90


class Stage:
    """One person's machine: a client, a memory home, and a runtime that is as the test needs it."""

    def __init__(self, program: str, folder: Path) -> None:
        self.client = offline.Client(program, folder)
        self.folder = folder
        self.home = Home(str(self.client.home / ".agent-mem"))
        self.home.ensure()
        self.runtime = folder / "runtime"
        self.plugin = ROOT
        self.arguments = ["--plugin-dir", str(ROOT)]
        self.install_runtime(starts=False)

    def install_runtime(self, starts: bool) -> None:
        """A runtime of this version: the repository's own code, or one whose daemon ends at once."""
        code = ROOT / "daemon" if starts else self.folder / "idle"
        if not starts:
            code.mkdir(exist_ok=True)
            (code / "boot.py").write_text("")
        self.runtime.mkdir(exist_ok=True)
        current = {"version": VERSION, "code": str(code), "python": sys.executable}
        (self.runtime / "current.json").write_text(json.dumps(current))

    def session(
        self, script: dict[str, Any] | None = None, *arguments: str, **environment: str
    ) -> offline.Session:
        """A session with the plugin loaded."""
        return self.client.session(
            [*self.arguments, *arguments], script or ANSWERS, {**self.environment(), **environment}
        )

    def terminal(self) -> Terminal:
        """The client with the plugin loaded, in a terminal."""
        return self.client.terminal(self.arguments, ANSWERS, self.environment())

    def environment(self) -> dict[str, str]:
        return {"AGENT_MEM_HOME": self.home.root, "ULTAN_RUNTIME": str(self.runtime)}

    def write(self, texts: dict[str, str]) -> None:
        """Fill the library: id and text, whose first line is the title."""
        rows = []
        for entry_id, text in texts.items():
            title, _, body = text.partition("\n")
            path = Path(self.home.knowledge, entry_id + ".md")
            path.parent.mkdir(parents=True, exist_ok=True)
            header = f"id: {entry_id}\ntitle: {title}\ntype: preference\nupdated: 2026-01-10"
            path.write_text(f"---\n{header}\n---\n{body}\n", encoding="utf-8")
            rows.append(
                {
                    "id": entry_id,
                    "title": title,
                    "type": "preference",
                    "scope": "global",
                    "status": "active",
                    "updated": "2026-01-10",
                    "applies_when": "",
                    "tags": [],
                    "body": body,
                    "excerpt": body,
                }
            )
        Path(self.home.catalog).write_bytes(build_catalog(rows, {}))

    def events(self) -> list[dict[str, Any]]:
        """The recorded events, oldest first."""
        path = Path(self.home.events)
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def notes(self) -> list[str]:
        """The bodies of the notes that were saved by the person, in no order."""
        saved = [path.read_bytes() for path in Path(self.home.knowledge).rglob("*.md")]
        return [raw.decode().split("\n---\n", 1)[1] for raw in saved if b"\nsource:" in raw]

    def kept(self) -> str:
        """Every text that lies in the home."""
        files = [path for path in Path(self.home.root).rglob("*") if path.is_file()]
        return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files)

    def daemon(self) -> int | None:
        """The process id of the daemon that holds the home's lock."""
        try:
            with Path(self.home.daemon_lock).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        except FileNotFoundError:
            return None
        except OSError:
            try:
                return int(json.loads(Path(self.home.daemon_pid).read_text())["pid"])
            except (OSError, ValueError, KeyError):
                return None

    def stop_daemon(self) -> None:
        """End the daemon, whatever state it is in, and wait until its lock is free."""
        pid = self.daemon()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: self.daemon() is None, "the end of the daemon")


def wait_for(holds: Callable[[], bool], what: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until `holds`; fails with `what` was waited for when it never does."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            pytest.fail(f"{what} did not come in {seconds:.0f} s")
        time.sleep(0.05)


def blocks(request: dict[str, Any]) -> int:
    """How many priming blocks the model has before it in this request."""
    return offline.conversation(request).count("<ultan-notes>")
