"""`ultan lint`: what a person should put right in the library."""

from __future__ import annotations

import time

import click

from ultan.cli import outcome
from ultan.cli.output import emit, example, json_option, say
from ultan.cli.place import home


@click.command(epilog=example("ultan lint"), short_help="Find what is broken in the library.")
@json_option
def lint(as_json: bool) -> int:
    """Find broken headers, links, dates and names in the library, each with its file, line and remedy.

    Nothing is changed. The exit code is 1 if anything but advice was found.
    """
    from ultan.library import lint as linting
    from ultan.library.store import Store
    from ultan.service.checks.library import ADVICE

    problems = linting.lint(Store(home()).scan(), time.time())
    errors = [problem for problem in problems if problem.code not in ADVICE]
    if as_json:
        emit(
            {
                "ok": not errors,
                "problems": [
                    {
                        "path": problem.path,
                        "line": problem.line,
                        "code": problem.code,
                        "level": "advice" if problem.code in ADVICE else "error",
                        "message": problem.message,
                        "fix": problem.fix,
                    }
                    for problem in problems
                ],
                "counts": linting.summary(problems),
            }
        )
    else:
        for problem in problems:
            say(f"{problem.path}:{problem.line}: {problem.code}: {problem.message} ({problem.fix})")
        say(summary(len(errors), len(problems) - len(errors)))
    return outcome.REFUSED if errors else outcome.FINE


def summary(errors: int, advice: int) -> str:
    if not errors and not advice:
        return "Nothing to put right."
    parts = [f"{errors} to put right" if errors else "Nothing to put right", f"{advice} as advice"]
    return ", ".join(parts if advice else parts[:1]) + "."
