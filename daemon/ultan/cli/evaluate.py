"""`ultan eval`: how good it is, on labelled sets of anybody's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from ultan.cli.output import emit, example, hint, json_option, say, table
from ultan.cli.place import checkout, home

Command = Callable[..., object]
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OURS = "ultan eval ablation"
_EXAMPLE = "ultan eval priming --entries entries.jsonl --queries queries.jsonl"

_FIT = "ultan eval fit-gate --set entries.jsonl queries.jsonl 1"


def _labelled(name: str, what: str) -> Callable[[Command], Command]:
    """The option for a file of a labelled set; in a checkout, its own set is the default."""

    def default() -> Path | None:
        root = checkout()
        path = root / "tests" / "evals" / "priming" / f"{name}.jsonl" if root is not None else None
        return path if path is not None and path.is_file() else None

    return click.option(
        f"--{name}",
        required=True,
        type=_FILE,
        default=default,
        help=f"{what}, one a line. In a checkout: tests/evals/priming, if not given.",
    )


_entries = _labelled("entries", "The library's entries")
_queries = _labelled("queries", "Prompts with the entries that apply")


@click.group("eval", epilog=example(_EXAMPLE), short_help="Measure quality on labelled sets.")
def evaluate() -> None:
    """Measure quality on labelled sets, with the code that answers real prompts."""


@evaluate.command(epilog=example(_EXAMPLE, _EXAMPLE + " --run run.jsonl --json"))
@_entries
@_queries
@click.option("--run", "run_file", type=click.Path(dir_okay=False), help="Write what was shown to this file.")
@json_option
def priming(entries: Path, queries: Path, run_file: str | None, as_json: bool) -> None:
    """Prime every prompt of a labelled set and score what was shown.

    ENTRIES has {id, title, type, scope, applies_when, tags, body} a line, QUERIES {id, prompt, project,
    relevant: [{id, grade}], kind}; --run writes {id, surfaced} a line. The models are those of config.toml,
    the gate is the home's.
    """
    from ultan.library import config
    from ultan.retrieval.backends import load_embedder, load_encoder
    from ultan.retrieval.evaluate import evaluate as scored
    from ultan.retrieval.own_gate import of_home

    models = config.load(home()).models
    embedder, encoder = load_embedder(models), load_encoder(models)
    gate, unused = of_home(home(), embedder.id, embedder.english_only)
    if unused:
        hint(unused)
    tell = _progress(as_json)
    figures = scored(entries, queries, run_file, tell, embedder, encoder=encoder, gate=gate)
    if as_json:
        emit(figures)
        return
    plain = [(name, value) for name, value in figures.items() if not isinstance(value, dict)]
    table([], [(name, f"{value:.3f}" if isinstance(value, float) else value) for name, value in plain])
    if run_file is not None:
        say(f"What was shown is in {run_file}.")


@evaluate.command(epilog=example(_OURS, _EXAMPLE.replace("priming", "ablation")))
@_entries
@_queries
@json_option
def ablation(entries: Path, queries: Path, as_json: bool) -> None:
    """What each model of the pipeline adds to priming, in quality and in milliseconds.

    The first row goes by words alone; each further row has one model more, and the gate that was fitted for
    it. The cross-encoder has no row: priming does without it, since it adds nothing there.
    """
    from ultan.library import config
    from ultan.retrieval.ablation import SHOWN
    from ultan.retrieval.ablation import ablation as measured
    from ultan.retrieval.backends import load_embedder, load_encoder
    from ultan.retrieval.own_gate import of_home

    models = config.load(home()).models
    embedder, encoder = load_embedder(models), load_encoder(models)
    gate, _ = of_home(home(), embedder.id, embedder.english_only)
    rows = measured(entries, queries, embedder, encoder, _progress(as_json), gate)
    if as_json:
        emit({"rows": rows})
        return
    cells = [(row["with"], *(f"{row[name]:.3f}" for name in SHOWN), f"{row['ms']:.1f}") for row in rows]
    table(["", *(name.removesuffix("_all") for name in SHOWN), "ms"], cells)


@evaluate.command("fit-gate", epilog=example(_FIT))
@click.option(
    "--set",
    "sets",
    required=True,
    multiple=True,
    type=(_FILE, _FILE, click.FloatRange(min=0.0, min_open=True)),
    metavar="ENTRIES QUERIES WEIGHT",
    help="A labelled set, and how much a prompt of it counts. Can be given again.",
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Where to, if not gate.json in the home."
)
@json_option
def fit_gate(sets: tuple[tuple[Path, Path, float], ...], out: Path | None, as_json: bool) -> None:
    """Fit the gate again: after a change to tokens, evidence, fusion or model. Takes some minutes.

    The coefficients, the figures on prompts that were not fitted on, and how they came about are written to
    gate.json in the home, which stands before the one that ships; the daemon reads it when it starts. Over
    the one that ships (--out), the set for words alone is fitted too, on the first set.
    """
    from ultan.library import config
    from ultan.retrieval.backends import load_embedder, load_encoder
    from ultan.retrieval.refit import fit_gate as fitted

    where = out or Path(home().gate)
    models = config.load(home()).models
    figures = fitted(sets, where, load_embedder(models), load_encoder(models), hint)
    if as_json:
        emit({"path": str(where), "figures": figures})
        return
    say(f"The gate is in {where}. A running daemon takes it over when it starts again.")


def _progress(as_json: bool) -> Callable[[str, int, int], None] | None:
    """Something to call with (what, done, total); None where no person looks on."""
    if as_json or not sys.stderr.isatty():
        return None

    def tell(what: str, done: int, total: int) -> None:
        if done == total or done % 50 == 0:
            hint(f"{what}: {done} of {total}")

    return tell
