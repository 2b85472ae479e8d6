"""`ultan prime`: the whole way of a prompt, in this process."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from ultan.cli.output import emit, example, json_option, say
from ultan.cli.place import home


@click.command(
    epilog=example('ultan prime --cwd ~/src/shop "add a retry to the payments client"'),
    short_help="Show what a prompt would bring before the agent.",
)
@click.argument("prompt")
@click.option("--cwd", default=".", type=click.Path(file_okay=False), help="The folder the session is in.")
@click.option("--project", metavar="SLUG", help="Take this project instead of the folder's.")
@json_option
def prime(prompt: str, cwd: str, project: str | None, as_json: bool) -> None:
    """Show what PROMPT would bring before the agent, and what every candidate scored.

    Nothing is recorded and no session is told: the next real prompt is answered as if this had not been.
    """
    from ultan.recall.engine import Engine

    engine = Engine.open(home())
    try:
        engine.refresh()
        primed = engine.prime(
            prompt=prompt,
            cwd=str(Path(cwd).absolute()),
            session_id="",
            prompt_id="",
            project=project,
            exclude=frozenset(),
            now=time.time(),
            remember=False,
        )
    finally:
        engine.close()
    candidates = primed.record.get("candidates") or []
    if as_json:
        emit(
            {
                "block": primed.block,
                "shown": primed.shown,
                "candidates": candidates,
                "project": primed.record.get("project"),
                "timings_ms": primed.record.get("timings_ms") or {},
            }
        )
        return
    say(primed.block if primed.block else "Nothing applies: the agent would see nothing.")
    if candidates:
        say()
        show_candidates(candidates, {str(entry["id"]) for entry in primed.shown})


def show_candidates(candidates: list[dict[str, Any]], shown: set[str]) -> None:
    """What was considered, best first: verdict, probability and id, then every stage's score."""
    for item in candidates:
        verdict = "shown" if item.get("id") in shown else item.get("cut") or "not shown"
        say(f"{verdict:16} {figure(item.get('probability')):>8}  {item.get('id')}")
        scores = [f"{name} {figure(value)}" for name, value in (item.get("scores") or {}).items()]
        if scores:
            say(f"{'':27}{', '.join(scores)}")


def figure(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) and not isinstance(value, bool) else "-"
