"""The library as it would be after some changes: they are tried here, and become one plan for the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ultan.library.entry import Entry, parse
from ultan.library.links import Names
from ultan.library.lint import page_names
from ultan.library.store import Snapshot
from ultan.wire.batch import Action
from ultan.wire.paths import fold

Read = Callable[[str], "bytes | None"]


class Draft:
    """Changes on top of a snapshot. `read` gives a file's bytes as they are on the disk, None for no file."""

    def __init__(self, snapshot: Snapshot, read: Read) -> None:
        self.snapshot = snapshot
        self.read = read
        self._before: dict[str, bytes | None] = {}
        self._after: dict[str, bytes | None] = {}

    def copy(self) -> Draft:
        """Another draft with the same changes, for something that may fail half way."""
        other = Draft(self.snapshot, self.read)
        other._before, other._after = dict(self._before), dict(self._after)
        return other

    def take(self, other: Draft) -> None:
        """Become what a copy was made into."""
        self._before, self._after = dict(other._before), dict(other._after)

    def raw(self, path: str) -> bytes | None:
        """A file's bytes after the changes so far."""
        if path in self._after:
            return self._after[path]
        if path not in self._before:
            self._before[path] = self.read(path)
        return self._before[path]

    def put(self, path: str, content: bytes | None) -> None:
        """Give a file other bytes, or none."""
        self.raw(path)
        self._after[path] = content

    def entry(self, id: str) -> Entry | None:
        """The entry with this id after the changes so far."""
        known = self.snapshot.entries.get(id)
        path = known.path if known is not None else id + ".md"
        if path not in self._after and known is not None:
            return known
        raw = self.raw(path) if path in self._after else None
        return parse(path, raw) if raw is not None else None

    def ids(self) -> set[str]:
        """The ids of all entries after the changes so far."""
        found = {
            id for id, entry in self.snapshot.entries.items() if self._after.get(entry.path, b"") is not None
        }
        return found | {path[:-3] for path, raw in self._after.items() if raw is not None and _is_entry(path)}

    def names(self) -> Names:
        """What links may name after the changes so far."""
        if not self._after:
            return page_names(self.snapshot)
        return Names([*self.ids(), *(path.removesuffix(".md") for path in self.snapshot.pages)])

    def in_folder(self, folder: str) -> set[str]:
        """The names of the entries that lie in a folder itself."""
        return {id.rpartition("/")[2] for id in self.ids() if id.rpartition("/")[0] == folder}

    def spelled(self, folder: str) -> str:
        """A folder in the spelling of the folders that are there, where only case or form differs."""
        there: Mapping[str, str] = {fold(id.rpartition("/")[0]): id.rpartition("/")[0] for id in self.ids()}
        known = dict(there)
        for path in there.values():
            while "/" in path:
                path = path.rpartition("/")[0]
                known.setdefault(fold(path), path)
        parts = folder.split("/")
        for count in range(len(parts), 0, -1):
            found = known.get(fold("/".join(parts[:count])))
            if found is not None:
                return "/".join([found, *parts[count:]])
        return folder

    def actions(self) -> list[Action]:
        """The plan: each file that holds other bytes than before, with both."""
        return [
            Action(path, self._before[path], after)
            for path, after in sorted(self._after.items())
            if after != self._before[path]
        ]


def _is_entry(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return path.endswith(".md") and name != "readme.md" and not path.startswith("_archive/") and "/" in path
