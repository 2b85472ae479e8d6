"""What commands print: one JSON object, or text that is laid out in a terminal and plain in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
# What a terminal would obey instead of showing it; tab and line feed are text.
_CONTROLS = {
    code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)
}


def json_option(command: Command) -> Command:
    """The option --json, as the argument `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")(
        command
    )


def example(*lines: str) -> str:
    """The closing part of a command's help."""
    return "\b\n" + "\n".join(["Example:" if len(lines) == 1 else "Examples:", *(f"  {x}" for x in lines)])


def emit(value: Mapping[str, object]) -> None:
    """Print the one object of --json, in ASCII, so that it survives every locale."""
    print(json.dumps(value))


def in_terminal() -> bool:
    return sys.stdout.isatty()


def say(text: str = "") -> None:
    """Print text; in a terminal, control characters of the library's texts are shown as such."""
    shown = printable(text) if in_terminal() else text
    encoding = sys.stdout.encoding or "utf-8"
    print(shown.encode(encoding, "replace").decode(encoding))


def hint(text: str) -> None:
    """Tell the person something beside the output: progress, advice."""
    print(printable(text), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    return text.translate(_CONTROLS)


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Rows with aligned columns in a terminal; in a pipe one row a line, cells separated by tabs.

    The first column is never broken; without heads there is no line of them.
    """
    cells = [[printable(str(cell)).replace("\t", " ").replace("\n", " ") for cell in row] for row in rows]
    if not in_terminal():
        for row in cells:
            say("\t".join(row))
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = Table(
        *(heads or [""] * len(rows[0])), box=box.SIMPLE_HEAD, header_style="bold", show_header=bool(heads)
    )
    shown.columns[0].no_wrap = True  # what a person copies
    for row in cells:
        shown.add_row(*(Text(cell) for cell in row))
    console().print(shown)


def console() -> Any:
    """A rich console on standard output."""
    from rich.console import Console

    return Console(highlight=False, emoji=False)
