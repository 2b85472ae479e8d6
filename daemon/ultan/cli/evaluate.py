"""`ultan eval`: how good it is, on labelled sets of anybody's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from ultan.cli.output import emit, example, hint, json_option, say, table
from ultan.cli.place import home

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_EXAMPLE = "ultan eval priming --entries entries.jsonl --queries queries.jsonl"


@click.group("eval", epilog=example(_EXAMPLE), short_help="Measure quality on labelled sets.")
def evaluate() -> None:
    """Measure quality on labelled sets, with the code that answers real prompts."""


@evaluate.command(epilog=example(_EXAMPLE, _EXAMPLE + " --run run.jsonl --json"))
@click.option("--entries", required=True, type=_FILE, help="The library: one entry a line.")
@click.option("--queries", required=True, type=_FILE, help="Prompts with the entries that apply, one a line.")
@click.option("--run", "run_file", type=click.Path(dir_okay=False), help="Write what was shown to this file.")
@json_option
def priming(entries: Path, queries: Path, run_file: str | None, as_json: bool) -> None:
    """Prime every prompt of a labelled set and score what was shown.

    ENTRIES has {id, title, type, scope, applies_when, tags, body} a line, QUERIES {id, prompt, project,
    relevant: [{id, grade}], kind}; --run writes {id, surfaced} a line. The models are those of config.toml.
    """
    from ultan.library import config
    from ultan.retrieval.backends import load_embedder
    from ultan.retrieval.evaluate import evaluate as scored

    embedder = load_embedder(config.load(home()).models)
    figures = scored(entries, queries, run_file, _progress(as_json), embedder)
    if as_json:
        emit(figures)
        return
    plain = [(name, value) for name, value in figures.items() if not isinstance(value, dict)]
    table([], [(name, f"{value:.3f}" if isinstance(value, float) else value) for name, value in plain])
    if run_file is not None:
        say(f"What was shown is in {run_file}.")


def _progress(as_json: bool) -> Callable[[str, int, int], None] | None:
    """Something to call with (what, done, total); None where no person looks on."""
    if as_json or not sys.stderr.isatty():
        return None

    def tell(what: str, done: int, total: int) -> None:
        if done == total or done % 50 == 0:
            hint(f"{what}: {done} of {total}")

    return tell
