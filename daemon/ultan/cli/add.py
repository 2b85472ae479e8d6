"""`ultan add`: the person hands over a note in the terminal."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from ultan.cli import outcome
from ultan.cli.output import emit, example, in_terminal, json_option, say
from ultan.cli.place import home, refresh
from ultan.library.entry import TYPES
from ultan.wire import remember


@click.command(
    epilog=example(
        'ultan add "we use uv in this repo, never pip"',
        "git log -1 --format=%B | ultan add - --type finding",
    ),
    short_help="Save a note, word for word.",
)
@click.argument("text", required=False)
@click.option("--type", "kind", type=click.Choice(TYPES), help="What it is, instead of what its words say.")
@click.option("--title", help="The title, instead of the first words.")
@click.option("--scope", type=click.Choice(["global", "project"]), help="For all projects, or for this one.")
@click.option("--folder", help="The folder below the scope's, for example python/testing.")
@click.option("--cwd", default=".", type=click.Path(file_okay=False), help="The folder of the project.")
@click.option("--force", is_flag=True, help="Write it even if an entry says the same already.")
@json_option
def add(
    text: str | None,
    kind: str | None,
    title: str | None,
    scope: str | None,
    folder: str | None,
    cwd: str,
    force: bool,
    as_json: bool,
) -> int:
    """Save TEXT as a new entry, word for word; secrets in it are replaced by a mark.

    `-` reads it from standard input; without TEXT an editor opens ($VISUAL, $EDITOR).
    """
    given = {"type": kind, "title": title, "scope": scope, "folder": folder}
    saved = remember.save(
        home(),
        _words(text),
        str(Path(cwd).absolute()),
        "",
        time.time(),
        by="user",
        force=force,
        chosen={name: value for name, value in given.items() if value is not None},
    )
    if saved.kind == "saved":
        refresh(home())
    done = saved.kind in ("saved", "waiting")
    if as_json:
        emit({"ok": done, **saved.as_json()})
    else:
        for line in told(saved):
            say(line)
    return outcome.FINE if done else outcome.REFUSED


def _words(text: str | None) -> str:
    """The text of the note: the argument, standard input, or what the person writes in the editor."""
    if text == "-" or (text is None and not sys.stdin.isatty()):
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    if text is not None:
        return text
    if not in_terminal():
        raise click.UsageError("What is to be saved? Give the text, or - to read it from standard input.")
    return click.edit("", extension=".md") or ""


def told(saved: remember.Saved) -> list[str]:
    """What a person is told of a save: what happened, what was kept, what to do next."""
    lines = []
    if saved.kind == "saved":
        lines.append(f"Saved word for word as {saved.id} ({saved.type}, {saved.scope}): {saved.title}")
    elif saved.kind == "duplicate":
        lines.append(f"The library says this already: {saved.title} ({saved.id}). Nothing was written.")
        lines.append(f"See it with `ultan read {saved.id}`; write it all the same with --force.")
    elif saved.kind == "waiting":
        lines.append(f"The note is kept in {saved.path}, but is not in the library yet: {saved.reason}")
        lines.append("The daemon saves it by itself as soon as it can.")
    elif saved.kind == "too long":
        lines.append(f"The note has over {remember.TEXT_LIMIT} characters. Nothing was saved.")
        lines.append("Put it into the library as a file of its own, or save the part that matters.")
    elif saved.kind == "not text":
        lines.append("It holds NUL bytes, which no text does. Nothing was saved.")
    else:
        lines.append("There was no text. Nothing was saved.")
    if saved.redacted and saved.kind in ("saved", "waiting"):
        lines.append("A secret in it was replaced by a mark and is not stored.")
    if saved.batch:
        lines.append(f"To take it back: ultan undo {saved.batch}")
    return lines
