"""How long the recall log is kept.

`recall/<date>.jsonl` holds what was considered (ultan.wire.recall), `recall/sessions/` what each session was
shown (ultan.wire.session). Usage counters are their fold.
"""

from __future__ import annotations

from pathlib import Path

from ultan.wire.files import utc_now
from ultan.wire.home import Home

KEEP_DAYS = 14
_DAY = 86400.0


def expire(home: Home, now: float, keep_days: int = KEEP_DAYS) -> int:
    """Remove what is older than `keep_days`; returns the number of files removed."""
    oldest = utc_now(now - keep_days * _DAY)[:10]
    removed = 0
    for path in Path(home.recall).glob("????-??-??.jsonl"):
        if path.stem < oldest:
            path.unlink(missing_ok=True)
            removed += 1
    for path in Path(home.recall, "sessions").glob("*"):
        try:
            stale = path.stat().st_mtime < now - keep_days * _DAY
        except FileNotFoundError:
            continue
        if stale:
            path.unlink(missing_ok=True)
            removed += 1
    return removed
