"""`ultan off` and `ultan on`."""

from __future__ import annotations

import click

from ultan.cli.output import emit, example, json_option, say
from ultan.cli.place import home
from ultan.wire import switch


@click.command(epilog=example("ultan off"), short_help="Stop listening.")
@json_option
def off(as_json: bool) -> None:
    """Stop listening: from the next hook on nothing is recorded or shown, until `ultan on`.

    The library stays as it is, and `/ultan` and `ultan add` still save.
    """
    _turn(
        "off",
        "Ultan is off: nothing is recorded or shown until `ultan on`. The library stays as it is.",
        "Ultan was off already.",
        as_json,
    )


@click.command(epilog=example("ultan on"), short_help="Listen again.")
@json_option
def on(as_json: bool) -> None:
    """Listen again: record sessions and show notes."""
    _turn("on", "Ultan is on: it listens and shows notes.", "Ultan was on already.", as_json)


def _turn(state: str, changed_words: str, same_words: str, as_json: bool) -> None:
    place = home()
    changed = switch.turn(place, state)
    derived = _derive()
    if as_json:
        emit({"ok": True, "state": state, "changed": changed, "config": place.config})
        return
    say(changed_words if changed else same_words)
    if derived:
        say(derived)


def _derive() -> str:
    """Bring hook-config.json up to date; where config.toml has a mistake, words that say so."""
    from ultan.library import config
    from ultan.library.errors import ConfigError

    place = home()
    try:
        config.derive_hook_config(place, config.load(place))
    except ConfigError as error:
        return f"But {error}"
    return ""
