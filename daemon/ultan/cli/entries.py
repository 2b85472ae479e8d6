"""`ultan read` and `ultan list`: the entries as they are on the disk."""

from __future__ import annotations

import sys

import click

from ultan.cli.output import emit, example, in_terminal, json_option, say, table
from ultan.cli.place import home
from ultan.library.entry import STATUSES, TYPES, Entry


@click.command(epilog=example("ultan read global/python/retries"), short_help="Print an entry.")
@click.argument("id")
@json_option
def read(id: str, as_json: bool) -> None:
    """Print the entry ID as it is on the disk, header and all."""
    from ultan.library.store import Store

    store = Store(home())
    entry = store.read(id.removesuffix(".md").strip("/"))
    raw = store.raw(entry.path)
    if as_json:
        emit({**fields(entry), "body": entry.body, "text": raw.decode("utf-8", "replace")})
    elif in_terminal():
        say(raw.decode("utf-8", "replace").rstrip("\n"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)


@click.command(
    "list", epilog=example("ultan list --scope global --type warning"), short_help="List the entries."
)
@click.option("--scope", metavar="SCOPE", help="global, project (all of them), or a project's slug.")
@click.option("--type", "kind", type=click.Choice(TYPES), help="Only of this type.")
@click.option("--tag", help="Only with this tag.")
@click.option("--status", type=click.Choice(STATUSES), help="Only with this status.")
@json_option
def list_entries(
    scope: str | None, kind: str | None, tag: str | None, status: str | None, as_json: bool
) -> None:
    """List the entries of the library, by id."""
    from ultan.library.store import Store

    snapshot = Store(home()).scan()
    found = [
        entry
        for _, entry in sorted(snapshot.entries.items())
        if in_scope(entry.scope, scope)
        and (kind is None or entry.type == kind)
        and (tag is None or tag.casefold() in (own.casefold() for own in entry.tags))
        and (status is None or entry.status == status)
    ]
    if as_json:
        emit({"entries": [fields(entry) for entry in found], "total": len(snapshot.entries)})
        return
    if found:
        rows = [(e.id, e.type, e.scope, e.updated[:10], state(e), e.title) for e in found]
        table(["id", "type", "scope", "updated", "status", "title"], rows)
    elif snapshot.entries:
        say(f"None of the {len(snapshot.entries)} entries is like that.")
    else:
        say('The library is empty. `ultan add "we use uv here, never pip"` writes the first entry.')


def in_scope(scope: str, wanted: str | None) -> bool:
    """Whether an entry's scope is the wanted one: global, project (any of them), or a project's slug."""
    if wanted is None:
        return True
    if wanted == "project":
        return scope.startswith("project:")
    return scope in (wanted, "project:" + wanted)


def state(entry: Entry) -> str:
    return entry.status if entry.readable else "unreadable"


def fields(entry: Entry) -> dict[str, object]:
    """What a program may want of an entry, the body left out."""
    return {
        "id": entry.id,
        "path": entry.path,
        "title": entry.title,
        "type": entry.type,
        "scope": entry.scope,
        "status": entry.status,
        "applies_when": entry.applies_when,
        "tags": list(entry.tags),
        "created": entry.created,
        "updated": entry.updated,
        "pinned": entry.pinned,
        "readable": entry.readable,
        "supersedes": list(entry.supersedes),
        "superseded_by": list(entry.superseded_by),
        "problems": [problem.message for problem in entry.problems],
    }
