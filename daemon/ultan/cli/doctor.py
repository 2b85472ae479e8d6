"""`ultan doctor`: what is wrong, and how to put it right."""

from __future__ import annotations

import os
import time

import click

from ultan.cli import outcome
from ultan.cli.output import emit, example, in_terminal, json_option, printable, say
from ultan.cli.place import home

MARKS = {"ok": "ok", "note": "note", "warning": "warning", "error": "ERROR"}
_COLOURS = {"ok": "green", "note": "blue", "warning": "yellow", "error": "red"}


@click.command(epilog=example("ultan doctor"), short_help="Find what is wrong.")
@json_option
def doctor(as_json: bool) -> int:
    """Look at the install, the models, the daemon, the hooks' events and complaints, the library, the disk.

    Models are loaded as config.toml names them, never downloaded. Nothing is changed. The exit code is 1 if
    there is a warning or an error.
    """
    from ultan.service.doctor import examine, healthy

    place = home()
    findings = examine(place, os.environ, time.time())
    fine = healthy(findings)
    if as_json:
        emit({"ok": fine, "home": place.root, "findings": [finding.as_json() for finding in findings]})
        return outcome.FINE if fine else outcome.REFUSED
    for finding in findings:
        say_finding(finding.area, finding.level, finding.message, finding.fix)
    bad = sum(finding.bad for finding in findings)
    say()
    say("Nothing is wrong." if fine else f"{bad} thing{'s' if bad > 1 else ''} to put right.")
    return outcome.FINE if fine else outcome.REFUSED


def say_finding(area: str, level: str, message: str, fix: str) -> None:
    """One finding: its level in colour in a terminal, its remedy in the next line."""
    mark = f"{MARKS[level]:8}"
    if in_terminal():
        click.echo(click.style(mark, fg=_COLOURS[level]) + f"{area:9}" + printable(message))
    else:
        say(f"{mark}{area:9}{message}")
    if fix:
        say(f"{'':17}-> {fix}")
