"""`ultan demo`: a short session on a sample library, through the real hooks. Also a self-check."""

from __future__ import annotations

import time

import click

from ultan.cli import outcome
from ultan.cli.demo import view
from ultan.cli.output import emit, example, json_option
from ultan.cli.place import NoCheckout, checkout

READY_SECONDS = 180.0


@click.command(epilog=example("ultan demo", "ultan demo --keep"), short_help="Play a short session.")
@click.option("--keep", is_flag=True, help="Leave the temporary home for a look.")
@json_option
def demo(keep: bool, as_json: bool) -> int:
    """Play a short session on a sample library and show what the agent would have seen.

    It starts a daemon on a temporary home and runs the hooks of the checkout as the client does: prompts that
    notes apply to, prompts that none applies to, a private one, one with a key in it, /ultan, a compaction.
    Your own home is not touched. The exit code is 1 if any step was not as it should be.
    """
    root = checkout()
    if root is None:
        raise NoCheckout("The demo")
    if not as_json:
        view.header(root)
    from ultan.cli.daemon import NotStarted, started
    from ultan.cli.demo import play
    from ultan.cli.demo.stage import Stage

    tell = (lambda words: None) if as_json else view.progress
    stage = Stage.build(root)
    try:
        tell(f"{stage.index()} notes in {stage.home.root}")
        played = [play.begin(stage)]
        begun = time.monotonic()
        if not as_json:
            view.step(1, played[0])
        started(stage.home, stage.environ, READY_SECONDS, tell)
        ready = time.monotonic() - begun
        tell(f"the daemon is ready after {ready:.1f} s")
        for one in play.session(stage):
            played.append(one)
            if not as_json:
                view.step(len(played), one)
        found = play.summary(stage, played)
    except NotStarted as error:
        where = f"See {stage.home.daemon_log}." if keep else "`ultan demo --keep` leaves its log for a look."
        raise NotStarted(error.what, "Your own home was not touched.", where) from error
    finally:
        stage.close(keep)
    kept = str(stage.folder) if keep else ""
    if as_json:
        emit(
            {
                "ok": found.ok,
                "ready_s": round(ready, 2),
                "steps": [one.as_json() for one in played],
                **found.as_json(),
                "kept": kept,
                "load": view.loading(root),
            }
        )
    else:
        view.closing(found, root, kept)
    return outcome.FINE if found.ok else outcome.REFUSED
