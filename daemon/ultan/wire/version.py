"""The plugin's version and the socket protocol's, compared by hooks and daemon."""

from __future__ import annotations

VERSION = "0.1.0"
PROTOCOL = 1


def newer(version: str, than: str = VERSION) -> bool:
    """Whether a version is newer than another (default: this one); what is no version is older than all."""
    return _parts(version) > _parts(than)


def _parts(version: str) -> tuple[int, ...]:
    parts = version.split("+")[0].split(".")
    fit = all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts)
    return tuple(int(part) for part in parts) if fit else ()
