"""`ultan why`: the story of one prompt."""

from __future__ import annotations

import click

from ultan.cli import outcome
from ultan.cli.output import emit, example, json_option, say
from ultan.cli.place import home
from ultan.cli.prime import show_candidates


@click.command(epilog=example("ultan why"), short_help="Explain what was shown for a prompt.")
@click.option("--session", metavar="ID", help="The newest prompt of this session.")
@click.option("--prompt", metavar="ID", help="The prompt with this id.")
@json_option
def why(session: str | None, prompt: str | None, as_json: bool) -> int:
    """Explain what was considered for the newest prompt, what it scored, what cut it and what was shown."""
    from ultan.recall.why import explain

    found = explain(home(), session, prompt)
    if found is None:
        if as_json:
            emit({"ok": False, "found": False})
        else:
            say(
                "No such prompt is in the recall log. It keeps 14 days, and only prompts that were looked up."
            )
        return outcome.REFUSED
    if as_json:
        emit({"ok": True, "found": True, **found.as_json()})
        return outcome.FINE
    say(f"{found.ts}  session {found.session_id or '-'}  project {found.project or '-'}  via {found.via}")
    say(f"> {found.prompt}")
    say()
    if found.candidates:
        show_candidates(found.candidates, set(found.shown))
    else:
        say("Nothing in the library came near.")
    if found.timings_ms:
        say("ms: " + ", ".join(f"{name} {value:g}" for name, value in found.timings_ms.items()))
    return outcome.FINE
