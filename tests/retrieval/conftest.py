"""A library in the test's own home."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from retrieval.small import FRIDAY, MONEY, RESPX, Bag, Write
from ultan.library.entry import Entry
from ultan.library.store import Store
from ultan.wire.home import Home


@pytest.fixture
def bag() -> Bag:
    return Bag()


@pytest.fixture
def write(home: Home) -> Write:
    """write("global/a", "Title", "body", tags=...): one entry of the library."""

    def put(id: str, title: str, body: str = "", **fields: object) -> Path:
        path = Path(home.knowledge, id + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        header = "".join(f"{name}: {value}\n" for name, value in {"title": title, **fields}.items())
        path.write_text(f"---\n{header}---\n{body}\n", "utf-8")
        return path

    return put


@pytest.fixture
def entries(home: Home) -> Callable[[], dict[str, Entry]]:
    """entries(): the library as a fresh reader finds it."""
    return lambda: dict(Store(home).scan().entries)


@pytest.fixture
def three(write: Write) -> None:
    """A library of three entries, one of them of the project `shop`."""
    for id, title, body in (FRIDAY, RESPX, MONEY):
        write(id, title, body)
