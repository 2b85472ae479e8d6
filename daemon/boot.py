"""Where an installed copy of Ultan starts: python -I boot.py ARGUMENTS.

The daemon is asked for by hooks and must take its lock before anything else; it is started without the
command line's packages, which it never needs.
"""

from __future__ import annotations

import os
import signal
import sys

DAEMON = ["daemon", "run"]


def main(argv: list[str]) -> int:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    if argv == DAEMON:
        from ultan.service.__main__ import main as run_daemon

        return run_daemon() or 0
    # Whoever ends a command some other way than by Ctrl-C wants it to tidy up as well.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        from ultan.cli.main import main as run_command

        return run_command(argv) or 0
    except KeyboardInterrupt:  # before or after the command line's own care for it
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
