"""Turning Ultan off and on changes one line and is obeyed by the next hook."""

from __future__ import annotations

from pathlib import Path

import pytest
from ultan.library import config
from ultan.wire import settings, switch
from ultan.wire.home import Home


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'daemon = "off"\n'),
        ("opt_in = true\n", 'daemon = "off"\nopt_in = true\n'),
        ('daemon = "on"\n', 'daemon = "off"\n'),
        ("opt_in = true\ndaemon = 'on'  # mine\n", 'opt_in = true\ndaemon = "off"  # mine\n'),
        ("[priming]\nmax_entries = 2\n", 'daemon = "off"\n[priming]\nmax_entries = 2\n'),
        ('daemon = "off"\n', 'daemon = "off"\n'),
    ],
)
def test_off_is_one_line_and_the_rest_stays(before: str, after: str) -> None:
    assert switch.edited(before, "off") == after


def test_off_and_on_again_are_obeyed_by_the_hooks_at_once(home: Home) -> None:
    Path(home.config).write_text("# mine\nopt_in = false\n")
    config.derive_hook_config(home, config.load(home))
    assert switch.turn(home, "off")
    seen = settings.load(home)
    assert seen.current
    assert not seen.daemon
    assert config.load(home).daemon == "off"
    assert not switch.turn(home, "off")
    assert switch.turn(home, "on")
    assert settings.load(home).daemon
    assert "# mine\nopt_in = false\n" in Path(home.config).read_text()


def test_off_works_in_a_home_without_settings(home: Home) -> None:
    assert switch.turn(home, "off")
    seen = settings.load(home)
    assert (seen.current, seen.daemon) == (True, False)


def test_settings_that_the_hooks_do_not_trust_stay_untrusted(home: Home) -> None:
    Path(home.config).write_text("opt_in = true\n")  # nothing was derived from it yet
    switch.turn(home, "off")
    assert not settings.load(home).current
