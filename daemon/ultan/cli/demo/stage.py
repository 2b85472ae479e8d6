"""The demo's machine: a temporary home with the sample library, a project, a daemon, and the real hooks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ultan.wire import client
from ultan.wire.environment import chosen
from ultan.wire.failures import UltanError
from ultan.wire.home import Home
from ultan.wire.version import VERSION

SAMPLE = Path(__file__).resolve().parent.parent / "sample"
CODE = Path(__file__).resolve().parents[3]
REMOTE = "git@github.com:mara-lind/tidepool.git"
HOOK_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Heard:
    """How a hook ended: what the agent sees of it ("" for nothing), its time, what was wrong with it."""

    seen: str
    ms: float
    fault: str = ""


class Stage:
    """Everything lies below one temporary folder; the person's own home is never touched."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.folder = folder
        self.home = Home(str(folder / "home"))
        self.project = folder / "tidepool"
        self.environ = environment(folder, dict(os.environ))

    @classmethod
    def build(cls, root: Path) -> Stage:
        """root: the checkout whose hooks are played."""
        stage = cls(root, Path(tempfile.mkdtemp(prefix="ultan-demo-")))
        stage.home.ensure()
        shutil.copytree(SAMPLE, stage.home.knowledge)
        make_repository(stage.project, REMOTE)
        runtime = Path(stage.environ["ULTAN_RUNTIME"])
        runtime.mkdir(mode=0o700)
        current = {"version": VERSION, "code": str(CODE), "python": sys.executable}
        (runtime / "current.json").write_text(json.dumps(current), encoding="utf-8")
        return stage

    def index(self) -> int:
        """Write what is derived from the library, as the daemon does; the number of entries."""
        from ultan.library.journal import Journal
        from ultan.library.reconcile import reconcile
        from ultan.library.store import Store

        store = Store(self.home)
        reconcile(store, Journal(self.home, holder="ultan demo"))
        return len(store.scan().entries)

    def hook(self, script: str, payload: dict[str, Any]) -> Heard:
        """Run one hook script as the client does."""
        begun = time.perf_counter()
        try:
            done = subprocess.run(
                ["/bin/sh", str(self.root / "hooks" / "run"), script],
                input=json.dumps(payload).encode(),
                capture_output=True,
                cwd=self.project,
                env=self.environ,
                timeout=HOOK_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Heard("", HOOK_SECONDS * 1000, "the hook did not end")
        ms = (time.perf_counter() - begun) * 1000
        seen, fault = understood(done.stdout, str(payload["hook_event_name"]))
        if done.returncode or done.stderr:
            fault = f"exit code {done.returncode}, errors: {done.stderr.decode('utf-8', 'replace')[:200]}"
        return Heard(seen, ms, fault)

    def finds(self, text: str) -> bool:
        """Whether the daemon finds a note with this word by now."""
        try:
            answer = client.request(self.home, {"op": "search", "text": text, "limit": 5}, 2.0)
        except OSError:
            return False
        results = answer.get("results")
        return isinstance(results, list) and any(text in json.dumps(item) for item in results)

    def events(self) -> list[dict[str, Any]]:
        """The recorded events, oldest first."""
        path = Path(self.home.events)
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []

    def holds(self, text: str) -> bool:
        """Whether any file of the home has this text in it."""
        wanted = text.encode()
        return any(wanted in path.read_bytes() for path in Path(self.home.root).rglob("*") if path.is_file())

    def close(self, keep: bool) -> None:
        """End the daemon; remove everything, unless it is to be kept."""
        from ultan.cli.daemon import stopped

        try:
            stopped(self.home)
        except UltanError:
            if not keep:  # it is ours alone, and its home is about to go
                kill(self.home)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def environment(folder: Path, environ: dict[str, str]) -> dict[str, str]:
    """What the demo's hooks and daemon get: the person's places for programs, the demo's own for memories."""
    found = chosen(environ)
    # Last, so that a machine whose only Python is this one can play it too.
    path = [found.get("PATH", os.defpath), str(Path(sys.executable).parent)]
    own = {"AGENT_MEM_HOME": str(folder / "home"), "ULTAN_RUNTIME": str(folder / "runtime")}
    return {**found, **own, "PATH": os.pathsep.join(path)}


def make_repository(folder: Path, remote: str) -> None:
    """A git repository as far as its identity goes; git itself need not be installed."""
    git = folder / ".git"
    (git / "objects").mkdir(parents=True)
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    config = f'[core]\n\trepositoryformatversion = 0\n[remote "origin"]\n\turl = {remote}\n'
    (git / "config").write_text(config, encoding="utf-8")


def understood(output: bytes, event: str) -> tuple[str, str]:
    """(what the agent sees, what is wrong with the output) of what a hook printed."""
    if not output.strip():
        return "", ""
    try:
        inner = json.loads(output)["hookSpecificOutput"]
        if inner["hookEventName"] != event:
            return "", f"the output is for {inner['hookEventName']}"
        if "permissionDecision" in inner:
            return f"{inner['permissionDecision']}: {inner['permissionDecisionReason']}", ""
        return str(inner["additionalContext"]), ""
    except (ValueError, KeyError, TypeError):
        return "", f"the output is not what a client reads: {output[:200]!r}"


def kill(home: Home) -> None:
    """End a daemon of the demo that does not end by itself."""
    import signal

    from ultan.service.condition import last_words
    from ultan.wire.runtime import daemon_holds_lock

    pid = last_words(home).get("pid")
    if isinstance(pid, int) and pid > 1 and daemon_holds_lock(home):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
