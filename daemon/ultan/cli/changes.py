"""`ultan undo` and `ultan log`: the changes of the library that the journal keeps."""

from __future__ import annotations

import click

from ultan.cli.output import emit, example, json_option, say, table
from ultan.cli.place import home, refresh
from ultan.library.journal import Action, Batch, Journal


@click.command(epilog=example("ultan undo", "ultan undo 3f9a --dry-run"), short_help="Take back a change.")
@click.argument("batch", required=False)
@click.option("--dry-run", is_flag=True, help="Only show what would be taken back.")
@json_option
def undo(batch: str | None, dry_run: bool, as_json: bool) -> None:
    """Take back the change BATCH, by default the last one; a whole batch or nothing.

    The beginning of the id is enough. Where one of its files was changed since, nothing is done.
    """
    journal = Journal(home(), holder="ultan undo")
    if dry_run:
        wanted = newest(journal) if batch is None else journal.find(batch)
        if as_json:
            emit({"ok": True, "dry_run": True, "would_undo": as_dict(wanted)})
            return
        say(f"Would take back {wanted.id} of {wanted.ts} by {wanted.by}: {wanted.reason}")
        for action in reversed(wanted.actions):
            say(f"  {verb(Action(action.path, action.after, action.before))} {action.path}")
        return
    done = journal.undo(None if batch is None else journal.find(batch).id)
    refresh(home())
    if as_json:
        emit({"ok": True, "dry_run": False, "undone": as_dict(done)})
        return
    say(f"Done: {done.reason}")
    for action in done.actions:
        say(f"  {verb(action)} {action.path}")
    say(f"To have it back: ultan undo {done.id}")


@click.command(epilog=example("ultan log -n 5"), short_help="Show the changes of the library.")
@click.option("-n", "limit", default=20, show_default=True, type=click.IntRange(1), help="At most so many.")
@json_option
def log(limit: int, as_json: bool) -> None:
    """Show the changes of the library, newest first; the journal keeps them for 180 days."""
    batches = Journal(home()).log(limit)
    if as_json:
        emit({"batches": [as_dict(batch) for batch in batches]})
    elif batches:
        rows = [(b.id, b.ts[:16].replace("T", " "), b.by, b.state, len(b.actions), b.reason) for b in batches]
        table(["batch", "when", "by", "state", "files", "what"], rows)
    else:
        say("Nothing was changed yet.")


def newest(journal: Journal) -> Batch:
    """The batch that an undo without an id takes back. Raises NoSuchBatch."""
    from ultan.library.errors import NoSuchBatch

    for batch in journal.log(None):
        if batch.state == "applied" and not batch.undoes and not batch.format:
            return batch
    raise NoSuchBatch(None)


def as_dict(batch: Batch) -> dict[str, object]:
    """A batch without the contents of its files."""
    return {
        "id": batch.id,
        "ts": batch.ts,
        "by": batch.by,
        "state": batch.state,
        "reason": batch.reason,
        "undoes": batch.undoes,
        "files": [{"path": action.path, "change": verb(action)} for action in batch.actions],
    }


def verb(action: Action) -> str:
    if action.before is None:
        return "create"
    return "remove" if action.after is None else "change"
