"""What is installed already: the stamp of an environment says which extras are whole in it.

Standard library only, Python 3.9.
"""

from __future__ import annotations

import json
import os

from ultan.wire.files import read_limited

_LIMIT = 4 * 1024 * 1024
STAMP = "ultan.json"


class ProvisioningError(Exception):
    """Ultan could not be installed; the text says why and what to do. What was installed before still is."""


def installed(venv: str) -> set[str]:
    """The extras that are whole in an environment; empty also where none is whole: see `is_whole`."""
    extras = read(os.path.join(venv, STAMP)).get("extras")
    return {str(extra) for extra in extras} if isinstance(extras, list) else set()


def is_whole(venv: str) -> bool:
    """Whether an environment was completed and its Python is still there."""
    python = os.path.join(venv, "bin", "python")
    return os.path.isfile(os.path.join(venv, STAMP)) and os.access(python, os.X_OK)


def read(path: str) -> dict[str, object]:
    """The JSON object in a file; empty where there is none."""
    try:
        values = json.loads(read_limited(path, _LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
