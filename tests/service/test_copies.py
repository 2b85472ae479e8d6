"""The copies of the code that run, and when one is made or removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ultan.service import copies
from ultan.service.copies import KEEP_SECONDS
from ultan.wire.version import VERSION

NOW = 1_800_000_000.0


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    package = root / "daemon" / "ultan"
    (package / "wire").mkdir(parents=True)
    (root / "daemon" / "boot.py").write_text("boot\n")
    (package / "__init__.py").write_text("")
    (package / "wire" / "home.py").write_text("home\n")
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "home.pyc").write_bytes(b"compiled")
    (root / "pyproject.toml").write_text("[project]\n")
    (root / "requirements.lock").write_text("a==1\n")
    return root


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    folder = tmp_path / "runtime"
    folder.mkdir()
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_copy_holds_the_code_and_nothing_that_python_left_there(checkout: Path, runtime: Path) -> None:
    code = Path(copies.copy(str(checkout), str(runtime)))
    assert code.name.startswith(f"code-{VERSION}-")
    found = sorted(str(path.relative_to(code)) for path in code.rglob("*") if path.is_file())
    assert found == ["boot.py", "ultan/__init__.py", "ultan/wire/home.py"]
    assert (code / "ultan/wire/home.py").read_text() == "home\n"
    assert code.stat().st_mode & 0o777 == 0o700


def test_the_same_content_is_copied_once_and_another_content_beside_it(checkout: Path, runtime: Path) -> None:
    first = copies.copy(str(checkout), str(runtime))
    assert copies.copy(str(checkout), str(runtime)) == first
    (checkout / "daemon/ultan/wire/home.py").write_text("other\n")
    second = copies.copy(str(checkout), str(runtime))
    assert second != first
    assert names(runtime) == sorted([os.path.basename(first), os.path.basename(second)])


def test_a_copy_that_fails_leaves_nothing(
    checkout: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_from: str, _to: str) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="disk full"):
        copies.copy(str(checkout), str(runtime))
    assert names(runtime) == []


def test_the_hash_follows_names_as_well_as_contents() -> None:
    assert copies.content_hash([("a", b"bc")]) != copies.content_hash([("ab", b"c")])
    assert copies.content_hash([("a", b"x"), ("b", b"")]) != copies.content_hash([("a", b""), ("b", b"x")])


def test_the_listing_changes_with_a_file_of_the_code_and_with_the_lock(checkout: Path) -> None:
    seen = {copies.listing(str(checkout))}
    (checkout / "daemon/ultan/wire/home.py").write_text("longer than before\n")
    seen.add(copies.listing(str(checkout)))
    (checkout / "requirements.lock").write_text("a==1.0\n")
    seen.add(copies.listing(str(checkout)))
    (checkout / "daemon/ultan/new.py").write_text("")
    seen.add(copies.listing(str(checkout)))
    assert len(seen) == 4


def test_the_listing_does_not_change_with_what_python_leaves(checkout: Path) -> None:
    before = copies.listing(str(checkout))
    (checkout / "daemon/ultan/__pycache__/more.pyc").write_bytes(b"")
    assert copies.listing(str(checkout)) == before


def test_what_is_used_or_was_current_within_a_day_is_kept() -> None:
    old, young = NOW - KEEP_SECONDS - 1, NOW - KEEP_SECONDS + 1
    states = {
        "code-0.1.0-a": old,
        "code-0.1.0-b": old,
        "code-0.1.0-c": young,
        "venv-a": old,
        "venv-b": old,
        copies.TEMPORARY + "x": old,
        "current.json": old,
        "somebody's": old,
    }
    gone = copies.to_collect(states, {"code-0.1.0-b", "venv-b"}, NOW)
    assert gone == [copies.TEMPORARY + "x", "code-0.1.0-a", "venv-a"]


def test_collecting_removes_old_folders_from_the_disk(runtime: Path) -> None:
    for name in ("code-0.0.9-a", "code-0.1.0-b"):
        (runtime / name / "ultan").mkdir(parents=True)
        os.utime(runtime / name, (NOW - 2 * KEEP_SECONDS,) * 2)
    copies.touch(str(runtime / "code-0.1.0-b"), NOW)
    assert copies.collect(str(runtime), set(), NOW) == ["code-0.0.9-a"]
    assert names(runtime) == ["code-0.1.0-b"]
