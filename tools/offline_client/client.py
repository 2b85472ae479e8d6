"""The real client, driven offline: find it, run it in print mode, or hold a session of several turns."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from offline_client import namespace
from offline_client.script import text_of
from offline_client.terminal import Terminal, settle_in

TOOLS = Path(__file__).resolve().parent.parent
KEY = "sk-ant-dummy-key-of-no-account"
# Whatever the client would send that is no part of a conversation.
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",
}
STREAMING = ("-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json")


class ClientError(RuntimeError):
    """The client ended or fell silent where an answer was due."""


def find(variable: str = "ULTAN_TEST_CLAUDE") -> str | None:
    """The client's program: what the variable names, else `claude` on PATH, else the one in the SDK."""
    named = os.environ.get(variable)
    if named:
        return named
    on_path = shutil.which("claude")
    if on_path:
        return on_path
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec and spec.submodule_search_locations:
        bundled = Path(spec.submodule_search_locations[0], "_bundled", "claude")
        if bundled.is_file():
            return str(bundled)
    return None


def can_isolate() -> bool:
    """Whether this machine lets us make a network namespace."""
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*namespace.prefix(), "true"], capture_output=True).returncode == 0


class Client:
    """One installation of the client with a HOME of its own below `folder`."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.home = folder / "user"
        self.project = folder / "project"
        for path in (self.home, self.project):
            path.mkdir(parents=True, exist_ok=True)

    def run(
        self,
        arguments: Sequence[str],
        script: dict[str, Any],
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 60,
    ) -> Run:
        """Run the client once to its end."""
        spec, log = self._write_spec(arguments, script, environment)
        done = subprocess.run(
            self._command(spec),
            cwd=cwd or self.project,
            env=self._outer(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return Run(done.returncode, done.stdout, done.stderr, read_log(log))

    def session(
        self,
        arguments: Sequence[str],
        script: dict[str, Any],
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Session:
        """A session that stays open for several turns; a context manager."""
        spec, log = self._write_spec([*STREAMING, *arguments], script, environment)
        return Session(self._command(spec), cwd or self.project, self._outer(), log)

    def terminal(
        self, arguments: Sequence[str], script: dict[str, Any], environment: Mapping[str, str] | None = None
    ) -> Terminal:
        """The client in a terminal; a context manager."""
        settle_in(self.home, self.project, KEY)
        wanted = {"TERM": "xterm-256color", **(environment or {})}
        spec, _ = self._write_spec(arguments, script, wanted)
        return Terminal(self._command(spec), self.project, self._outer())

    def _write_spec(
        self, arguments: Sequence[str], script: dict[str, Any], environment: Mapping[str, str] | None
    ) -> tuple[Path, Path]:
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self.folder))
        (folder / "tmp").mkdir()
        log = folder / "requests.jsonl"
        log.touch()
        spec = {
            "script": script,
            "log": str(log),
            "command": [self.program, *arguments],
            "environment": {
                "PATH": self._path(),
                "HOME": str(self.home),
                "LANG": "C.UTF-8",
                "TERM": "dumb",
                "CLAUDE_CODE_TMPDIR": str(folder / "tmp"),
                "ANTHROPIC_API_KEY": KEY,
                **QUIET,
                **(environment or {}),
            },
        }
        (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
        return folder / "spec.json", log

    def _path(self) -> str:
        """The usual places; then this Python's and the client's, which some machines have elsewhere."""
        beside = [str(Path(found).parent) for found in (sys.executable, self.program)]
        return ":".join(["/usr/local/bin", "/usr/bin", "/bin", *beside])

    def _command(self, spec: Path) -> list[str]:
        return [*namespace.prefix(), sys.executable, "-m", "offline_client.namespace", str(spec)]

    def _outer(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "PYTHONPATH": str(TOOLS), "LANG": "C.UTF-8"}


class Run:
    """A finished run: exit status, output, and the conversation requests that reached the model."""

    def __init__(self, status: int, output: str, errors: str, requests: list[dict[str, Any]]) -> None:
        self.status = status
        self.output = output
        self.errors = errors
        self.requests = requests


class Session:
    """A conversation over the client's streaming input: `say` a prompt, get the turn's end."""

    def __init__(self, command: list[str], cwd: Path, environment: dict[str, str], log: Path) -> None:
        self.command = command
        self.cwd = cwd
        self.environment = environment
        self.log = log
        self.lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.seen: list[dict[str, Any]] = []

    def __enter__(self) -> Session:
        self.errors = self.log.with_name("stderr.txt").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            self.command,
            cwd=self.cwd,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            encoding="utf-8",
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def say(self, text: str, timeout: float = 60) -> dict[str, Any]:
        """Send one prompt or slash command; the client's `result` message for it."""
        content = {"role": "user", "content": text}
        line = {"type": "user", "session_id": "", "parent_tool_use_id": None, "message": content}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        while True:
            try:
                message = self.lines.get(timeout=timeout)
            except queue.Empty:
                raise ClientError(f"no end of the turn in {timeout} s") from None
            if message is None:
                raise ClientError(f"the client ended in mid-turn: {self.complaints()}")
            if message.get("type") == "result":
                return message

    def end(self, timeout: float = 30) -> None:
        """Close the client's input and wait for its end."""
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            raise ClientError(f"the client did not end in {timeout} s") from None
        finally:
            self.reader.join(5)

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The conversation requests that have reached the model so far."""
        return read_log(self.log)

    def complaints(self) -> str:
        """What the client wrote to its error output."""
        self.errors.flush()
        return self.log.with_name("stderr.txt").read_text(encoding="utf-8")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            self.seen.append(message)
            self.lines.put(message)
        self.lines.put(None)


def read_log(log: Path) -> list[dict[str, Any]]:
    """The requests in the log that are turns of a conversation, oldest first."""
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [entry for entry in entries if entry["path"] == "/v1/messages"]


def conversation(request: dict[str, Any]) -> str:
    """Everything that the model was sent in this request: system texts, then each message's text."""
    body = request["body"]
    return (
        "\n".join(text_of(message.get("content")) for message in body["messages"])
        + "\n"
        + text_of(body.get("system"))
    )
