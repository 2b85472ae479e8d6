"""Paths inside the library: well formed, below the root, through no link.

Standard library only and cheap to import: hooks write through it too.
"""

from __future__ import annotations

import os
import stat

from ultan.wire.failures import BadPath

# A name must leave room for what sync tools append, and fit every file system in bytes.
NAME_BYTES = 230
PATH_BYTES = 900
# Not in new names: what other systems refuse in a name, or what ends a link in markdown.
UNFIT_FOR_NEW = frozenset('<>:"|?*[]#^')
_RESERVED = frozenset(("con", "prn", "aux", "nul"))


def check_form(path: str) -> None:
    """Raise BadPath unless `path` is a relative path of plain names: no `..`, no hidden names."""
    if not path or path.startswith("/") or path.endswith("/"):
        raise BadPath(path, "it must be relative and name a file")
    if "\\" in path:
        raise BadPath(path, "it holds a backslash")
    for name in path.split("/"):
        if not name:
            raise BadPath(path, "it holds an empty name")
        if name.startswith("."):
            raise BadPath(path, "hidden names, `.` and `..` are not part of the library")
        if any(ord(c) < 32 or ord(c) == 127 or 0xD800 <= ord(c) <= 0xDFFF for c in name):
            raise BadPath(path, "it holds a character that cannot be printed")


def check_new(path: str) -> None:
    """Raise BadPath unless `path` is also fit for a new file, on every system and in every link."""
    check_form(path)
    if not path.endswith(".md"):
        raise BadPath(path, "it must end in .md")
    if len(path.encode("utf-8")) > PATH_BYTES:
        raise BadPath(path, "it is too long")
    for name in path.split("/"):
        unfit = sorted(UNFIT_FOR_NEW.intersection(name))
        if unfit:
            raise BadPath(path, "names must not hold %s" % " ".join(unfit))
        if name != name.strip() or name.endswith("."):
            raise BadPath(path, "a name begins or ends with a blank, or ends with a dot")
        if len(name.encode("utf-8")) > NAME_BYTES:
            raise BadPath(path, "a name is too long")
        if name.split(".")[0].lower() in _RESERVED:
            raise BadPath(path, "%s is a reserved name on some systems" % name)
        if not name.isprintable():
            raise BadPath(path, "it holds a character that cannot be printed")


def reach(root: str, path: str) -> str:
    """The absolute path of `path` below `root` (itself resolved). Raises BadPath where a part is a link.

    Parts that do not exist are fine; a part that is a file where a folder is needed is not.
    """
    current = root
    names = path.split("/")
    for number, name in enumerate(names):
        current = current + "/" + name
        try:
            mode = os.lstat(current).st_mode
        except FileNotFoundError:
            return "/".join([root, *names])
        except NotADirectoryError:
            raise BadPath(path, "a part of it is a file, not a folder")
        if stat.S_ISLNK(mode):
            raise BadPath(path, "it goes through a link")
        if number < len(names) - 1 and not stat.S_ISDIR(mode):
            raise BadPath(path, "a part of it is a file, not a folder")
    return current


def twin(root: str, path: str) -> str | None:
    """An existing path that differs from `path` only in case or Unicode form, or None.

    Such twins are one file on some systems and two on others.
    """
    folder = root
    sofar: list[str] = []
    for name in path.split("/"):
        try:
            names = os.listdir(folder)
        except OSError:
            return None
        if name not in names:
            wanted = fold(name)
            for other in names:
                if fold(other) == wanted:
                    return "/".join([*sofar, other])
            return None
        sofar.append(name)
        folder = folder + "/" + name
    return None


def check_apart(paths: list[str]) -> None:
    """Raise BadPath if two of the paths are one file, or one is a folder of another, on some system."""
    seen: dict[str, str] = {}
    for path in paths:
        if fold(path) in seen:
            raise BadPath(path, "the batch also holds %s" % seen[fold(path)])
        seen[fold(path)] = path
    for folded, path in seen.items():
        while "/" in folded:
            folded = folded.rpartition("/")[0]
            if folded in seen:
                raise BadPath(path, "%s would be both a file and a folder" % seen[folded])


def fold(text: str) -> str:
    """`text` as a file system that ignores case and Unicode form sees it."""
    if text.isascii():
        return text.lower()
    import unicodedata

    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
