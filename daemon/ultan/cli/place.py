"""Where a command works: the home that the environment names, and what a command needs to know of it."""

from __future__ import annotations

import os
from pathlib import Path

from ultan.wire.failures import UltanError
from ultan.wire.home import Home


class NoCheckout(UltanError):
    """The command needs files that an installed copy does not have."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is part of a checkout of the project, and this is an installed copy.",
            "",
            "Run it as ./tools/ultan in a checkout, or name one in ULTAN_ROOT.",
        )


def home() -> Home:
    """The home of this command; nothing is made on the disk."""
    return Home.resolve(os.environ)


def project_at(folder: str) -> str | None:
    """The library's name for the project of a folder; None where it has none."""
    from ultan.wire import projects
    from ultan.wire.project import identities

    mine = identities(str(Path(folder).absolute()))
    return projects.slug_for(projects.listed(home()), mine) if mine else None


def refresh(home: Home) -> None:
    """Bring the lists and the catalog up to date with the library, as far as that goes."""
    from ultan.library.journal import Journal
    from ultan.library.reconcile import reconcile
    from ultan.library.store import Store

    try:
        reconcile(Store(home), Journal(home, holder="ultan"))
    except (UltanError, OSError):  # the daemon, or the next change, does it
        pass


def checkout() -> Path | None:
    """The root of the checkout: ULTAN_ROOT, else the one that this package lies in; None without one."""
    named = os.environ.get("ULTAN_ROOT")
    roots = [Path(named)] if named else [Path(__file__).resolve().parents[3]]
    return next((root for root in roots if (root / "hooks" / "run").is_file()), None)
