"""Timing whole processes, and a memory home of its own to do it in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "daemon"))

from ultan.wire import client  # noqa: E402 (the path above makes it importable)
from ultan.wire.home import Home  # noqa: E402


def percentile(values: Iterable[float], share: float) -> float:
    """The nearest-rank percentile; 0 for no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))] if ordered else 0.0


def summary(values: list[float]) -> dict[str, float]:
    """p50 and p99, rounded to a tenth."""
    return {"p50": round(percentile(values, 0.5), 1), "p99": round(percentile(values, 0.99), 1)}


def hook_python() -> str:
    """The interpreter that `hooks/run` takes here, asked of the script itself."""
    script = (
        (ROOT / "hooks" / "run")
        .read_text()
        .replace('-X utf8 "$script"', '-c "import sys; print(sys.executable)"')
    )
    done = subprocess.run(
        ["/bin/sh", "-s", "stop"],
        input=script.replace("here=${0%/*}", f"here='{ROOT / 'hooks'}'"),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip() or sys.executable


class Bench:
    """A temporary home whose daemon runs this checkout with this interpreter."""

    def __init__(self, folder: str | None = None) -> None:
        self._temporary = None if folder else tempfile.TemporaryDirectory(prefix="ultan-bench-")
        self.folder = Path(folder or self._temporary.name)  # type: ignore[union-attr]  # one of the two is set
        self.home = Home(str(self.folder / "home"))
        self.home.ensure()
        self.runtime = self.folder / "runtime"
        self.absent = self.folder / "no-runtime"
        for place in (self.runtime, self.absent, self.folder / "project"):
            place.mkdir(parents=True, exist_ok=True)
        (self.runtime / "current.json").write_text(
            json.dumps({"version": "0.1.0", "code": str(ROOT / "daemon"), "python": sys.executable})
        )

    def close(self) -> None:
        self.stop()
        if self._temporary:
            self._temporary.cleanup()

    def environment(self, with_daemon: bool = True) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.folder),
            "AGENT_MEM_HOME": self.home.root,
            "ULTAN_RUNTIME": str(self.runtime if with_daemon else self.absent),
        }

    def payload(self, event: str, number: int, **more: object) -> bytes:
        values = {
            "session_id": f"bench-{number}",
            "prompt_id": f"p-{number}",
            "cwd": str(self.folder / "project"),
            "transcript_path": "",
            "hook_event_name": event,
            **more,
        }
        return json.dumps(values).encode()

    def hook(self, name: str, payload: bytes, with_daemon: bool = True) -> tuple[float, bytes]:
        """Run one hook as the client does; returns its wall time in ms and what it printed."""
        command = ["/bin/sh", str(ROOT / "hooks" / "run"), name]
        environment = self.environment(with_daemon)
        started = time.perf_counter()
        done = subprocess.run(command, input=payload, env=environment, capture_output=True, check=True)
        return (time.perf_counter() - started) * 1000, done.stdout

    def start(
        self, patience: float = 3600.0, watch: Callable[[dict[str, object]], None] | None = None
    ) -> float:
        """Start the daemon and wait until it is ready; returns the seconds that took."""
        started = time.perf_counter()
        with Path(self.home.daemon_log).open("ab") as log:
            subprocess.Popen(
                [sys.executable, "-I", str(ROOT / "daemon" / "boot.py"), "daemon", "run"],
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while time.perf_counter() - started < patience:
            state = self.state()
            if watch:
                watch(state)
            if state.get("state") == "ready":
                return time.perf_counter() - started
            if state.get("state") == "failed":
                raise SystemExit(
                    f"the daemon did not start: {state.get('error')}; see {self.home.daemon_log}"
                )
            time.sleep(0.02)
        raise SystemExit(f"the daemon was not ready in {patience:.0f} s; see {self.home.daemon_log}")

    def state(self) -> dict[str, object]:
        try:
            values = json.loads(Path(self.home.daemon_pid).read_text())
        except (OSError, ValueError):
            return {}
        return values if isinstance(values, dict) else {}

    def stop(self) -> None:
        """Ask the daemon to end and wait for it; after ten seconds end it by its id."""
        pid = self.state().get("pid")
        try:
            client.request(self.home, {"op": "shutdown"}, 2.0)
        except OSError:
            pass
        if not isinstance(pid, int):
            return
        for attempt in range(500):
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
            try:
                os.kill(pid, 0 if attempt < 499 else signal.SIGKILL)
            except ProcessLookupError:
                return
            time.sleep(0.02)

    def ask(self, deadline: float = 5.0, **message: object) -> dict[str, object]:
        return client.request(self.home, dict(message), deadline)

    def resident_mib(self) -> float:
        """The daemon's resident memory now."""
        pid = self.state().get("pid")
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            listed = subprocess.run(
                ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False
            )
            return round(int(listed.stdout or 0) / 1024, 1)
        return round(int(status.split("VmRSS:")[1].split()[0]) / 1024, 1)
