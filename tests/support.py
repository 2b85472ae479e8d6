"""What several tests share: running the real hook scripts, a small daemon, a stub of an installed copy."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ultan.wire.home import Home

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "cases"
# A hook's own deadline is 1.9 s; the rest is the interpreter's start on a machine that does other things too.
BOUND_SECONDS = 20.0
SCRIPTS = {
    "SessionStart": "session_start.py",
    "UserPromptSubmit": "user_prompt_submit.py",
    "UserPromptExpansion": "user_prompt_expansion.py",
    "PreToolUse": "pre_tool_use.py",
    "PostToolUse": "post_tool_use.py",
    "PostToolUseFailure": "post_tool_use_failure.py",
    "Stop": "stop.py",
    "SubagentStop": "subagent_stop.py",
    "PreCompact": "pre_compact.py",
    "PostCompact": "post_compact.py",
    "SessionEnd": "session_end.py",
}


class Ran:
    """How a hook ended: exit code, output, errors, wall seconds."""

    def __init__(self, code: int, out: bytes, err: bytes, seconds: float) -> None:
        self.code = code
        self.out = out
        self.err = err
        self.seconds = seconds

    @property
    def context(self) -> str:
        """What the agent sees of it; "" for nothing. Fails where the output is not one clean envelope."""
        assert self.code == 0, self
        assert self.err == b"", self.err
        if not self.out:
            return ""
        answer = json.loads(self.out)
        assert list(answer) == ["hookSpecificOutput"]
        inner = answer["hookSpecificOutput"]
        assert sorted(inner) == ["additionalContext", "hookEventName"]
        assert isinstance(inner["additionalContext"], str)
        return str(inner["additionalContext"])


def environment(**more: str) -> dict[str, str]:
    """What a hook gets: little, the test's own HOME and AGENT_MEM_HOME, and no need to install anything."""
    names = ("PATH", "HOME", "AGENT_MEM_HOME", "LANG")
    found = {name: os.environ[name] for name in names if name in os.environ}
    return {**found, "ULTAN_RUNTIME": str(being_installed()), **more}


def being_installed() -> Path:
    """A folder of runtimes where an installer is at work, so that no hook of a test starts a real one."""
    folder = Path(os.environ["HOME"]).parent / "being-installed"
    folder.mkdir(exist_ok=True)
    state = folder / "state.json"
    state.touch()
    os.utime(state, (time.time() + 86400,) * 2)
    return folder


def run_hook(
    given: dict[str, Any] | bytes, event: str = "", python: str = sys.executable, **environ: str
) -> Ran:
    """Run the script of an event (by default the input's own) with this input, as the client does."""
    raw = given if isinstance(given, bytes) else json.dumps(given).encode()
    name = event or (str(given["hook_event_name"]) if isinstance(given, dict) else "")
    begun = time.monotonic()
    done = subprocess.run(
        [python, "-I", "-S", str(ROOT / "hooks" / SCRIPTS[name])],
        input=raw,
        capture_output=True,
        env=environment(**environ),
        timeout=BOUND_SECONDS,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr, time.monotonic() - begun)


def prompt(text: str, session: str = "s-1", prompt_id: str = "p-1", **more: Any) -> dict[str, Any]:
    """An input of UserPromptSubmit."""
    return event("UserPromptSubmit", session, prompt_id=prompt_id, prompt=text, **more)


def event(name: str, session: str = "s-1", **fields: Any) -> dict[str, Any]:
    """An input of any hook."""
    base: dict[str, Any] = {
        "session_id": session,
        "transcript_path": f"/home/dev/.claude/projects/x/{session}.jsonl",
        "cwd": "/home/dev/shop",
        "hook_event_name": name,
    }
    return {**base, **fields}


