"""`ultan setup`: installs what Ultan runs on, now and in sight, or in the background.

Runs before anything is installed: Python 3.9, standard library alone.
"""

from __future__ import annotations

import argparse
import json

from ultan.service.installed import ProvisioningError, installed
from ultan.service.provisioning import Busy, ensure
from ultan.service.requirements import EXTRAS
from ultan.wire.home import Home
from ultan.wire.runtime import Runtime

_EPILOG = """\
Everything goes below the home of the memories (~/.agent-mem/runtime, or ULTAN_RUNTIME); nothing else on the
machine is changed. Packages come from where your pip or uv is configured to get them.

Example:
  ultan setup --with hub
"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="ultan setup",
        description="Install what Ultan runs on. Any other command does so by itself when it is needed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "--with",
        dest="extras",
        action="append",
        default=[],
        choices=EXTRAS,
        help="also install: hub (models from a hub, with torch), curator (the client's SDK), dev (tests)",
    )
    made.add_argument(
        "--background", action="store_true", help="say nothing, write to state.json, exit with 0 always"
    )
    made.add_argument("--print-python", action="store_true", help="print the path of the Python it runs on")
    made.add_argument("--json", action="store_true", help="print what was installed as JSON")
    return made


def run(argv: list[str], root: str, home: Home, environ: dict[str, str]) -> int:
    """Run the command; returns its exit status. Raises ProvisioningError, not in the background."""
    options = parser().parse_args(argv)
    quiet = options.background or options.json or options.print_python
    try:
        current = ensure(root, home, environ, options.extras, quiet, wait=not options.background)
    except (ProvisioningError, Busy):
        if options.background:
            return 0  # state.json says what happened; who is installing says the rest
        raise
    if not options.background:
        print(report(current, options.print_python, options.json))
    return 0


def report(current: Runtime, python_only: bool, as_json: bool) -> str:
    """What a setup prints on standard output."""
    extras = sorted(installed(current.python.rsplit("/", 2)[0]))
    if as_json:
        values = {
            "version": current.version,
            "python": current.python,
            "code": current.code,
            "extras": extras,
        }
        return json.dumps(values)
    if python_only:
        return current.python
    return "Ultan {} is installed{}.".format(current.version, " with " + ", ".join(extras) if extras else "")
