"""The launcher: makes sure that Ultan is installed, then becomes it.

Runs before anything is installed: Python 3.9, standard library alone. On a machine where all is there this
is the whole delay of a command, so what a first start needs is imported by the first start.
"""

from __future__ import annotations

import os
import sys

from ultan.service.installed import ProvisioningError
from ultan.service.provisioning import Busy, ensure, warm
from ultan.wire.home import Home
from ultan.wire.runtime import Runtime


def main(argv: list[str], root: str) -> int:
    """Run `ultan ARGUMENTS` for the checkout at `root`; returns only where nothing could be run."""
    environ = dict(os.environ)
    home = Home.resolve(environ)
    try:
        if argv[:1] == ["setup"]:
            from ultan.service.setup import run

            return run(argv[1:], root, home, environ)
        extras = ["dev"] if argv[:1] == ["test"] else []
        current = warm(root, home, environ, extras) or ensure(root, home, environ, extras)
    except (ProvisioningError, Busy) as error:
        return refuse(error, "--json" in argv)
    except KeyboardInterrupt:
        print("\nultan: stopped; the next start goes on from there.", file=sys.stderr)
        return 130
    return become(current, argv, root, environ)


def refuse(error: Exception, as_json: bool) -> int:
    """Say why there is nothing to run, in the form that every command has for its errors."""
    if as_json:
        import json

        told = {"type": type(error).__name__, "what": str(error), "kept": "", "advice": ""}
        print(json.dumps({"ok": False, "error": told}))
    else:
        print(f"ultan: {error}", file=sys.stderr)
    return 1


def become(current: Runtime, argv: list[str], root: str, environ: dict[str, str]) -> int:
    """Replace this process by the installed copy; it learns where the checkout is from ULTAN_ROOT."""
    command = [current.python, "-I", "-X", "utf8", current.boot, *argv]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(current.python, command, dict(environ, ULTAN_ROOT=root))