def lines(path: str | Path) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file, each of which must parse; [] where there is none."""
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        return []
    assert not raw or raw.endswith(b"\n")
    return [json.loads(line) for line in raw.splitlines()]


def everything_below(folder: str | Path) -> bytes:
    """All names and all bytes of the files below a folder."""
    found = []
    for place, folders, names in os.walk(folder):
        found += [os.fsencode(name) for name in folders + names]
        found += [(Path(place) / name).read_bytes() for name in names if (Path(place) / name).is_file()]
    return b"\n".join(found)


def row(source: Path, knowledge: Path) -> dict[str, Any]:
    """The catalog row of a markdown entry, read the simple way."""
    header, _, body = source.read_text("utf-8")[4:].partition("\n---\n")
    fields: dict[str, Any] = {}
    for line in header.splitlines():
        key, mark, value = line.partition(": ")
        if mark and not line.startswith(" "):
            # YAML's \xNN is JSON's \u00NN
            quoted = value.startswith('"')
            fields[key] = json.loads(value.replace("\\x", "\\u00")) if quoted else value
    text = body.split("\n\n", 1)[-1].strip() if body.lstrip().startswith("#") else body.strip()
    return {
        "id": str(source.relative_to(knowledge))[:-3],
        "title": fields["title"],
        "type": fields["type"],
        "scope": fields["scope"],
        "status": fields["status"],
        "updated": fields["updated"],
        "applies_when": fields.get("applies_when", ""),
        "tags": [],
        "body": text,
        "excerpt": text[:280],
    }


def fill(home: Home, knowledge: Path) -> None:
    """Put the entries of a case into the home, with the catalog that the daemon would derive."""
    import shutil

    from ultan.wire.lexical import build_catalog

    home.ensure()
    shutil.copytree(knowledge, home.knowledge, dirs_exist_ok=True)
    rows = [row(path, knowledge) for path in sorted(knowledge.rglob("*.md"))]
    Path(home.catalog).write_bytes(build_catalog(rows, {}))


class Peer:
    """Something that listens on a home's priming socket; `serve` gets each connection in a thread."""

    def __init__(self, home: Home, serve: Callable[[Peer, socket.socket], None]) -> None:
        self.home = home
        self.serve = serve
        self.asked: list[dict[str, Any]] = []
        self.over = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def __enter__(self) -> Peer:
        folder = Path(self.home.socket).parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.listener.bind(self.home.socket)
        self.listener.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.over.set()
        self.listener.close()
        Path(self.home.socket).unlink(missing_ok=True)

    def _accept(self) -> None:
        while not self.over.is_set():
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        try:
            self.serve(self, connection)
        except OSError:
            pass
        finally:
            connection.close()


def question(connection: socket.socket) -> dict[str, Any]:
    """The one line that a client sends."""
    raw = b""
    while not raw.endswith(b"\n"):
        part = connection.recv(65536)
        if not part:
            break
        raw += part
    return dict(json.loads(raw))


def answering(answer: dict[str, Any]) -> Callable[[Peer, socket.socket], None]:
    """A peer that gives every question this answer."""

    def serve(peer: Peer, connection: socket.socket) -> None:
        peer.asked.append(question(connection))
        connection.sendall(json.dumps(answer).encode() + b"\n")

    return serve


def entry(entry_id: str = "global/deploy/no-friday-deploys", **fields: Any) -> dict[str, Any]:
    """An entry as the daemon answers it."""
    base = {
        "id": entry_id,
        "title": "No deploys on Fridays",
        "type": "preference",
        "updated": "2026-01-10",
        "excerpt": "Never start a production deploy on a Friday. Wait for Monday.",
    }
    return {**base, **fields}


class StubRuntime:
    """An installed copy whose daemon only says that it was started."""

    def __init__(self, folder: Path, version: str = "99.0.0") -> None:
        code = folder / "code"
        code.mkdir(parents=True)
        (code / "boot.py").touch()
        self.started = folder / "started"
        python = folder / "python"
        python.write_text(f'#!/bin/sh\nenv > {self.started}.$$.tmp; echo "$@" >> {self.started}\n')
        python.chmod(0o700)
        values = {"version": version, "code": str(code), "python": str(python)}
        (folder / "current.json").write_text(json.dumps(values))
        self.folder = folder

    def starts(self, least: int) -> list[str]:
        """The starts so far, once there are `least`."""
        for _ in wait():
            if self.started.exists() and len(self.started.read_text().splitlines()) >= least:
                break
        return self.started.read_text().splitlines()

    def environments(self) -> list[dict[str, str]]:
        """The environment of each start."""
        texts = [path.read_text() for path in self.folder.glob("started.*.tmp")]
        return [dict(line.split("=", 1) for line in text.splitlines() if "=" in line) for text in texts]


def wait(seconds: float = BOUND_SECONDS) -> Iterator[None]:
    """Tries until the time is up, then fails."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.01)
    raise AssertionError(f"not in {seconds:g} s")
