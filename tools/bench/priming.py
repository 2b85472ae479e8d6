"""How long the person waits for priming: whole hook processes, warm, without a daemon, and only appending.

    ultan bench priming                         5,000 entries, 200 prompts
    ultan bench priming --entries 1000 --prompts 50 --json
    ultan bench priming --sizes 1000,5000,20000

Every figure is measured over whole processes from start to exit, as the client runs them. `floor_ms` is the
interpreter's start alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import samples
from measure import Bench, hook_python, percentile, summary

BARS = {
    "hook_ms.p50": 80.0,
    "hook_ms.p99": 200.0,
    "fallback_ms.p99": 150.0,
    "append_ms.p99": 60.0,
    "ready_s": 4.0,
    "rss_mib": 500.0,
    "reindex_one_s": 1.0,
}


def measure(entries: int, count: int, say: bool) -> dict[str, object]:
    """All figures for one library size."""
    bench = Bench()
    try:
        titles = samples.write_library(Path(bench.home.knowledge), entries)
        prompts = samples.prompts(titles, count)
        note(say, f"{entries} entries: the first start embeds them all")
        built = bench.start(watch=lambda state: progress(say, state))
        while (pending := pending_embeddings(bench)) > 0:
            progress(say, {"pending": pending})
            time.sleep(0.2)
        from_nothing = time_since_start(bench, built)
        bench.stop()
        note(say, "restart with the index on disk")
        figures: dict[str, object] = {
            "entries": entries,
            "prompts": count,
            "from_nothing_s": round(from_nothing, 2),
            "ready_s": round(bench.start(), 2),
        }
        note(say, f"{count} prompts through the hook")
        for number in range(5):
            bench.hook("user_prompt_submit", bench.payload("UserPromptSubmit", number, prompt=prompts[0]))
        figures["hook_ms"], figures["answered"] = ask_all(bench, prompts, 100, with_daemon=True)
        figures["stages_ms"] = stages(bench)
        figures["rss_mib"] = bench.resident_mib()
        figures["append_ms"] = summary(append_all(bench, count))
        figures["reindex_one_s"] = round(reindex_one(bench), 3)
        bench.stop()
        note(say, "the same prompts without a daemon")
        figures["fallback_ms"], figures["fallback_answered"] = ask_all(
            bench, prompts, 100_000, with_daemon=False
        )
        figures["floor_ms"] = summary(floor(count))
        return figures
    finally:
        bench.close()


def ask_all(bench: Bench, prompts: list[str], first: int, with_daemon: bool) -> tuple[dict[str, float], int]:
    times, answered = [], 0
    for number, prompt in enumerate(prompts, first):
        took, output = bench.hook(
            "user_prompt_submit", bench.payload("UserPromptSubmit", number, prompt=prompt), with_daemon
        )
        times.append(took)
        answered += bool(output)
    return summary(times), answered


def append_all(bench: Bench, count: int) -> list[float]:
    return [
        bench.hook(
            "post_tool_use",
            bench.payload(
                "PostToolUse",
                number,
                tool_name="Bash",
                tool_use_id=f"t-{number}",
                tool_input={"command": "make test"},
                tool_response={"stdout": "ok\n" * 200},
            ),
        )[0]
        for number in range(count)
    ]


def floor(count: int) -> list[float]:
    python = hook_python()
    times = []
    for _ in range(count):
        started = time.perf_counter()
        subprocess.run([python, "-I", "-S", "-c", "import json, socket"], check=True)
        times.append((time.perf_counter() - started) * 1000)
    return times


def stages(bench: Bench) -> dict[str, dict[str, float]]:
    """The daemon's own timings of each stage, from the recall log."""
    times: dict[str, list[float]] = {}
    for path in Path(bench.home.recall).glob("*.jsonl"):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            if record.get("via") == "daemon":
                for name, value in record["timings_ms"].items():
                    times.setdefault(name, []).append(value)
    return {
        name: {"p50": round(percentile(values, 0.5), 2), "p99": round(percentile(values, 0.99), 2)}
        for name, values in times.items()
    }


def reindex_one(bench: Bench) -> float:
    """Seconds from writing one changed entry to finding it by a new word."""
    path = next(Path(bench.home.knowledge).rglob("entry-0.md"))
    word = f"zanzibar{time.time_ns() % 100000}"
    started = time.perf_counter()
    path.write_text(path.read_text() + f"\nThe new word is {word}.\n")
    while time.perf_counter() - started < 60:
        answer = bench.ask(op="search", text=word, limit=1)
        results = answer.get("results")
        if isinstance(results, list) and results and results[0].get("id", "").endswith("entry-0"):
            return time.perf_counter() - started
        time.sleep(0.01)
    raise SystemExit("a changed entry was not found within a minute")


def pending_embeddings(bench: Bench) -> int:
    answer = bench.ask(op="status")
    pending = answer.get("pending_embeddings")
    return pending if isinstance(pending, int) else 0


def time_since_start(bench: Bench, built: float) -> float:
    """Seconds until everything was embedded: readiness alone where the daemon embeds before it is ready."""
    started = bench.state().get("started_at")
    return max(built, time.time() - started) if isinstance(started, float) else built


def note(say: bool, text: str) -> None:
    if say:
        print(text, file=sys.stderr, flush=True)


def progress(say: bool, state: dict[str, object]) -> None:
    if say and sys.stderr.isatty():
        text = state.get("progress") or state.get("pending") or state.get("state") or "starting"
        print(f"\r  {text}          ", end="", file=sys.stderr, flush=True)


def report(figures: dict[str, object]) -> None:
    print(f"\n{figures['entries']} entries, {figures['prompts']} prompts ({figures['answered']} answered)")
    for key, value in figures.items():
        if key in ("entries", "prompts", "answered"):
            continue
        if isinstance(value, dict) and key != "stages_ms":
            for name, number in value.items():
                line(f"{key}.{name}", number)
        elif isinstance(value, dict):
            for name, numbers in value.items():
                print(f"  stage {name:<20} p50 {numbers['p50']:>8} ms   p99 {numbers['p99']:>8} ms")
        else:
            line(key, value)


def line(name: str, value: object) -> None:
    bar = BARS.get(name)
    verdict = "" if bar is None else f"   bar {bar:g}: {'kept' if float(str(value)) <= bar else 'MISSED'}"
    print(f"  {name:<26} {value!s:>8}{verdict}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="ultan bench priming", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", type=int, default=5000, help="entries in the library (default 5000)")
    parser.add_argument("--prompts", type=int, default=200, help="prompts asked (default 200)")
    parser.add_argument("--sizes", help="several library sizes, such as 1000,5000,20000")
    parser.add_argument("--json", action="store_true", help="print one object")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")] if options.sizes else [options.entries]
    results = []
    for size in sizes:
        figures = measure(size, options.prompts, say=True)
        results.append(figures)
        if not options.json:
            report(figures)
    if options.json:
        print(json.dumps(results[0] if len(results) == 1 else {"sizes": results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
