"""`ultan why`: the story of one prompt."""

from __future__ import annotations

import time
from pathlib import Path

import click

from ultan.cli import outcome
from ultan.cli.output import emit, example, json_option, say
from ultan.cli.place import home
from ultan.recall.why import Explanation
from ultan.wire.home import Home


@click.command(
    epilog=example("ultan why", 'ultan why "add a retry to the payments client" --project shop -n 5'),
    short_help="Explain what was shown for a prompt, and what was not.",
)
@click.argument("prompt", required=False)
@click.option("--session", metavar="ID", help="The newest prompt of this session.")
@click.option("--prompt-id", metavar="ID", help="The prompt with this id.")
@click.option("--project", metavar="SLUG", help="The newest prompt of this project.")
@click.option(
    "--cwd", default=".", type=click.Path(file_okay=False), help="The folder that PROMPT is asked in."
)
@click.option(
    "-n", "detailed", default=3, show_default=True, type=click.IntRange(0), help="Details of so many."
)
@click.option("--note", metavar="ID", help="Details of this note instead.")
@json_option
def why(
    prompt: str | None,
    session: str | None,
    prompt_id: str | None,
    project: str | None,
    cwd: str,
    detailed: int,
    note: str | None,
    as_json: bool,
) -> int:
    """Explain which notes were shown for a prompt, which were not, and what decided it.

    Without PROMPT it is the newest of the recall log, told as it was then. A given PROMPT is asked now, in
    this process, with today's library and settings, and leaves no trace; --project and --session then say
    where it is asked, so that notes of that project count and what the session has seen is not shown again.

    Each note has its verdict; below, its places by each stage, what each feature added to the gate's
    log-odds, and the priors.
    """
    if prompt is not None and prompt_id is not None:
        raise click.UsageError("Give a PROMPT to ask now, or the id of one that was asked, not both.")
    place = home()
    if prompt is not None:
        found: Explanation | None = asked_now(place, prompt, cwd, session, project)
    else:
        from ultan.recall.why import explain

        found = explain(place, session, prompt_id, project)
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
    from ultan.cli.story import story

    for line in story(found, detailed, note):
        say(line)
    return outcome.FINE


def asked_now(home: Home, prompt: str, cwd: str, session: str | None, project: str | None) -> Explanation:
    """The story of a prompt that is asked in this process, as a hook would ask it; nothing is recorded."""
    from ultan.recall.engine import Engine
    from ultan.recall.why import told
    from ultan.wire.guard import is_synthetic, slash_command
    from ultan.wire.privacy import is_private_prompt
    from ultan.wire.prompt import text_to_prime
    from ultan.wire.session import SessionMemory

    unheard = is_private_prompt(prompt) or is_synthetic(prompt)
    question = "" if unheard else text_to_prime(prompt, slash_command(prompt))
    seen = frozenset(SessionMemory(home, session).shown if session else ())
    engine = Engine.open(home)
    try:
        engine.refresh()
        primed = engine.prime(
            question,
            cwd=str(Path(cwd).absolute()),
            session_id=session or "",
            project=project,
            exclude=seen,
            now=time.time(),
            remember=False,
        )
    finally:
        engine.close()
    record = {**primed.record, "via": "now"}
    return told(record, [str(entry["id"]) for entry in primed.shown], engine.pipeline.gate)
