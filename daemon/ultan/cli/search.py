"""`ultan search`: what the library says about something, whether or not it would be shown unasked."""

from __future__ import annotations

from typing import Any

import click

from ultan.cli.output import emit, example, in_terminal, json_option, say
from ultan.cli.place import home
from ultan.wire.block import neutralise
from ultan.wire.home import Home

ANSWER_SECONDS = 5.0


@click.command(
    epilog=example('ultan search "retry policy" --limit 5'), short_help="Find entries by what they say."
)
@click.argument("text", nargs=-1, required=True)
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1, 100), help="At most so many.")
@click.option("--project", metavar="SLUG", help="Also what is kept for this project.")
@json_option
def search(text: tuple[str, ...], limit: int, project: str | None, as_json: bool) -> None:
    """Find the entries that are nearest to TEXT, best first.

    The daemon is asked if it runs; else the index is opened here, which takes some seconds.
    """
    wanted = " ".join(text)
    place = home()
    found = from_daemon(place, wanted, limit, project)
    via = "daemon"
    if found is None:
        found, via = from_engine(place, wanted, limit, project), "here"
    if as_json:
        emit({"results": found, "via": via})
        return
    for entry in found:
        say(f"{entry.get('id')}  ({entry.get('type')}, {entry.get('scope')})")
        say(f"    {one_line(entry.get('title'))}")
        excerpt = one_line(entry.get("excerpt"))
        if excerpt:
            say(f"    {excerpt}")
    if not found:
        say("Nothing in the library is near that. `ultan list` shows all entries.")


def one_line(text: object) -> str:
    """A text of the library on one line; in a pipe, where an agent may read, as harmless as in a block."""
    words = str(text or "")
    return " ".join(words.split()) if in_terminal() else neutralise(words)


def from_daemon(home: Home, text: str, limit: int, project: str | None) -> list[dict[str, Any]] | None:
    """The daemon's answer; None where it does not give one."""
    from ultan.wire import client

    message: dict[str, object] = {"op": "search", "text": text, "limit": limit, "project": project}
    try:
        answer = client.request(home, message, ANSWER_SECONDS)
    except OSError:
        return None
    results = answer.get("results")
    if answer.get("ok") is not True or not isinstance(results, list):
        return None
    return [item for item in results if isinstance(item, dict)]


def from_engine(home: Home, text: str, limit: int, project: str | None) -> list[dict[str, Any]]:
    """The answer of the index, opened in this process."""
    from ultan.recall.engine import Engine

    engine = Engine.open(home)
    try:
        engine.refresh()
        return list(engine.search(text, project, limit))
    finally:
        engine.close()
