"""A home is made ready before it is read: settings for the hooks, repairs, or nothing at all."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from ultan.library.config import Config, parse
from ultan.service import opening
from ultan.wire import files
from ultan.wire.files import FileLock
from ultan.wire.home import Home

NOW = 1_796_000_000.0


def open_for(
    home: Home, config: Config | None = None, **environ: str
) -> tuple[str, list[str], dict[str, str]]:
    said: list[str] = []
    reason = opening.open_for(home, config or Config(), environ, NOW, said.append)
    return reason, said, environ


def test_a_fresh_home_is_stamped_and_the_hooks_get_their_settings(home: Home) -> None:
    assert open_for(home) == ("", [], {})
    assert json.loads(Path(home.home_json).read_text())["format"] == 1
    assert json.loads(Path(home.hook_config).read_text())["config_text"] is None


@pytest.mark.parametrize("text", ['{"format": 99, "written_by": "9.9.9"}', "nonsense"])
def test_a_home_of_a_newer_or_unknown_version_is_not_touched(home: Home, text: str) -> None:
    Path(home.home_json).write_text(text)
    reason, said, _ = open_for(home)
    assert said == [reason] and reason
    assert sorted(path.name for path in Path(home.root).iterdir()) == ["home.json"]


def test_turned_off_only_the_hooks_are_told(home: Home) -> None:
    open_for(home, parse('daemon = "off"'))
    assert sorted(path.name for path in Path(home.root).iterdir()) == ["hook-config.json"]


def test_keys_stay_only_where_the_settings_ask_for_them(home: Home) -> None:
    given = {"HOME": "/me", "ANTHROPIC_API_KEY": "sk-1", "CLAUDE_CODE_X": "1", "HTTPS_PROXY": "http://proxy"}
    assert open_for(home, None, **given)[2] == {"HOME": "/me", "HTTPS_PROXY": "http://proxy"}
    kept = open_for(home, parse('auth = "env"'), **given)[2]
    assert kept == {name: given[name] for name in ("HOME", "ANTHROPIC_API_KEY", "HTTPS_PROXY")}


def test_a_library_that_is_being_written_does_not_keep_the_daemon_from_starting(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "LOCK_SECONDS", 0.05)
    with FileLock(home.library_lock):
        reason, said, _ = open_for(home)
    assert reason == "" and len(said) == 1


def test_a_full_disk_does_not_either(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    open_for(home)
    Path(home.home_json).unlink()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files, "_write_synced", full)
    reason, said, _ = open_for(home)
    assert reason == "" and "No space left" in said[0]


def test_unfinished_files_of_a_crash_are_removed_once_they_are_old(home: Home) -> None:
    for name in (".ultan-00.tmp", ".ultan-11.tmp", "other.tmp"):
        Path(home.root, name).touch()
    os.utime(Path(home.root, ".ultan-00.tmp"), (0, 0))
    os.utime(Path(home.root, "other.tmp"), (0, 0))
    opening.sweep_old(home, os.stat(Path(home.root, ".ultan-11.tmp")).st_mtime + 1)
    assert sorted(path.name for path in Path(home.root).iterdir()) == [".ultan-11.tmp", "other.tmp"]
