"""Whether anything is lost, doubled or half-written when the daemon is killed at any moment, again and again.

    ultan bench kill9                 200 rounds
    ultan bench kill9 --rounds 20 --seed 7 --json

In each round the daemon is started and killed (SIGKILL) at a random moment: while it starts, takes events,
answers prompts, brings pages up to date, puts the events away. Meanwhile several writers go on as hooks do.
At the end it is started once more, and everything that was written must be there exactly once and whole.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "daemon"))

from ultan.curator.spool import Spool, user_turns  # noqa: E402 (the path above makes it importable)
from ultan.library.entry import parse  # noqa: E402
from ultan.wire import client, events, remember  # noqa: E402
from ultan.wire.home import Home  # noqa: E402

WRITERS = 3
PAUSE_SECONDS = 0.004
ROTATE_BYTES = 100_000
PATIENCE_SECONDS = 60.0


class Trial:
    """One home, its writers, and the daemons that are started and killed there."""

    def __init__(self, home: Home, rng: random.Random) -> None:
        self.home = home
        self.rng = rng
        self.start_seconds = 1.0
        self.written: dict[str, list[str]] = {f"session-{number}": [] for number in range(WRITERS)}
        self.saved: list[str] = []
        self.kills: Counter[str] = Counter()
        self.primed: Counter[str] = Counter()
        self._over = threading.Event()
        self._errors: list[str] = []

    def run(self, rounds: int, tell: Callable[[int], object] = lambda number: None) -> list[str]:
        """Kill the daemon so many times under load; returns what is wrong afterwards."""
        load = [
            *(threading.Thread(target=self._guarded, args=(self._hear, name)) for name in self.written),
            threading.Thread(target=self._guarded, args=(self._prime,)),
            threading.Thread(target=self._guarded, args=(self._save,)),
        ]
        for thread in load:
            thread.start()
        try:
            for number in range(rounds):
                self._round(wait_first=number % 4 == 0)
                tell(number + 1)
        finally:
            self._over.set()
            for thread in load:
                thread.join()
        return [*self._errors, *self._last_look()]

    def _round(self, wait_first: bool) -> None:
        daemon = self.start()
        try:
            if wait_first:
                self.wait_until_ready(daemon)
            time.sleep(self.rng.uniform(0.0, 0.6 if wait_first else 1.5 * self.start_seconds))
            state = self.state()
            self.kills[str(state["state"]) if state.get("pid") == daemon.pid else "locking"] += 1
        finally:
            daemon.kill()
            daemon.wait()

    def put_away(self) -> int:
        """How many files of events were renamed and are still kept."""
        return len(list(Path(self.home.root).glob("events.jsonl.*")))

    def start(self) -> subprocess.Popen[bytes]:
        log = os.open(self.home.daemon_log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            return subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("light_daemon.py")), str(ROTATE_BYTES)],
                env={"PATH": os.environ.get("PATH", ""), "AGENT_MEM_HOME": self.home.root},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        finally:
            os.close(log)

    def state(self) -> dict[str, Any]:
        try:
            return dict(json.loads(Path(self.home.daemon_pid).read_text()))
        except FileNotFoundError:
            return {}

    def wait_until_ready(self, daemon: subprocess.Popen[bytes]) -> None:
        begun = time.monotonic()
        while time.monotonic() < begun + PATIENCE_SECONDS and daemon.poll() is None:
            state = self.state()
            if state.get("pid") == daemon.pid and state.get("state") == "ready":
                self.start_seconds = time.monotonic() - begun
                return
            time.sleep(0.01)
        raise AssertionError(f"a daemon did not become ready: {self.state()}, see {self.home.daemon_log}")

    def _last_look(self) -> list[str]:
        daemon = self.start()
        try:
            self.wait_until_ready(daemon)
            end = time.monotonic() + PATIENCE_SECONDS
            while client.request(self.home, {"op": "flush"}, 10.0).get("behind_bytes") != 0:
                assert time.monotonic() < end, "the events were never all delivered"
            faults = [*self._lost_or_doubled(), *broken_files(self.home)]
            client.request(self.home, {"op": "shutdown"}, 10.0)
            if daemon.wait(PATIENCE_SECONDS) != 0:
                faults.append("the last daemon did not end in good order")
            return faults
        finally:
            daemon.kill()
            daemon.wait()

    def _lost_or_doubled(self) -> Iterator[str]:
        spool = Spool(self.home)
        for session, expected in self.written.items():
            found = [turn.prompt_id for turn in user_turns(spool.events(session))]
            if found != expected:
                counts = Counter(found)
                lost = [name for name in expected if not counts[name]]
                doubled = [name for name in counts if counts[name] > 1]
                yield f"{session}: lost {lost[:5]} ({len(lost)}), doubled {doubled[:5]} ({len(doubled)})"
        texts = [path.read_text("utf-8") for path in Path(self.home.knowledge).rglob("*.md")]
        for text in self.saved:
            holding = sum(text in found and "\nsource:" in found for found in texts)
            if holding != 1:
                yield f"a saved note is there {holding} times: {text}"

    # What hooks do meanwhile.

    def _hear(self, session: str) -> None:
        """Events with one number each; some arrive twice, as from a hook that is wired twice."""
        rng = random.Random(self.rng.random())
        number = 0
        while not self._over.wait(PAUSE_SECONDS):
            number += 1
            name = f"{session}-{number}"
            prompt = f"owl 🦉 number {number} " + "x" * rng.randrange(2000)
            payload: dict[str, object] = {"session_id": session, "prompt_id": name, "prompt": prompt}
            record = events.record("UserPromptSubmit", payload)
            for _ in range(2 if rng.random() < 0.05 else 1):
                events.append(self.home, record)
            self.written[session].append(name)

    def _prime(self) -> None:
        while not self._over.wait(PAUSE_SECONDS):
            question: dict[str, object] = {"op": "prime", "prompt": "which tool is preferred?"}
            try:
                answer = client.request(self.home, {**question, "deadline_ms": 500}, 0.5)
                self.primed["answered" if answer["ok"] else "refused"] += 1
            except OSError as error:
                self.primed[type(error).__name__] += 1

    def _save(self) -> None:
        number = 0
        while not self._over.wait(0.3):
            number += 1
            text = f"Always prefer tool{number:04}x over other{number:04}y, whatever case{number:04}z says."
            saved = remember.save(self.home, text, "", "session-0", time.time(), force=True)
            if saved.kind in ("saved", "waiting"):
                self.saved.append(text)
            else:
                self._errors.append(f"a note was not saved but {saved.kind}")

    def _guarded(self, work: Callable[..., None], *arguments: str) -> None:
        try:
            work(*arguments)
        except Exception as error:
            self._errors.append(f"{work.__name__}: {type(error).__name__}: {error}")


def broken_files(home: Home) -> Iterator[str]:
    """What below a home is not whole: JSON that does not parse, lines cut off, entries without a header."""
    for path in sorted(Path(home.root).rglob("*")):
        if not path.is_file() or path.name.startswith(".ultan-"):
            continue
        try:
            raw = path.read_bytes()
            if path.suffix == ".json":
                json.loads(raw)
            elif ".jsonl" in path.name:
                if raw and not raw.endswith(b"\n"):
                    yield f"{path} ends in the middle of a line"
                for line in raw.splitlines():
                    json.loads(line)
            elif is_entry(path) and not parse(str(path.relative_to(home.knowledge)), raw).readable:
                yield f"{path} is not a readable entry"
        except FileNotFoundError:
            continue
        except ValueError as error:
            yield f"{path} cannot be parsed: {error}"


def is_entry(path: Path) -> bool:
    return path.suffix == ".md" and path.name not in ("README.md", "index.md", "log.md")


def main() -> int:
    parser = argparse.ArgumentParser(prog="ultan bench kill9", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200, help="how often it is killed (default 200)")
    parser.add_argument("--seed", type=int, default=None, help="for the moments; default: another each time")
    parser.add_argument("--json", action="store_true", help="print one object")
    options = parser.parse_args()
    seed = random.randrange(1 << 30) if options.seed is None else options.seed
    started = time.monotonic()

    def tell(number: int) -> None:
        if sys.stderr.isatty():
            print(f"\r  killed {number} of {options.rounds}", end="", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="ultan-kill9-") as folder:
        home = Home(str(Path(folder, "home")))
        home.ensure()
        trial = Trial(home, random.Random(seed))
        faults = trial.run(options.rounds, tell)
        figures = {
            "rounds": options.rounds,
            "seed": seed,
            "events": sum(map(len, trial.written.values())),
            "notes": len(trial.saved),
            "kills": dict(trial.kills),
            "primes": dict(trial.primed),
            "put_away": trial.put_away(),
            "seconds": round(time.monotonic() - started, 1),
            "faults": faults,
        }
    if options.json:
        print(json.dumps(figures))
    else:
        for key, value in figures.items():
            print(f"{key:<12} {value}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
