"""`ultan replay`: past prompts, ranked again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from ultan.cli.layout import WIDTH, clipped, fitting, minute, wrapped
from ultan.cli.output import emit, example, hint, json_option, say
from ultan.cli.place import home
from ultan.cli.status import counted
from ultan.recall.replay import (
    CHANGED,
    SKIPPED,
    Moved,
    Replayed,
    compared,
    distinct,
    excluded,
    since,
    skipped,
    summary,
    unusable,
)
from ultan.wire import recall
from ultan.wire.home import Home

TELL_SECONDS = 2.0
_MARKS = {CHANGED: "*", SKIPPED: "?"}


@click.command(
    epilog=example("ultan replay --changed", "ultan replay --since 2d --limit 50"),
    short_help="Rank past prompts again and show what would change.",
)
@click.option(
    "--since", "begin", metavar="WHEN", help="Since then: 30m, 12h, 7d, 2w, or a date or time in UTC."
)
@click.option("--limit", default=200, show_default=True, type=click.IntRange(1), help="The newest so many.")
@click.option("--changed", is_flag=True, help="Leave out the prompts for which nothing changes.")
@json_option
def replay(begin: str | None, limit: int, changed: bool, as_json: bool) -> None:
    """Rank past prompts again with today's code, settings and library, and show what would change.

    They come from the recall log, newest first. Each is asked by itself, where it was asked, without what
    its session had been shown before. It runs in this process, so that a changed checkout can be tried beside
    the daemon, and leaves no trace. The cross-encoder has all the time it wants, so that two runs agree.
    Prompts of which the log holds only a part are skipped.

    = nothing changes; * something does: + newly shown, - no longer shown, ~ in another order; ? skipped.
    """
    records, older = wanted(home(), begin, limit)
    replayed = ranked_again(home(), records, None if as_json else told_now_and_then())
    figures = summary(replayed, older)
    listed = [one for one in replayed if not changed or one.outcome == CHANGED]
    if as_json:
        emit({"prompts": [one.as_json() for one in listed], "summary": figures})
        return
    for one in listed:
        for line in lines(one):
            say(line)
    if listed:
        say()
    for line in told(figures):
        say(line)


def wanted(home: Home, begin: str | None, limit: int) -> tuple[list[Mapping[str, Any]], int]:
    """The records to replay, newest first, and how many more there are. Raises click.BadParameter."""
    try:
        start = since(begin, time.time()) if begin is not None else ""
    except (ValueError, OverflowError):
        raise click.BadParameter(
            "a time is 30m, 12h, 7d, 2w, or like 2026-12-07", param_hint="--since"
        ) from None
    records = distinct(recall.records(home, start))
    return records[:limit], max(0, len(records) - limit)


def ranked_again(
    home: Home, records: Sequence[Mapping[str, Any]], tell: Callable[[int, int], None] | None
) -> list[Replayed]:
    """Ask each prompt again. Nothing is written."""
    reasons = [unusable(record) for record in records]
    if all(reasons):  # the models are loaded only for prompts that need them
        return [skipped(record, reason) for record, reason in zip(records, reasons, strict=True)]
    from ultan.recall.engine import Engine

    found = []
    if tell is not None:
        tell(0, len(records))
    engine = Engine.open(home)
    try:
        engine.refresh()
        for number, (record, reason) in enumerate(zip(records, reasons, strict=True), 1):
            found.append(skipped(record, reason) if reason else again(engine, record))
            if tell is not None:
                tell(number, len(records))
    finally:
        engine.close()
    return found


def again(engine: Any, record: Mapping[str, Any]) -> Replayed:
    """One prompt, asked where it was asked."""
    primed = engine.prime(
        record["prompt"],
        session_id=str(record.get("session_id") or ""),
        project=record.get("project"),
        exclude=excluded(record),
        now=time.time(),
        remember=False,
        seconds=None,
    )
    after = [str(row["id"]) for row in primed.shown]
    return compared(record, primed.record, after, lambda id: engine.read(id) is not None)


def told_now_and_then() -> Callable[[int, int], None]:
    """Something to call with (done, total), which tells it every few seconds."""
    last = [time.monotonic()]

    def tell(done: int, total: int) -> None:
        if not done:
            hint(f"Loading the models and the library for {counted(total, 'prompts')}.")
        elif done == total or time.monotonic() - last[0] > TELL_SECONDS:
            last[0] = time.monotonic()
            hint(f"{done} of {total}")

    return tell


def lines(one: Replayed) -> list[str]:
    """One prompt: a line, and one or two for each note that moves."""
    where = f"{minute(one.ts)[:16]}  {clipped(one.project or '-', 16):12}  "
    found = [fitting(f"{_MARKS.get(one.outcome, '=')} {where}{clipped(one.prompt, WIDTH)}", WIDTH)]
    if one.reason:
        found += wrapped(f"{one.reason}.", "    ", "    ")
    for sign, moved in [*(("+", note) for note in one.new), *(("-", note) for note in one.gone)]:
        found += note_lines(sign, moved)
    if one.reordered:
        found += wrapped(f"now {_ids(one.after)}; then {_ids(one.before)}", "  ~ ", "    ")
    return found


def note_lines(sign: str, moved: Moved) -> list[str]:
    name = [f"  {sign} {clipped(moved.id, 150)}"]
    title = [fitting(f"    {clipped(moved.title, WIDTH)}", WIDTH)] if moved.title else []
    return [*name, *title, *wrapped(clipped(f"then {moved.was}, now {moved.now}", 300), "    ", "    ")]


def told(figures: Mapping[str, Any]) -> list[str]:
    """The summary in sentences."""
    if not figures["prompts"]:
        return wrapped("The recall log has no prompt of that time. It keeps 14 days.")
    counts = f"{counted(figures['prompts'], 'prompts')}: {figures['unchanged']} unchanged"
    counts += f", {figures['changed']} changed"
    if figures["skipped_in_part"]:
        counts += f", {figures['skipped_in_part']} skipped because the record holds only part of the prompt"
    broken = figures["skipped"] - figures["skipped_in_part"]
    if broken:
        counts += f", {broken} skipped because the record is not complete"
    found = wrapped(counts + ".")
    if figures["changed"]:
        moves = f"{figures['newly_shown']} newly shown, {figures['no_longer_shown']} no longer shown"
        found += wrapped(f"Notes: {moves}; in another order for {figures['reordered']}.")
    if figures["prompts"] > figures["skipped"]:
        notes = f"{figures['notes_before']} notes then, {figures['notes_after']} now"
        silent = f"prompts without any: {figures['silent_before']} then, {figures['silent_after']} now"
        found += wrapped(f"In all {notes}; {silent}.")
    if figures["changed_from_fallback"]:
        count = figures["changed_from_fallback"]
        found += wrapped(f"Of the changed, {count} had been answered by the words alone, without the daemon.")
    if figures["left_out_by_limit"]:
        found += wrapped(f"Left out by --limit: {counted(figures['left_out_by_limit'], 'older prompts')}.")
    return found


def _ids(ids: Sequence[str]) -> str:
    return ", ".join(clipped(id, 150) for id in ids)
