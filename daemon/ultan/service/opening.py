"""What is done to a home before its library is read: whose it is, what a crash left, what is out of date."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from pathlib import Path

from ultan.library import config as configuration
from ultan.library.config import Config
from ultan.library.errors import ForeignHome, UltanError
from ultan.library.migrate import open_home
from ultan.wire.environment import chosen
from ultan.wire.files import TEMPORARY_PREFIX, is_temporary
from ultan.wire.format import FORMAT, check_writable, read_format
from ultan.wire.home import Home

LOCK_SECONDS = 3.0
TEMPORARY_SECONDS = 60.0


def open_for(
    home: Home,
    config: Config,
    environ: MutableMapping[str, str],
    now: float,
    say: Callable[[str], object],
) -> str:
    """Make a home ready for a daemon with these settings; why it may only be read, "" where it is ready.

    Drops from `environ` what the settings do not ask for. What cannot be repaired now is said, and waits.
    """
    kept = chosen(dict(environ), auth=config.auth == "env")
    for name in set(environ) - set(kept):
        del environ[name]
    reason = why_read_only(home)
    if not reason:
        configuration.derive_hook_config(home, config)
    if not reason and config.daemon == "on":
        sweep_old(home, now)
        reason = _repaired(home, now, say)
    if reason:
        say(reason)
    return reason


def why_read_only(home: Home) -> str:
    """A newer version wrote this home, or nobody knows which: it is read and never written."""
    try:
        found = read_format(home)
        if found is not None and found[0] > FORMAT:
            check_writable(home)
    except ForeignHome as error:
        return str(error)
    return ""


def sweep_old(home: Home, now: float) -> None:
    """Remove files that a crash left unfinished; young ones may be somebody's who is writing just now."""
    for folder in (home.root, home.spool):
        for path in Path(folder).glob(TEMPORARY_PREFIX + "*"):
            try:
                if is_temporary(path.name) and now - path.lstat().st_mtime > TEMPORARY_SECONDS:
                    path.unlink()
            except OSError:
                pass


def _repaired(home: Home, now: float, say: Callable[[str], object]) -> str:
    """Finish or take back what a crash interrupted, migrate; why the home may only be read after all."""
    try:
        open_home(home, now, timeout=LOCK_SECONDS)
    except ForeignHome as error:
        return str(error)
    except (UltanError, OSError) as error:
        say(str(error))  # locked: who holds the lock repairs it, too; a full disk: the next batch tries again
    return ""
