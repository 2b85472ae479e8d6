"""`ultan daemon run`: where a daemon begins. Standard library only, so that one too many is gone at once."""

from __future__ import annotations

import os
import sys

from ultan.service import start
from ultan.wire.environment import chosen
from ultan.wire.files import read_limited
from ultan.wire.home import Home

# Set once the environment was chosen, so that this is done once.
CHOSEN = "ULTAN_ENVIRONMENT_CHOSEN"


def main() -> int:
    """Be the daemon of the home that the environment names."""
    home = Home.resolve()
    choose_environment(home)
    status = start.run(home)
    if sys.stderr.isatty() and status:
        print(f"The daemon cannot run; see {home.daemon_log}.", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a thread that is stuck in a model must not keep the process


def choose_environment(home: Home) -> None:
    """Begin anew with the variables that a daemon may have, if there are others.

    A variable that is merely deleted can still be read in the process's first environment.
    """
    if os.environ.pop(CHOSEN, None):
        return
    kept = chosen(os.environ, auth=wants_auth(home))
    kept["AGENT_MEM_HOME"] = home.root
    if set(os.environ) - set(kept):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**kept, CHOSEN: "1"})


def wants_auth(home: Home) -> bool:
    """Whether the settings let the variables of model access through; broken settings do not."""
    import tomllib

    try:
        values = tomllib.loads(read_limited(home.config, 1 << 20).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return values.get("auth") == "env"


if __name__ == "__main__":
    sys.exit(main())
