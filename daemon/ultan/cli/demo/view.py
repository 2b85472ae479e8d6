"""How the demo looks: coloured in a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import click

from ultan.cli.demo.play import Played, Summary
from ultan.cli.demo.script import NOTE, SECRET
from ultan.cli.output import printable

_WIDTH = 96
_ACTS = {
    "SessionStart": "the client",
    "PreToolUse": "the agent",
    "PostToolUse": "the agent",
    "PreCompact": "the client",
    "Stop": "the agent",
    "SessionEnd": "the client",
}


def say(text: str = "", **style: object) -> None:
    """One line; colours are left out by themselves where the output is no terminal."""
    click.echo(click.style(printable(text), **style) if style else printable(text))  # type: ignore[arg-type]  # click's own names
    sys.stdout.flush()


def header(root: Path) -> None:
    say("Ultan, played on a sample library", bold=True)
    say(f"A developer's notes in a temporary home; the hooks are those of {root}.", dim=True)
    say()


def progress(text: str) -> None:
    say(f"... {text}", dim=True)


def step(number: int, played: Played) -> None:
    """One step: what happened, what the agent sees of it, how long the hook took."""
    what = played.step
    say()
    say(f"{number:2}  {what.title}", bold=True)
    typed = f"/ultan {NOTE}" if what.event == "UserPromptExpansion" else what.prompt
    if typed:
        say(_block(typed.replace(SECRET, SECRET[:8] + "..."), "    you > ", "          "), fg="cyan")
    if what.command:
        say(_block(what.command, "    agent > ", "            "), fg="magenta")
    if played.waited_s:
        say(f"    searchable after {played.waited_s:.1f} s", dim=True)
    if played.seen:
        say("    the agent also sees:", dim=True)
        say(_lines(played.seen), fg="green")
    if played.disk:
        say(_block(played.disk, "    on the disk: ", "                 "), fg="yellow")
    verdict = "silent" if not played.seen else "shown"
    mark = "as it should be" if played.ok else "NOT as it should be: " + "; ".join(played.faults)
    say(f"    {verdict}, {played.ms:.0f} ms, {mark}", fg="red" if not played.ok else None, dim=played.ok)


def closing(found: Summary, root: Path, kept: str) -> None:
    """What is left behind, and how to go on."""
    say()
    say("What is on the disk", bold=True)
    say(f"    {found.events} events, redacted")
    say(f"    the key of the prompt: {_yes(found.secret_on_disk)}")
    say(f"    the private prompt: {_yes(found.private_on_disk)}")
    say(f"    hooks took (median): {found.prompt_ms:.0f} ms for a prompt, {found.append_ms:.0f} ms to record")
    if kept:
        say(f"    kept in {kept} (its daemon has ended)")
    say()
    say("Use it in Claude Code", bold=True)
    for line in loading(root):
        say(f"    {line}")
    say()
    if found.ok:
        say("Everything was as it should be.", fg="green", bold=True)
    else:
        failed = "; ".join(found.failed) or "something is on the disk that should not be"
        say(f"Not everything was as it should be: {failed}", fg="red", bold=True)
        say("`ultan doctor` looks for what is wrong; `ultan demo --keep` leaves the home for a look.")


def loading(root: Path) -> list[str]:
    """The lines that load the plugin: for one session, then for good."""
    place = str(root) if " " not in str(root) else f'"{root}"'
    return [
        f"claude --plugin-dir {place}",
        f"claude plugin marketplace add {place}",
        "claude plugin install ultan@ultan",
    ]


def _yes(on_disk: bool) -> str:
    return "FOUND IN THE HOME" if on_disk else "nowhere in the home"


def _block(text: str, first: str, rest: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False)


def _lines(text: str) -> str:
    return "\n".join(_block(line, "      | ", "      |   ") for line in text.splitlines())
