"""Small libraries for the tests of this floor."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from ultan.wire.home import Home

CASES = Path(__file__).resolve().parent.parent / "cases"
NOW = 1796092800.0  # 2026-12-01T02:40:00Z


@pytest.fixture
def write(home: Home) -> Callable[..., Path]:
    """write("global/a.md", "text or bytes"): one file of the library."""

    def put(path: str, content: str | bytes = "") -> Path:
        place = Path(home.knowledge, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return place

    return put


@pytest.fixture
def case(home: Home) -> Callable[[str], Home]:
    """case("library-wikilink-forms"): the home with that case's library."""

    def bring(name: str) -> Home:
        shutil.copytree(CASES / name / "knowledge", home.knowledge)
        return home

    return bring


@pytest.fixture
def tree(home: Home) -> Callable[[], dict[str, bytes]]:
    """tree(): every file of the library with its bytes."""

    def read() -> dict[str, bytes]:
        root = Path(home.knowledge)
        return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}

    return read
