from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from ultan.wire import settings
from ultan.wire.home import Home


def configure(home: Home, text: str | None, **derived: Any) -> settings.Settings:
    if text is not None:
        Path(home.config).write_bytes(text.encode())
    values = {"v": 1, "config_text": text, **derived}
    Path(home.hook_config).write_text(json.dumps(values))
    return settings.load(home)


def test_a_fresh_home_has_the_defaults(home: Home) -> None:
    found = settings.load(home)
    assert found.current and found.daemon and not found.opt_in
    assert (found.max_entries, found.max_chars) == (3, 1500)
    assert not found.knows_projects


def test_what_was_derived_from_the_same_text_holds(home: Home) -> None:
    found = configure(
        home,
        'daemon = "off"\r\n# größe\n',
        daemon="off",
        opt_in=True,
        opt_in_projects=["a", 7],
        ignored_projects="b",
        never_index_paths=["*.pem"],
        max_entries=2,
        max_chars=900,
    )
    assert found.current and not found.daemon and found.opt_in and found.knows_projects
    assert found.opt_in_projects == ["a"] and found.ignored_projects == []
    assert found.never_index_paths == ["*.pem"]
    assert (found.max_entries, found.max_chars) == (2, 900)


def test_what_was_derived_from_another_text_does_not(home: Home) -> None:
    configure(home, "opt_in = false\n")
    Path(home.config).write_text("opt_in = true\n")
    assert not settings.load(home).current


def test_a_config_that_came_or_went_is_a_mismatch(home: Home) -> None:
    configure(home, None)
    assert settings.load(home).current
    Path(home.config).write_text("")
    assert not settings.load(home).current
    Path(home.hook_config).unlink()
    assert not settings.load(home).current
    Path(home.config).unlink()
    assert settings.load(home).current


@pytest.mark.parametrize("derived", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_broken_derived_file_is_not_trusted(home: Home, derived: bytes) -> None:
    Path(home.hook_config).write_bytes(derived)
    assert not settings.load(home).current


def test_a_file_that_cannot_be_read_is_not_trusted(home: Home) -> None:
    configure(home, None)
    os.mkdir(home.config)
    assert not settings.load(home).current
    os.rmdir(home.config)
    Path(home.hook_config).unlink()
    os.mkdir(home.hook_config)
    assert not settings.load(home).current


@pytest.mark.parametrize("value", [-1, True, "3", None, 1.5, [3]])
def test_a_count_that_is_none_gives_the_default(value: object) -> None:
    assert settings.Settings({"max_entries": value}, True).max_entries == 3


def test_ignored_wins_over_opted_in() -> None:
    both = settings.Settings({"opt_in": True, "opt_in_projects": ["/a"], "ignored_projects": ["/a/b"]}, True)
    assert both.listens_to("/a/c", [], None)
    assert not both.listens_to("/a/b", [], None)
    assert not both.listens_to("/elsewhere", [], None)
