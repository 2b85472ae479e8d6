"""`ultan eval`: how good it is, on labelled sets of anybody's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ultan.cli import outcome
from ultan.cli.output import emit, example, hint, in_terminal, json_option, say, table
from ultan.wire.failures import UltanError

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(
    "eval",
    epilog=example("ultan eval priming --entries entries.jsonl --queries queries.jsonl"),
    short_help="Measure quality on labelled sets.",
)
def evaluate() -> None:
    """Measure quality on labelled sets, with the code that answers real prompts."""


@evaluate.command(epilog=example("ultan eval priming --entries entries.jsonl --queries queries.jsonl --json"))
@click.option("--entries", required=True, type=_FILE, help="The library: one entry a line.")
@click.option("--queries", required=True, type=_FILE, help="Prompts with the entries that apply, one a line.")
@click.option(
    "--run", "run_file", type=click.Path(dir_okay=False, path_type=Path), help="Write what was shown here."
)
@json_option
def priming(entries: Path, queries: Path, run_file: Path | None, as_json: bool) -> int:
    """Prime every prompt of a labelled set and score what was shown.

    ENTRIES has {id, title, type, scope, applies_when, tags, body} a line, QUERIES {id, prompt, project,
    relevant: [{id, grade}], kind}. With --run, {id, surfaced} a line is written too.
    """
    from ultan.cli.labelled import surfaced
    from ultan.retrieval.metrics import evaluate as scored

    asked = rows(queries)
    shown = surfaced(rows(entries), asked, progress=_progress(as_json))
    if run_file is not None:
        lines = [json.dumps({"id": id, "surfaced": ids}) for id, ids in shown.items()]
        run_file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    figures = scored(asked, shown)
    if as_json:
        emit(figures)
        return outcome.FINE
    plain = [(name, f"{value:.3f}" if isinstance(value, float) else value) for name, value in figures.items()]
    table(["figure", "value"], [row for row in plain if not isinstance(row[1], dict)])
    if run_file is not None:
        say(f"What was shown is in {run_file}.")
    return outcome.FINE


class BadRow(UltanError):
    """A line of a labelled set is not what it should be."""

    def __init__(self, path: Path, line: int, why: str) -> None:
        super().__init__(f"{path}:{line}: {why}.", "Nothing was measured.", "Each line is one JSON object.")


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file, each with an id. Raises BadRow."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadRow(path, number, f"this is no JSON ({error})") from None
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise BadRow(path, number, "this is no object with an id")
        found.append(row)
    return found


def _progress(as_json: bool) -> Any:
    """Something to call with (done, total); it speaks only to a person at a terminal."""
    if as_json or not in_terminal():
        return None

    def tell(done: int, total: int) -> None:
        if done == total or done % 50 == 0:
            hint(f"{done} of {total} prompts")

    return tell
