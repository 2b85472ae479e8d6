"""One pass over the library's folders: what is there, and what is left out and why. Reads no file."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field

from ultan.library.entry import Problem, id_of
from ultan.library.foreign import conflict_copy

ARCHIVE = "_archive"
_UNFIT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")

# What tells that a file changed: modification time, size, inode, time of the inode's change.
Signature = tuple[int, int, int, int]


@dataclass(slots=True)
class Listing:
    """Paths are relative to the root. pages: markdown files. files: all others. archived: ids."""

    pages: dict[str, Signature] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    archived: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def leave_out(self, path: str, code: str, message: str, fix: str) -> None:
        self.problems.append(Problem(_UNFIT.sub("\ufffd", path), 1, code, message, fix))


def walk(root: str) -> Listing:
    """List `root`. Hidden names are skipped; links are never followed; a missing root is empty."""
    found = Listing()
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as items:
                listing = list(items)
        except FileNotFoundError:
            continue
        except OSError as error:
            found.leave_out(folder or ".", "cannot-read", f"{error.strerror}", "check its permissions")
            continue
        prefix = f"{folder}/" if folder else ""
        for item in listing:
            name = item.name
            if name.startswith("."):
                continue
            path = prefix + name
            if name.endswith(".md") and not conflict_copy(name) and not _UNFIT.search(name):
                signature = _signature(item)
                if signature is not None:
                    found.pages[path] = signature
                    continue
            _other(found, item, path, folders)
    return found


def _signature(item: os.DirEntry[str]) -> Signature | None:
    """The signature of a regular file, None for anything else."""
    try:
        status = item.stat(follow_symlinks=False)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns


def _other(found: Listing, item: os.DirEntry[str], path: str, folders: list[str]) -> None:
    if _UNFIT.search(item.name):
        found.leave_out(path, "bad-name", "the name holds characters that no link can", "rename it")
    elif item.is_symlink():
        if item.name.endswith(".md") or item.is_dir():
            found.leave_out(path, "link", "links are not followed", "put the file or folder itself here")
    elif item.is_dir(follow_symlinks=False):
        if path == ARCHIVE:
            archive = walk(item.path)
            found.archived.update(id_of(page) for page in archive.pages)
        else:
            folders.append(path)
    elif conflict_copy(item.name):
        found.leave_out(path, "conflict-copy", "a copy that a sync tool kept", "merge it, then delete it")
    else:
        found.files.add(path)
