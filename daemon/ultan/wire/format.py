"""The format of a home: who may write it. `home.json` says which format it has and which version wrote it.

Standard library only and cheap to import: hooks write through it too.
"""

from __future__ import annotations

import json

from ultan.wire.failures import ForeignHome
from ultan.wire.files import read_limited, write_atomic
from ultan.wire.home import Home
from ultan.wire.version import VERSION

FORMAT = 1
_LIMIT = 64 * 1024


def read_format(home: Home) -> tuple[int, str] | None:
    """(format, version that wrote it), or None for a home without home.json.

    Raises ForeignHome where the file is there and cannot be understood.
    """
    try:
        raw = read_limited(home.home_json, _LIMIT)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _broken(home, str(error))
    try:
        values = json.loads(raw)
        number, written_by = values["format"], values.get("written_by")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _broken(home, "it is not valid")
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise _broken(home, "its format is no number")
    return number, written_by if isinstance(written_by, str) else "an unknown version"


def write_format(home: Home, number: int = FORMAT) -> None:
    data = json.dumps({"format": number, "written_by": VERSION}) + "\n"
    write_atomic(home.home_json, data.encode("ascii"))


def check_writable(home: Home, wanted: int = FORMAT) -> bool:
    """Whether home.json exists and has the format `wanted`. Raises ForeignHome for any other format."""
    found = read_format(home)
    if found is None:
        return False
    number, written_by = found
    if number > wanted:
        raise ForeignHome(
            "%s was written by Ultan %s (format %d); this is Ultan %s (format %d)."
            % (home.root, written_by, number, VERSION, wanted),
            "It is read as far as possible and never written; update Ultan to write it.",
            number,
            written_by,
        )
    if number < wanted:
        raise ForeignHome(
            "%s has the older format %d of Ultan %s and was not brought up to date yet."
            % (home.root, number, written_by),
            "Run `ultan status`: it does that.",
            number,
            written_by,
        )
    return True


def _broken(home: Home, why: str) -> ForeignHome:
    return ForeignHome(
        "%s cannot be understood (%s), so the format of this home is unknown." % (home.home_json, why),
        'If no newer Ultan ever wrote here, replace it by {"format": %d}.' % FORMAT,
        None,
        "",
    )
