"""`ultan status`: what there is, in a few figures."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ultan.cli.output import emit, example, json_option, say, table
from ultan.cli.place import home
from ultan.wire import settings
from ultan.wire.home import Home
from ultan.wire.version import VERSION


@click.command(epilog=example("ultan status"), short_help="Show what there is.")
@json_option
def status(as_json: bool) -> None:
    """Show the state of the daemon, the number of entries, events and changes, and what is on the disk."""
    found = gathered(home(), time.time())
    if as_json:
        emit(found)
        return
    daemon, library, events = found["daemon"], found["library"], found["events"]
    kinds = ", ".join(f"{count} {kind}" for kind, count in library["by_type"].items())
    last = events["last"] or {}
    rows = [
        ("home", found["home"]),
        ("listening", "yes" if found["listening"] else "no"),
        ("daemon", daemon["state"] + (f", process {daemon['pid']}" if daemon["state"] == "ready" else "")),
        ("socket", daemon["socket"]),
        ("entries", f"{library['entries']}" + (f" ({kinds})" if kinds else "")),
        ("projects", ", ".join(library["projects"]) or "none"),
        ("unreadable", str(library["unreadable"])),
        ("model", found["index"]["model"] or "none: the index was not built yet"),
        ("last event", f"{last.get('ts')} {last.get('event')}" if last else "none yet"),
        (
            "last change",
            f"{found['last_change']['ts']} {found['last_change']['reason']}"
            if found["last_change"]
            else "none",
        ),
        ("waiting", ", ".join(counted(number, kind) for kind, number in found["waiting"].items())),
        ("disk", ", ".join(f"{name} {size(count)}" for name, count in found["bytes"].items())),
    ]
    table([], rows)
    say("`ultan doctor` looks for what is wrong.")


def counted(number: int, plural: str) -> str:
    """`1 note`, `2 notes`."""
    return f"{number} {plural.removesuffix('s') if number == 1 else plural}"


def gathered(home: Home, now: float) -> dict[str, Any]:
    """Everything that status shows; bytes are what lies on the disk."""
    from ultan.library.journal import Journal
    from ultan.library.scopes import projects
    from ultan.library.store import Store
    from ultan.service.checks.capture import last_event
    from ultan.service.condition import look

    snapshot = Store(home).scan()
    journal = Journal(home)
    changes = journal.log(1)
    last = last_event(home)
    known = settings.load(home)
    return {
        "version": VERSION,
        "home": home.root,
        "listening": known.current and known.daemon,
        "daemon": look(home, now).as_json(),
        "library": {
            "entries": len(snapshot.entries),
            "unreadable": sum(not entry.readable for entry in snapshot.entries.values()),
            "archived": len(snapshot.archived),
            "by_type": dict(Counter(entry.type for entry in snapshot.entries.values()).most_common()),
            "projects": list(projects(snapshot)),
        },
        "index": {"model": indexed_model(home)},
        "events": {"last": {key: last.get(key) for key in ("ts", "event", "session_id")} if last else None},
        "last_change": {"id": changes[0].id, "ts": changes[0].ts, "reason": changes[0].reason}
        if changes
        else None,
        "waiting": {
            "proposals": len(journal.pending()),
            "notes": len(list(Path(home.spool, "remember").glob("*.json"))),
        },
        "bytes": {
            "library": weight(Path(home.knowledge)),
            "events": sum(weight(path) for path in Path(home.root).glob("events*.jsonl")),
            "index": sum(map(weight, index_files(home))),
            "journal": weight(Path(home.journal)),
            "recall": weight(Path(home.recall)),
            "runtime": weight(Path(home.runtime)),
        },
    }


def index_files(home: Home) -> Iterator[Path]:
    """What is derived from the library; the token vectors' file has a small one beside it."""
    yield from map(Path, (home.bm25_index, home.embeddings_index, home.catalog))
    yield from Path(home.root).glob(Path(home.tokens_index).name + "*")


def indexed_model(home: Home) -> str:
    """The id of the model whose vectors the index holds; "" without an index."""
    import zipfile

    try:
        with zipfile.ZipFile(home.embeddings_index) as archive:
            raw = archive.read("meta.npy")
        return str(json.loads(raw[raw.index(b'{"') :])["stamp"]["model"])
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return ""


def weight(path: Path) -> int:
    """Bytes of a file, or of the files below a folder; links are not followed."""
    if path.is_file() and not path.is_symlink():
        return path.stat().st_size
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:  # gone meanwhile
                pass
    return total


def size(count: int) -> str:
    """Bytes as people say them."""
    if count < 1 << 20:
        return f"{count / 1024:.0f} KiB"
    return f"{count / (1 << 20):.1f} MiB" if count < 1 << 30 else f"{count / (1 << 30):.1f} GiB"
