"""Which packages Ultan needs: the lists of pyproject.toml, and the hash that names what they install to.

Runs before anything is installed, on Python 3.9 and the standard library alone; tomllib came with 3.11, so
the lists are read by a reader of the few lines that matter.
"""

from __future__ import annotations

import hashlib
import os
import re

from ultan.wire.files import read_limited

BASE = ""
EXTRAS = ("curator", "dev", "hub")
_LIMIT = 1024 * 1024
_START = re.compile(r"([A-Za-z0-9_-]+)\s*=\s*\[$")
_ITEM = re.compile(r'"([^"]+)",?\s*(?:#.*)?$')


class Requirements:
    """The requirements of a checkout: `groups` maps BASE and each extra to its requirement lines."""

    __slots__ = ("groups", "lock", "lock_text")

    def __init__(self, groups: dict[str, list[str]], lock: str, lock_text: str) -> None:
        self.groups = groups
        self.lock = lock
        self.lock_text = lock_text

    def of(self, extras: list[str]) -> list[str]:
        """The requirement lines of the base and of `extras`, each once."""
        lines = list(self.groups[BASE])
        for extra in extras:
            lines.extend(line for line in self.groups[extra] if line not in lines)
        return lines

    def fingerprint(self, minor: tuple[int, int]) -> str:
        """Twelve hex digits: the same for the same lists, the same lock and the same Python minor."""
        return _short_hash(repr((sorted(self.groups.items()), self.lock_text, minor)).encode())


def read(root: str) -> Requirements:
    """The requirements of the checkout at `root`. Raises OSError, or ValueError for a broken list."""
    groups = parse(_text(os.path.join(root, "pyproject.toml")))
    missing = [name for name in (BASE, *EXTRAS) if name not in groups]
    if missing:
        raise ValueError(
            "pyproject.toml lists nothing for: {}".format(", ".join(n or "dependencies" for n in missing))
        )
    lock = os.path.join(root, "requirements.lock")
    return Requirements(groups, lock, _text(lock))


def _text(path: str) -> str:
    return read_limited(path, _LIMIT).decode("utf-8")


def parse(text: str) -> dict[str, list[str]]:
    """BASE and each extra with its lines, from a pyproject.toml that has one requirement a line.

    Raises ValueError for a line inside a list that is neither a requirement nor a comment.
    """
    groups: dict[str, list[str]] = {}
    section = ""
    current: list[str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if current is not None:
            if line.startswith("]"):
                current = None
            elif line and not line.startswith("#"):
                current.append(_item(line, number))
        elif line.startswith("["):
            section = line
        else:
            name = _list_name(section, line)
            if name is not None:
                current = groups.setdefault(name, [])
    return groups


def _item(line: str, number: int) -> str:
    found = _ITEM.match(line)
    if found is None:
        raise ValueError(f"pyproject.toml:{number}: not one requirement in double quotes: {line}")
    return found.group(1)


def _list_name(section: str, line: str) -> str | None:
    found = _START.match(line)
    if found is None:
        return None
    if section == "[project]" and found.group(1) == "dependencies":
        return BASE
    return found.group(1) if section == "[project.optional-dependencies]" else None


def package(requirement: str) -> str:
    """The normalised name of the package in a requirement line."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", found.group(0)).lower() if found else ""


def _short_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]
