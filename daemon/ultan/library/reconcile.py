"""Bringing what is derived up to date: child lists, index.md, log.md, catalog.json, triggers.json.

`plan` decides what the pages should hold; `reconcile` writes them under the library's lock. A second run
changes no byte. Derived files are not journaled: each can be made again, and undo must not trip over them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ultan.library import derived, listing
from ultan.library.journal import Journal
from ultan.library.store import Snapshot, Store
from ultan.wire.batch import Action, Batch
from ultan.wire.failures import UltanError
from ultan.wire.files import read_limited, write_atomic
from ultan.wire.home import Home

LOG_BATCHES = 200
_DERIVED_LIMIT = 256 << 20

# build_catalog(rows, projects) -> the bytes of catalog.json.
BuildCatalog = Callable[[list[dict[str, object]], dict[str, str]], bytes]


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What a run wrote: paths below knowledge/, and names of files in the home. skipped: path to reason."""

    pages: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()


def plan(snapshot: Snapshot, batches: Sequence[Batch]) -> list[Action]:
    """The pages below knowledge/ that should change: READMEs, index.md, log.md. Pure.

    batches: the newest of the journal, newest first.
    """
    folders = listing.tree(snapshot)
    return [
        *listing.readmes(snapshot, folders),
        *listing.index(snapshot, folders),
        *listing.log(snapshot, batches),
    ]


def reconcile(store: Store, journal: Journal, build_catalog: BuildCatalog | None = None) -> Reconciled:
    """Scan, plan and write. Raises LibraryBusy, ForeignHome or OSError.

    What takes long is made before the lock is taken, and again under it only if the library changed
    meanwhile. A page that cannot be written (changed this instant) is skipped and named; the next run
    takes it up.
    """
    snapshot = store.scan()
    contents = derived_files(store.home, snapshot, build_catalog)
    with journal.writer() as writer:
        current = store.scan()
        if current is not snapshot:
            contents = derived_files(store.home, current, build_catalog)
        written, skipped = [], []
        for action in plan(current, journal.log(LOG_BATCHES)):
            try:
                writer.derive([action])
                written.append(action.path)
            except UltanError as error:
                skipped.append((action.path, str(error)))
        changed = write_changed(contents)
    return Reconciled(tuple(written), changed, tuple(skipped))


def derived_files(
    home: Home, snapshot: Snapshot, build_catalog: BuildCatalog | None = None
) -> dict[str, bytes]:
    """The files of the home that are derived from a snapshot: path to content."""
    build = build_catalog or _default_builder()
    return {
        home.triggers: derived.triggers(snapshot),
        home.catalog: build(derived.catalog_rows(snapshot), derived.catalog_projects(snapshot)),
    }


def write_changed(contents: Mapping[str, bytes]) -> tuple[str, ...]:
    """Write the files whose content is another; their names, sorted."""
    changed = [path for path, data in contents.items() if _content(path) != data]
    for path in changed:
        write_atomic(path, contents[path])
    return tuple(sorted(path.rpartition("/")[2] for path in changed))


def _default_builder() -> BuildCatalog:
    from ultan.wire.lexical import build_catalog

    return build_catalog


def _content(path: str) -> bytes | None:
    try:
        return read_limited(path, _DERIVED_LIMIT)
    except OSError:
        return None
