from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.library import config
from ultan.library.errors import ConfigError
from ultan.wire import settings
from ultan.wire.home import Home


def test_an_absent_file_means_the_defaults(home: Home) -> None:
    found = config.load(home)
    assert (found.daemon, found.autonomy, found.opt_in, found.text) == ("on", "auto", False, None)
    assert (found.priming.max_entries, found.priming.max_chars, found.models.backend) == (3, 1500, "embedded")


def test_every_key_can_be_set() -> None:
    found = config.parse(
        'daemon = "off"\nopt_in = true\nopt_in_projects = ["shop"]\nignored_projects = ["/tmp/*"]\n'
        'never_index_paths = ["*.env"]\nautonomy = "review"\ngit_commit = true\nauth = "env"\n'
        "[priming]\nmax_entries = 2\nmax_chars = 900\nthreshold = 0.4\ndeadline_ms = 700\n"
        '[models]\nbackend = "hub"\nembedder = "a/b"\nreranker = "c/d"\n'
        "[budget]\ncalls_per_hour = 1\ncalls_per_day = 2\ntokens_per_hour = 3\ntokens_per_day = 4\n"
        "usd_per_hour = 0.5\nusd_per_day = 6.0\n[service]\nidle_exit_minutes = 0\nscan_seconds = 5\n"
    )
    assert found.daemon == "off" and found.opt_in_projects == ("shop",)
    assert found.priming.threshold == 0.4 and found.models.embedder == "a/b"
    assert found.budget.usd_per_day == 6.0 and found.service.scan_seconds == 5


@pytest.mark.parametrize(("text", "expected"), [("daemon = true", "on"), ("daemon = false", "off")])
def test_the_switch_may_be_a_truth_value(text: str, expected: str) -> None:
    assert config.parse(text).daemon == expected


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ('deamon = "off"', "deamon", "Did you mean daemon?"),
        ("[priming]\nmax_entry = 1", "priming.max_entry", "priming.max_entries"),
        ("max_chars = 900", "max_chars", "priming.max_chars"),
        ("[budgets]\ncalls_per_day = 1", "budgets", "Did you mean budget?"),
        ("zzzzqqq = 1", "zzzzqqq", "no such setting"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_valid_one(text: str, key: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.parse(text)
    assert caught.value.key == key
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('opt_in = "yes"', "opt_in"),
        ("daemon = 3", "daemon"),
        ('ignored_projects = "shop"', "ignored_projects"),
        ("[priming]\nmax_entries = -1", "priming.max_entries"),
        ("[priming]\nthreshold = 7.0", "priming.threshold"),
        ("priming = 3", "priming"),
    ],
)
def test_a_wrong_value_is_refused_by_name(text: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.parse(text)
    assert caught.value.key == key


@given(st.text())
def test_any_text_gives_settings_or_a_typed_error(text: str) -> None:
    try:
        assert config.parse(text).text == text
    except ConfigError:
        pass


def test_a_file_that_is_no_utf8_is_refused(home: Home) -> None:
    Path(home.config).write_bytes(b'auth = "\xff"')
    with pytest.raises(ConfigError):
        config.load(home)


def test_hooks_trust_what_is_derived_until_the_file_changes(home: Home) -> None:
    Path(home.config).write_bytes('# ü\r\ndaemon = "off"\r\nignored_projects = ["x"]\r\n'.encode())
    assert config.derive_hook_config(home, config.load(home)) is True
    assert stat.S_IMODE(Path(home.hook_config).stat().st_mode) == 0o600
    seen = settings.load(home)
    assert seen.current and seen.daemon is False and seen.ignored_projects == ["x"]
    assert config.derive_hook_config(home, config.load(home)) is False
    Path(home.config).write_text("")
    assert settings.load(home).current is False
    Path(home.config).unlink()
    config.derive_hook_config(home, config.load(home))
    assert json.loads(Path(home.hook_config).read_text())["config_text"] is None
    assert settings.load(home).current is True
