"""`ultan setup`: the launcher's own command, for who starts an installed copy without the launcher."""

from __future__ import annotations

import os

import click

from ultan.cli.place import NoCheckout, checkout, home
from ultan.wire.failures import UltanError


class NotInstalled(UltanError):
    """What Ultan runs on could not be installed."""


@click.command(
    add_help_option=False, context_settings={"ignore_unknown_options": True}, short_help="Install Ultan."
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def setup(arguments: tuple[str, ...]) -> int:
    """Install what Ultan runs on; the options are those of the launcher, which also gives the help."""
    from ultan.service.installed import ProvisioningError
    from ultan.service.provisioning import Busy
    from ultan.service.setup import run

    root = checkout()
    if root is None:
        raise NoCheckout("The installer")
    try:
        return run(list(arguments), str(root), home(), dict(os.environ))
    except (ProvisioningError, Busy) as error:
        raise NotInstalled(str(error)) from error
    except SystemExit as done:  # after its help, or words that it does not know
        return done.code if isinstance(done.code, int) else 1
