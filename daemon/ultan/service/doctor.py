"""What is wrong with an install, its daemon or its home. Looks only; repairs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ultan.service.checks import capture, daemon, install, library, models, place
from ultan.service.checks.finding import Finding
from ultan.wire.home import Home


def examine(home: Home, environ: Mapping[str, str], now: float) -> list[Finding]:
    """Every finding, in the order in which things depend on each other. Never raises."""
    checks: dict[str, Callable[[], Iterator[Finding]]] = {
        "platform": lambda: place.check(home),
        "install": lambda: install.check(home, environ),
        "models": lambda: models.check(home),
        "daemon": lambda: daemon.check(home, now),
        "capture": lambda: capture.check(home, now),
        "library": lambda: library.check(home, now),
    }
    return [finding for area, check in checks.items() for finding in _guarded(area, check)]


def _guarded(area: str, check: Callable[[], Iterator[Finding]]) -> list[Finding]:
    """A check that breaks is a finding itself; what it found before is kept."""
    found: list[Finding] = []
    try:
        for finding in check():
            found.append(finding)
    except Exception as error:
        message = f"this could not be looked at: {type(error).__name__}: {error}"
        found.append(Finding(area, "error", message, "put that right, then run `ultan doctor` again"))
    return found


def healthy(findings: list[Finding]) -> bool:
    return not any(finding.bad for finding in findings)
