from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from ultan.wire import home as homes
from ultan.wire.home import Home

LONG = (
    "/tmp/srv-www-611f7cf9/worktrees/issue-1505-a-rather-long-branch-name/devenv-state/profile-名前付きの長い"
)


def test_the_home_is_what_the_environment_names_else_below_the_users() -> None:
    assert Home.resolve({"AGENT_MEM_HOME": "/a/b/", "HOME": "/h"}).root == "/a/b"
    assert Home.resolve({"AGENT_MEM_HOME": "", "HOME": "/h"}).root == "/h/.agent-mem"
    assert Home.resolve({"HOME": "/h"}).root == "/h/.agent-mem"


def test_the_home_is_made_private_also_where_it_was_not(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o755)
    Home(str(tmp_path / "home")).ensure()
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_a_short_home_has_its_socket_inside() -> None:
    home = Home("/home/dev/.agent-mem")
    assert home.socket == "/home/dev/.agent-mem/priming.sock"
    assert home.socket_folder_is_safe()


def test_the_limit_counts_bytes_not_characters() -> None:
    ascii_home = Home("/h/" + "x" * (100 - len("/h/") - len("/priming.sock")))
    assert len(os.fsencode(ascii_home.socket)) == 100 and ascii_home.socket.startswith("/h/")
    assert Home(ascii_home.root + "x").socket.startswith(homes.short_folder())
    wide_home = Home("/h/" + "長" * 30)
    assert len(wide_home.root) < 40 and wide_home.socket.startswith(homes.short_folder())


def test_two_long_homes_that_begin_alike_have_two_short_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = Home(LONG + "/.agent-mem"), Home(LONG + "-2/.agent-mem")
    assert os.fsencode(one.root)[:100] == os.fsencode(two.root)[:100]
    assert one.socket != two.socket
    for home in (one, two):
        assert len(os.fsencode(home.socket)) <= 100
    before = one.socket
    monkeypatch.setenv("TMPDIR", "/elsewhere")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/elsewhere")
    assert Home(one.root + "/").socket == before


@pytest.mark.parametrize("kind", ["open", "link", "file", "absent"])
def test_a_short_place_that_is_not_the_users_own_is_unsafe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    place = tmp_path / "place"
    monkeypatch.setattr(homes, "short_folder", lambda: str(place))
    if kind == "open":
        place.mkdir()
        place.chmod(0o755)
    elif kind == "link":
        (tmp_path / "real").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "real")
    elif kind == "file":
        place.touch()
    assert not Home(LONG).socket_folder_is_safe()


def test_a_short_place_that_is_private_is_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    place.mkdir(mode=0o700)
    monkeypatch.setattr(homes, "short_folder", lambda: str(place))
    assert Home(LONG).socket_folder_is_safe()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert not Home(LONG).socket_folder_is_safe()


def test_a_relative_home_starts_at_the_persons_own_folder_wherever_the_hook_runs() -> None:
    assert Home.resolve({"HOME": "/u", "AGENT_MEM_HOME": "memories"}).root == "/u/memories"
    assert Home.resolve({"HOME": "/u", "AGENT_MEM_HOME": "~/memories"}).root == "/u/memories"
