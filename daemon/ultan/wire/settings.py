"""What the hooks need of the configuration, read from the derived `hook-config.json`.

Hooks run on a Python without a TOML reader, so the daemon and the command line derive this file from
`config.toml`. It carries the text it was derived from: where that differs from the file, the hooks do not
know what the person wants, and record nothing until it is derived again.
"""

from __future__ import annotations

import json

from ultan.wire.files import read_limited
from ultan.wire.home import Home
from ultan.wire.privacy import matches_project

_LIMIT = 1 << 20
DEFAULT_MAX_ENTRIES = 3
DEFAULT_MAX_CHARS = 1500
DEFAULT_DEADLINE_MS = 800
MOST_DEADLINE_MS = 1500


class Settings:
    """The configuration as the hooks see it. `current` is False where it cannot be trusted."""

    __slots__ = (
        "auth",
        "current",
        "daemon",
        "deadline_ms",
        "ignored_projects",
        "max_chars",
        "max_entries",
        "never_index_paths",
        "opt_in",
        "opt_in_projects",
    )

    def __init__(self, values: dict[str, object], current: bool) -> None:
        self.current = current
        self.daemon = values.get("daemon") != "off"
        self.auth = values.get("auth") == "env"
        self.opt_in = bool(values.get("opt_in"))
        self.opt_in_projects = _strings(values.get("opt_in_projects"))
        self.ignored_projects = _strings(values.get("ignored_projects"))
        self.never_index_paths = _strings(values.get("never_index_paths"))
        self.max_entries = _count(values.get("max_entries"), DEFAULT_MAX_ENTRIES)
        self.deadline_ms = min(_count(values.get("deadline_ms"), DEFAULT_DEADLINE_MS), MOST_DEADLINE_MS)
        self.max_chars = _count(values.get("max_chars"), DEFAULT_MAX_CHARS)

    def listens_to(self, cwd: str, identities: list[str], slug: str | None) -> bool:
        """Whether this project may be recorded and primed."""
        if self.ignored_projects and matches_project(self.ignored_projects, cwd, identities, slug):
            return False
        return not self.opt_in or matches_project(self.opt_in_projects, cwd, identities, slug)

    @property
    def knows_projects(self) -> bool:
        """Whether any rule needs to know which project this is."""
        return self.opt_in or bool(self.ignored_projects)


def load(home: Home) -> Settings:
    """The settings of a home. Never raises: an unreadable pair is `current == False`."""
    text = _text(home.config)
    derived = _text(home.hook_config)
    if derived is None:
        # No config.toml and nothing derived: a fresh home, the defaults hold.
        return Settings({}, current=text is None)
    try:
        values = json.loads(derived)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        return Settings({}, current=False)
    return Settings(values, current=values.get("config_text") == text)


def _text(path: str) -> str | None:
    try:
        return read_limited(path, _LIMIT).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError:
        return "\0unreadable"


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _count(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default
