"""What holds of the repository as a whole, because the client loads it as it is."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from ultan.wire.version import VERSION

BINARY = {".bin", ".png", ".npz"}
# Cases that hold carriage returns on purpose.
CARRIAGE_RETURNS = ("tests/cases/", "tests/data/")


@pytest.fixture(scope="module")
def shipped() -> list[Path]:
    """Every file that belongs to the project."""
    root = Path(__file__).resolve().parent.parent
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        found = [
            path
            for path in root.rglob("*")
            if path.is_file() and not {".git", "__pycache__"} & set(path.parts)
        ]
    else:
        found = [root / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in found if path.is_file() and path.suffix not in BINARY]


def test_one_version_stands_in_all_places(repository: Path) -> None:
    plugin = json.loads((repository / ".claude-plugin/plugin.json").read_text())
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    assert plugin["version"] == project["project"]["version"] == VERSION


def test_no_shipped_text_has_a_carriage_return(repository: Path, shipped: list[Path]) -> None:
    broken = [
        str(path.relative_to(repository))
        for path in shipped
        if b"\r" in path.read_bytes() and not str(path.relative_to(repository)).startswith(CARRIAGE_RETURNS)
    ]
    assert broken == []
    assert "eol=lf" in (repository / ".gitattributes").read_text()


def test_every_file_that_the_readme_and_the_docs_link_to_exists(repository: Path) -> None:
    missing = []
    for page in [repository / "README.md", *(repository / "docs").rglob("*.md")]:
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            if not (page.parent / target).exists():
                missing.append(f"{page.name}: {target}")
    assert missing == []


def test_every_script_is_executable(repository: Path) -> None:
    for name in ("tools/ultan", "hooks/run", ".ci/run"):
        path = repository / name
        assert path.stat().st_mode & 0o100, f"{name} is not executable"
        assert path.read_bytes().startswith(b"#!"), f"{name} does not say what runs it"
