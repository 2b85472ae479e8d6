"""One thing that was looked at, and what is to be said of it."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

LEVELS = ("ok", "note", "warning", "error")
INSTALL = "from the checkout or the plugin's folder: ./tools/ultan setup"


@dataclass(frozen=True, slots=True)
class Finding:
    """area: install, models, daemon, capture, library, home or platform. level: see LEVELS; a warning or an
    error is something that the person should put right, and `fix` says how."""

    area: str
    level: str
    message: str
    fix: str = ""

    @property
    def bad(self) -> bool:
        return self.level in ("warning", "error")

    def as_json(self) -> dict[str, str]:
        return asdict(self)


def ago(seconds: float) -> str:
    """A duration as people say it: `3 minutes`, `2 days`."""
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        count = int(seconds // length)
        if count:
            return f"{count} {unit}" + ("s" if count > 1 else "")
    return "less than a minute"


def timestamp(text: str) -> float | None:
    """Seconds of a UTC timestamp `....Z`; None where it is none."""
    import calendar

    try:
        return float(calendar.timegm(time.strptime(text[:19] + "Z", "%Y-%m-%dT%H:%M:%SZ")))
    except (ValueError, TypeError):
        return None
