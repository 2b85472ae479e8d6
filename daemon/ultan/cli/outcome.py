"""How a command ends: the one place that turns what happened into an exit code and words for a person."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence

import click

from ultan.wire.failures import UltanError

FINE = 0
REFUSED = 1
USAGE = 2
INTERRUPTED = 128 + signal.SIGINT
UNREAD = 128 + signal.SIGPIPE

CODES = """\b
Exit codes:
  0    done, nothing to report
  1    refused, failed, or something was found (lint, doctor, eval, test)
  2    the command line was not understood
  130  interrupted
"""


def end(run: Callable[[], object], as_json: bool) -> int:
    """The exit code of `run()`, whose result counts where it is a number; never raises.

    What went wrong is told on standard error, or, where JSON was asked for, as the one object on standard
    output: {"ok": false, "error": {"type", "what", "kept", "advice"}}.
    """
    try:
        code = run()
        sys.stdout.flush()
        return code if isinstance(code, int) else FINE
    except click.exceptions.Exit as done:  # after --help and --version
        return _flushed(done.exit_code)
    except BrokenPipeError:
        _drop_output()
        return UNREAD
    except (KeyboardInterrupt, click.Abort):
        return _tell("interrupted", "Interrupted.", "", "", as_json, INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:  # a group without a command: its help says which
        print(error.format_message(), file=sys.stderr)
        return USAGE
    except click.UsageError as error:
        return _tell("usage", error.format_message(), "", _help_line(error), as_json, USAGE)
    except click.ClickException as error:
        return _tell("refused", error.format_message(), "", "", as_json, REFUSED)
    except UltanError as error:
        return _tell(type(error).__name__, error.what, error.kept, error.advice, as_json, REFUSED)
    except OSError as error:
        return _tell(type(error).__name__, _system_words(error), "", _doctor(), as_json, REFUSED)
    except Exception as error:
        if os.environ.get("ULTAN_DEBUG"):
            traceback.print_exc()
        what = f"This should not have happened: {type(error).__name__}: {error}"
        advice = "Run it again with ULTAN_DEBUG=1 to see where, and report it with that."
        return _tell("unexpected", what, "", advice, as_json, REFUSED)


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether --json is among the options of a command line."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _tell(kind: str, what: str, kept: str, advice: str, as_json: bool, code: int) -> int:
    try:
        if as_json:
            error = {"type": kind, "what": what, "kept": kept, "advice": advice}
            print(json.dumps({"ok": False, "error": error}))
        else:
            sys.stdout.flush()
            print(
                "ultan: " + "\n       ".join(text for text in (what, kept, advice) if text), file=sys.stderr
            )
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    return code


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return UNREAD
    return code


def _help_line(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx is not None else "ultan"
    return f"`{path} --help` shows how it is used, with an example."


def _system_words(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error or type(error).__name__}."


def _doctor() -> str:
    return "`ultan doctor` looks for what is wrong with the home and the install."


def _drop_output() -> None:
    """Let the interpreter's last flush go nowhere, so that it says nothing about the closed pipe."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError):
        pass
    finally:
        os.close(null)
