"""Which Python and which tools of a machine are chosen."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ultan.service import interpreters
from ultan.service.interpreters import Interpreter


def program(path: Path, text: str = "#!/bin/sh\nexit 1\n") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def speaking(path: Path, version: str, venv: bool = True, fit: bool = True) -> str:
    """A program that answers like a Python of this version."""
    answer = f'[[{version}], "{path}", {str(venv).lower()}, {str(fit).lower()}]'
    return program(path, f"#!/bin/sh\necho '{answer}'\n")


def test_a_python_that_is_asked_tells_its_version_and_its_base() -> None:
    found = interpreters.ask(sys.executable, dict(os.environ))
    assert found is not None
    assert found.version == sys.version_info[:3]
    assert os.path.exists(found.path)


def test_a_python_that_is_too_old_silent_or_of_another_kind_is_none(tmp_path: Path) -> None:
    environ = {"PATH": "/usr/bin:/bin"}
    assert interpreters.ask(speaking(tmp_path / "good", "3, 12, 1"), environ) is not None
    assert interpreters.ask(speaking(tmp_path / "old", "3, 9, 1"), environ) is None
    assert interpreters.ask(speaking(tmp_path / "later", "3, 99, 1"), environ) is None
    assert interpreters.ask(speaking(tmp_path / "threads", "3, 13, 1", fit=False), environ) is None
    assert interpreters.ask(program(tmp_path / "broken"), environ) is None
    assert interpreters.ask(program(tmp_path / "silent", "#!/bin/sh\n"), environ) is None
    assert interpreters.ask(str(tmp_path / "absent"), environ) is None


def test_the_preferred_version_wins_and_venv_is_required_where_it_is_needed() -> None:
    newest = Interpreter("/a", (3, 14, 0), True)
    bare = Interpreter("/b", (3, 12, 4), False)
    older = Interpreter("/c", (3, 11, 2), True)
    assert interpreters.choose([newest, bare, older], need_venv=False) is bare
    assert interpreters.choose([newest, bare, older], need_venv=True) is older
    assert interpreters.choose([bare], need_venv=True) is None
    assert interpreters.choose([], need_venv=False) is None


def test_relative_and_foreign_folders_are_not_searched_and_shims_come_last() -> None:
    environ = {"HOME": "/h", "PATH": "/h/.pyenv/shims:.::bin:/mnt/c/Windows:/opt/x/bin/:/mnt/data/bin"}
    found = interpreters.folders(environ)
    assert found[:4] == ["/opt/homebrew/bin", "/usr/local/bin", "/usr/bin", "/h/.local/bin"]
    assert found[4:] == ["/opt/x/bin", "/mnt/data/bin", "/h/.pyenv/shims"]


def test_candidates_are_programs_that_exist_named_versions_first(tmp_path: Path) -> None:
    plain = program(tmp_path / "bin" / "python3")
    named = program(tmp_path / "bin" / "python3.13")
    (tmp_path / "bin" / "python3.12").write_text("not a program")
    found = interpreters.candidates({"PATH": str(tmp_path / "bin")}, "/none", macos=False)
    mine = [path for path in found if path.startswith(str(tmp_path))]
    assert mine == [named, plain]


def test_the_stub_of_macos_is_never_a_candidate() -> None:
    found = interpreters.candidates({"PATH": "/usr/bin"}, "/none", macos=True)
    assert "/usr/bin/python3" not in found


def test_uv_and_the_client_are_found_on_path_and_where_their_installers_put_them(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}
    if interpreters.find_uv({"HOME": str(tmp_path / "none"), "PATH": ""}) is None:
        assert interpreters.find_uv(environ) is None
    installed = program(tmp_path / ".local/bin/uv")
    assert interpreters.find_uv(environ) == installed
    on_path = program(tmp_path / "bin/uv")
    assert interpreters.find_uv(environ) == on_path
    client = program(tmp_path / ".claude/local/claude")
    assert interpreters.find_client(environ) == client


def test_a_gpu_is_known_by_its_device_or_its_tool(tmp_path: Path) -> None:
    devices = tmp_path / "dev"
    devices.mkdir()
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}
    if not os.path.exists("/usr/bin/nvidia-smi"):
        assert not interpreters.has_gpu(environ, str(devices))
    (devices / "nvidia0").touch()
    assert interpreters.has_gpu(environ, str(devices))
    (devices / "nvidia0").unlink()
    program(tmp_path / "bin/nvidia-smi")
    assert interpreters.has_gpu(environ, str(devices))
