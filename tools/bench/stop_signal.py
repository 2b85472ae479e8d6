"""How long a tool waits for the stop signal: whole hook processes, with few and many patterns, and at worst.

    ultan bench stop_signal                     200 calls of each kind
    ultan bench stop_signal --calls 50 --json

`floor_ms` is the start of the interpreter alone, in turn with the calls; `ratio` is the p99 over its p99.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from measure import Bench, hook_python, summary

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "daemon"))

from ultan.library.derived import trigger_row
from ultan.library.fields import Trigger

BARS = {"none": 45.0, "advice": 60.0, "denial": 60.0, "worst": 100.0}
_VERBS = ("install", "deploy", "drop", "force", "reset", "apply", "delete", "publish", "migrate", "restart")
_TOOLS = ("pip", "npm", "kubectl", "terraform", "git", "docker", "psql", "aws", "cargo", "helm")
HOSTILE = "(x|xx)+y"


def write_triggers(bench: Bench, count: int, *more: tuple[str, str]) -> None:
    """triggers.json with `count` ordinary patterns and more of (pattern, severity)."""
    rng = random.Random(count)
    patterns = [
        (rf"\b{rng.choice(_TOOLS)}{number} {rng.choice(_VERBS)}\b.*--[a-z]+{number % 7}", "advise")
        for number in range(count)
    ]
    entries = [
        {
            "id": f"global/rules/rule-{number}",
            "title": f"Rule {number}",
            "type": "warning",
            "excerpt": "Ask before this is done, and say what it will touch.",
            "scope": "global",
            "severity": severity,
            "updated": "2026-01-10",
            "triggers": [trigger_row(Trigger("Bash", "command", pattern))],
        }
        for number, (pattern, severity) in enumerate([*patterns, *more])
    ]
    Path(bench.home.triggers).write_text(json.dumps({"v": 1, "entries": entries}))


def calls(bench: Bench, count: int, commands: Callable[[int], str]) -> tuple[dict[str, object], int]:
    """(p50 and p99 of the hook and of the bare interpreter, each in turn; how many calls were answered)."""
    python, times, floor, answered = hook_python(), [], [], 0
    for number in range(count + 3):
        payload = bench.payload(
            "PreToolUse", number, tool_name="Bash", tool_input={"command": commands(number)}
        )
        took, output = bench.hook("pre_tool_use", payload, with_daemon=False)
        begun = time.perf_counter()
        subprocess.run([python, "-I", "-S", "-c", "pass"], check=True)
        if number >= 3:  # the first ones warm the disk
            floor.append((time.perf_counter() - begun) * 1000)
            times.append(took)
            answered += bool(output)
    hook, bare = summary(times), summary(floor)
    ratio = round(hook["p99"] / bare["p99"], 2) if bare["p99"] else 0.0
    return {"hook_ms": hook, "floor_ms": bare, "ratio": ratio}, answered


def measure(count: int, say: bool) -> dict[str, object]:
    found: dict[str, object] = {"calls": count}
    worst = {
        "many commands": lambda number: "echo xx; " * 22_000,
        "one long argument": lambda number: "echo " + "x" * 200_000,
        "quotes": lambda number: "echo '\"`$(" * 20_000,
        "a here-document": lambda number: "cat <<E > a\n" + "pip3 install --a3\n" * 11_000 + "E\n",
    }
    kinds: list[tuple[str, str, int, tuple[tuple[str, str], ...], Callable[[int], str]]] = [
        ("none", "500 triggers, none matches", 500, (), lambda n: f"cd src && make test-{n} | tail -3"),
        ("advice", "500, one advises", 500, ((r"\bpip install\b", "advise"),), lambda n: "pip install x"),
        ("denial", "500, one denies", 500, ((r"rm\s+-rf\s+/", "block"),), lambda n: "sudo rm -rf / "),
    ]
    for name, command in worst.items():
        hostile = ((HOSTILE, "block"), (r"(x+x+)+y", "advise"))
        kinds.append(("worst", f"2,000 and a hostile one, 200 KB: {name}", 2000, hostile, command))
    rows = []
    for kind, what, triggers, more, command in kinds:
        if say:
            print(what, file=sys.stderr, flush=True)
        bench = Bench()
        try:
            Path(bench.home.knowledge).mkdir(parents=True, exist_ok=True)
            write_triggers(bench, triggers, *more)
            figures, answered = calls(bench, count if kind != "worst" else max(10, count // 5), command)
        finally:
            bench.close()
        rows.append({"kind": kind, "what": what, **figures, "answered": answered, "bar_ms": BARS[kind]})
    found["rows"] = rows
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="ultan bench stop_signal",
        description="How long a tool waits for the stop signal: whole hook processes.",
    )
    parser.add_argument("--calls", type=int, default=200, help="calls of each kind (default 200)")
    parser.add_argument("--json", action="store_true", help="print one object")
    options = parser.parse_args()
    found = measure(options.calls, not options.json)
    if options.json:
        print(json.dumps(found))
        return 0
    for row in found["rows"]:  # type: ignore[attr-defined]
        print(
            f"{row['what']:58} p50 {row['hook_ms']['p50']:6.1f}  p99 {row['hook_ms']['p99']:6.1f} ms "
            f"(bar {row['bar_ms']:.0f}), {row['ratio']:.2f} times the interpreter, {row['answered']} answered"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
