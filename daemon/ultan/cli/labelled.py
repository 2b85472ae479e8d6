"""Priming a labelled set of prompts on a labelled library, each as the first prompt of its session."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ultan.library.entry import render_new
from ultan.recall.engine import Engine
from ultan.wire.home import Home
from ultan.wire.paths import check_form

FIELDS = ("title", "type", "scope", "status", "applies_when", "tags", "created", "updated", "supersedes")


def surfaced(
    entries: Sequence[Mapping[str, Any]],
    queries: Sequence[Mapping[str, Any]],
    progress: Callable[[int, int], None] | None = None,
    now: float | None = None,
) -> dict[str, list[str]]:
    """Query id -> ids of what would be shown, best first, by the engine that answers real prompts.

    The library is built in a temporary home. Only `prompt` and `project` of a query are looked at.
    Raises BadPath for an entry whose id is no path in a library.
    """
    moment = time.time() if now is None else now
    with tempfile.TemporaryDirectory(prefix="ultan-eval-") as folder:
        home = Home(folder)
        write(home, entries, moment)
        engine = Engine.open(home)
        try:
            engine.refresh()
            found: dict[str, list[str]] = {}
            for number, query in enumerate(queries, 1):
                primed = engine.prime(
                    str(query["prompt"]), project=query.get("project"), now=moment, remember=False
                )
                found[str(query["id"])] = [str(row["id"]) for row in primed.shown]
                if progress is not None:
                    progress(number, len(queries))
            return found
        finally:
            engine.close()


def write(home: Home, entries: Sequence[Mapping[str, Any]], now: float) -> None:
    """Write entries as the markdown files of a library."""
    for entry in entries:
        path = f"{entry['id']}.md"
        check_form(path)
        place = Path(home.knowledge, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        known = {name: entry[name] for name in FIELDS if entry.get(name)}
        place.write_bytes(render_new({"id": entry["id"], **known}, str(entry.get("body") or ""), now))
