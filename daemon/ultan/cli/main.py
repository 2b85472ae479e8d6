"""The command line: which commands there are. Each is loaded only when it runs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

from ultan.cli import outcome
from ultan.wire.version import VERSION

# name: (module, attribute, one line of help); the group's help needs nothing else.
COMMANDS = {
    "demo": (
        "demo.command",
        "demo",
        "Play a short session on a sample library and show what the agent would see.",
    ),
    "test": ("checkout", "test", "Run the tests of the checkout."),
    "prime": ("prime", "prime", "Show what a prompt would bring before the agent, with the scores."),
    "search": ("search", "search", "Find entries by what they say."),
    "read": ("entries", "read", "Print an entry."),
    "list": ("entries", "list_entries", "List the entries of the library."),
    "add": ("add", "add", "Save a note, word for word."),
    "why": ("why", "why", "Explain what was shown for a prompt, and what was not."),
    "replay": ("replay", "replay", "Rank past prompts again and show what would change."),
    "trigger": ("trigger", "trigger", "Let a note meet the command that it speaks about."),
    "lint": ("lint", "lint", "Find what is broken in the library."),
    "undo": ("changes", "undo", "Take back a change of the library."),
    "log": ("changes", "log", "Show the changes of the library, newest first."),
    "status": ("status", "status", "Show what there is: entries, events, sizes, the daemon."),
    "doctor": ("doctor", "doctor", "Find what is wrong with the install, the daemon or the home."),
    "off": ("switch", "off", "Stop listening: nothing is recorded or shown."),
    "on": ("switch", "on", "Listen again."),
    "daemon": ("daemon", "daemon", "Start, stop or ask the background process."),
    "bench": ("checkout", "bench", "Run a benchmark of the checkout."),
    "eval": ("evaluate", "evaluate", "Measure quality on labelled sets."),
    "setup": ("setup", "setup", "Install what Ultan runs on, or an extra part of it."),
}


class Commands(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module("ultan.cli." + module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, _, summary) in COMMANDS.items()])


@click.group(
    cls=Commands,
    epilog="\b\nExample:\n  ultan demo\n\n" + outcome.CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="ultan")
def ultan() -> None:
    """Your own memory library for coding agents, in markdown files on your disk.

    The library lives in $AGENT_MEM_HOME, else in ~/.agent-mem. Every command takes --json.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: the process's own); returns the exit code, never raises."""
    arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    return outcome.end(lambda: run(arguments), outcome.wants_json(arguments))


def run(arguments: list[str]) -> object:
    """Run one command line; raises what went wrong. Not click's own `main`, which ends the process itself."""
    with ultan.make_context("ultan", arguments) as context:
        return ultan.invoke(context)
