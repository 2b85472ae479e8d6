"""`ultan trigger`: the patterns by which a note meets the command that it speaks about."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from ultan.cli import outcome
from ultan.cli.output import emit, example, json_option, say, table
from ultan.cli.place import home, project_at, refresh
from ultan.library.fields import DEFAULT_FIELDS, Trigger
from ultan.wire.failures import UltanError

FIRED_SHOWN = 10


class RefusedPattern(UltanError):
    """A pattern that cannot be held against commands. Field: pattern."""

    def __init__(self, pattern: str, why: str) -> None:
        super().__init__(
            f"The pattern {pattern!r} is refused: {why}.",
            "Nothing was written.",
            r"Write it in another way, for example '\bpip install\b'.",
        )
        self.pattern = pattern


@click.group(
    epilog=example(
        r"ultan trigger add global/python/use-uv '\bpip install\b'",
        'ultan trigger test "sudo pip install requests"',
        "ultan trigger backtest global/python/use-uv",
    ),
    short_help="Let a note meet the command that it speaks about.",
)
def trigger() -> None:
    """Let a note appear before the agent runs the command that it speaks about, or block the command.

    An entry keeps its patterns (regular expressions of Python) in its header, as `block_triggers`.
    """


@trigger.command(epilog=example(r"ultan trigger add global/git/no-force 'git push.*--force' --block"))
@click.argument("id")
@click.argument("pattern")
@click.option("--tool", default="Bash", show_default=True, help="The tool; `*` stands for any characters.")
@click.option(
    "--field", help="The field of the tool's input, such as file_path or edits.new_string; * for all of it."
)
@click.option("--block/--advise", default=None, help="Deny the tool, or only show the note.")
@json_option
def add(id: str, pattern: str, tool: str, field: str | None, block: bool | None, as_json: bool) -> None:
    """Add PATTERN to the entry ID: where it matches, the note is shown before the tool runs.

    With --block the tool does not run. Of Bash a pattern sees the simple commands of the line, with quotes,
    wrappers such as sudo and options before a subcommand taken away.
    """
    from ultan.library import header
    from ultan.library.edit import decode, edit
    from ultan.library.journal import Action, Batch, Journal
    from ultan.library.patterns import check
    from ultan.library.store import Store

    refused = check(pattern).refused
    if refused:
        raise RefusedPattern(pattern, refused)
    where = field or DEFAULT_FIELDS.get(tool, "")
    if not where:
        raise click.UsageError(f"Which field of {tool}? Name it with --field; * stands for all of its input.")
    store = Store(home())
    entry = store.read(id.removesuffix(".md").strip("/"))
    new = Trigger(tool, where, pattern)
    raw = store.raw(entry.path)
    fields: dict[str, Any] = {}
    if new not in entry.block_triggers:
        fields["block_triggers"] = [*_written(raw, entry.path, header, decode), _short(new)]
    if block is not None and entry.severity != ("block" if block else "advise"):
        fields["severity"] = "block" if block else "advise"
    changed = edit(raw, fields, None, entry.path) if fields else raw
    if changed != raw:
        batch = Batch([Action(entry.path, raw, changed)], "user", f"trigger for {entry.id}")
        Journal(home(), holder="ultan trigger").apply(batch)
        refresh(home())
    severity = fields.get("severity", entry.severity)
    if as_json:
        emit({"ok": True, "id": entry.id, "changed": changed != raw, "severity": severity, **_as_dict(new)})
        return
    what = "blocks" if severity == "block" else "meets"
    say(f"{entry.id} {what} {tool} calls whose {where} matches {pattern}")
    say("To take it back: ultan undo" if changed != raw else "It did so before: nothing was written.")


@trigger.command("list", epilog=example("ultan trigger list"))
@json_option
def list_triggers(as_json: bool) -> None:
    """List the patterns of all entries, and what keeps one from being used."""
    from ultan.library.patterns import check
    from ultan.library.scopes import overridden
    from ultan.library.store import Store

    snapshot = Store(home()).scan()
    everywhere = overridden(snapshot.entries, None)
    rows = []
    for id, entry in sorted(snapshot.entries.items()):
        for one in entry.block_triggers:
            refused = check(one.pattern).refused
            if not entry.primable:
                state = entry.status if entry.readable else "unreadable"
            else:
                state = "superseded" if id in everywhere else "refused" if refused else entry.severity
            rows.append({"id": id, "scope": entry.scope, **_as_dict(one), "state": state, "refused": refused})
    if as_json:
        emit({"triggers": rows})
    elif rows:
        heads = ["id", "scope", "tool", "field", "pattern", "state"]
        table(heads, [[row[name] for name in heads] for row in rows])
        for row in rows:
            if row["refused"]:
                say(f"{row['id']}: {row['pattern']} is refused: {row['refused']}")
    else:
        say("No entry has a pattern. `ultan trigger add ID PATTERN` gives it one.")


@trigger.command(epilog=example('ultan trigger test "cd /tmp && sudo pip install x"'))
@click.argument("command")
@click.option("--tool", default="Bash", show_default=True, help="The tool that would be used.")
@click.option("--field", help="The field that COMMAND stands in; else COMMAND may be the input as JSON.")
@click.option("--cwd", default=".", type=click.Path(file_okay=False), help="The folder of the project.")
@json_option
def test(command: str, tool: str, field: str | None, cwd: str, as_json: bool) -> int:
    """Show what the library would say before COMMAND runs, and why. Nothing is run or recorded.

    The exit code is 0 where nothing speaks or a note is shown, 1 where the tool would be denied or the
    person asked.
    """
    from ultan.library.derived import triggers as derived
    from ultan.library.store import Store
    from ultan.wire.keeping import written
    from ultan.wire.triggers import judge

    entries = json.loads(derived(Store(home()).scan()))["entries"]
    slug, given = project_at(cwd), _given(command, tool, field)
    folder = os.path.abspath(cwd)
    judged = judge(tool, given, entries, lambda entry: _speaks(entry, slug))
    guarded = written(home().root, tool, given, folder)
    hits = [
        {
            "id": hit.entry["id"],
            "title": hit.entry["title"],
            "what": ("asks" if hit.doubt else "denies") if hit.blocks else "advises",
            "pattern": hit.pattern,
            "seen": hit.seen,
            "doubt": hit.doubt,
        }
        for hit in judged.hits
    ]
    stopped = bool(guarded) or any(hit["what"] != "advises" for hit in hits)
    if as_json:
        emit({"hits": hits, "late": judged.late, "guarded": guarded, "project": slug, **_apart(tool, given)})
        return outcome.REFUSED if stopped else outcome.FINE
    for hit in hits:
        say(f"{hit['what']}: {hit['title']} ({hit['id']})")
        say(f"  {hit['pattern']} matches {hit['seen']}" + (f", but {hit['doubt']}" if hit["doubt"] else ""))
    if guarded:
        say(f"asks: the tool may write in the home: {guarded}")
    for id in judged.late:
        say(f"too slow: a pattern of {id}")
    if not hits and not guarded:
        say("Nothing in the library speaks about it.")
    for line in _apart(tool, given).get("commands", []):
        say(f"  seen as: {line}")
    return outcome.REFUSED if stopped else outcome.FINE


@trigger.command(epilog=example("ultan trigger backtest global/python/use-uv --since 2026-11-01"))
@click.argument("id")
@click.option("--pattern", help="A pattern to try in place of the entry's own.")
@click.option("--tool", default="Bash", show_default=True, help="The tool of --pattern.")
@click.option("--field", help="The field of --pattern.")
@click.option("--since", default="", metavar="DATE", help="Only calls from this date on.")
@json_option
def backtest(id: str, pattern: str | None, tool: str, field: str | None, since: str, as_json: bool) -> None:
    """Hold the patterns of the entry ID against the recorded calls of tools: how often it would have spoken.

    Events are kept for 14 days. What was redacted or cut in them is looked at as it was kept.
    """
    from ultan.library.derived import trigger_row
    from ultan.library.patterns import check
    from ultan.library.store import Store
    from ultan.recall.backtest import backtest as tried

    entry = Store(home()).read(id.removesuffix(".md").strip("/"))
    patterns = entry.block_triggers
    if pattern is not None:
        refused = check(pattern).refused
        if refused:
            raise RefusedPattern(pattern, refused)
        patterns = (Trigger(tool, field or DEFAULT_FIELDS.get(tool, "*"), pattern),)
    if not patterns:
        raise click.UsageError(f"{entry.id} has no pattern; try one with --pattern.")
    row = {"id": entry.id, "severity": "advise", "triggers": [trigger_row(one) for one in patterns]}
    found = tried(home(), row, since)
    if as_json:
        emit(
            {
                "id": entry.id,
                "calls": found.calls,
                "cut": found.cut,
                "fired": found.fired,
                "often": [{"seen": seen, "times": times} for seen, times in found.often],
            }
        )
        return
    say(f"{entry.id} would have spoken {len(found.fired)} times in {found.calls} recorded calls of tools.")
    if found.often:
        table(["times", "on"], [(times, seen) for seen, times in found.often[:FIRED_SHOWN]])
        if len(found.often) > FIRED_SHOWN:
            say(f"and on {len(found.often) - FIRED_SHOWN} others: --json lists all")


def _speaks(entry: dict[str, object], slug: str | None) -> bool:
    over = entry.get("overridden_in")
    if isinstance(over, list) and slug in over:
        return False
    return entry.get("scope") in ("global", f"project:{slug}")


def _given(command: str, tool: str, field: str | None) -> dict[str, object]:
    """The input of a tool: a field, or a JSON object."""
    name = field or DEFAULT_FIELDS.get(tool)
    if name is None or (field is None and tool != "Bash"):
        try:
            given = json.loads(command)
        except ValueError:
            given = None
        if isinstance(given, dict):
            return given
        if name is None:
            raise click.UsageError(f"What is given to {tool}? Name the field with --field, or give JSON.")
    return {name: command}


def _apart(tool: str, given: dict[str, object]) -> dict[str, Any]:
    """How a shell line is taken apart."""
    command = given.get("command")
    if tool != "Bash" or not isinstance(command, str):
        return {}
    from ultan.wire.shell import parse

    line = parse(command)
    return {"whole": line.whole, "commands": [one.texts[-1] for one in line.commands if one.texts]}


def _as_dict(one: Trigger) -> dict[str, str]:
    return {"tool": one.tool, "field": one.field, "pattern": one.pattern}


def _short(one: Trigger) -> object:
    """A trigger as it is written: a pattern alone means Bash and its command."""
    return one.pattern if (one.tool, one.field) == ("Bash", "command") else _as_dict(one)


def _written(raw: bytes, path: str, header: Any, decode: Any) -> list[Any]:
    """The patterns of a file in the form in which they stand there."""
    items = header.read(header.split(decode(raw, path)).header)
    item = next((item for name, item in items.items() if name.replace("-", "_") == "block_triggers"), None)
    if item is None or not item.values or item.values[0] is None:
        return []
    value = item.values[0]
    return list(value) if isinstance(value, list) else [value]
