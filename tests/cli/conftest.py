"""Running a command line in this process, as the launcher does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ultan.cli.main import main
from ultan.wire.home import Home


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def value(self) -> dict[str, Any]:
        """The one object that --json promises."""
        assert self.out.count("\n") == 1, self.out
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


@pytest.fixture
def ultan(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run `ultan ARGUMENTS`."""

    def run(*arguments: str) -> Ran:
        code = main(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Ran(code, out, err)

    return run


@pytest.fixture
def library(home: Home) -> Home:
    """A home with three entries, one of a project."""
    entries = {
        "global/deploy/no-friday-deploys": ("No deploys on Fridays", "preference", "Wait for Monday."),
        "global/python/use-uv": ("uv, never pip", "convention", "Use uv run."),
        "projects/shop/api/cursor": ("Cursors, never offsets", "warning", "Offsets skip rows."),
    }
    for id, (title, kind, body) in entries.items():
        path = Path(home.knowledge, id + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        header = f"id: {id}\ntitle: {title}\ntype: {kind}\ntags: [demo, {kind}]\nupdated: 2026-01-10"
        path.write_text(f"---\n{header}\n---\n{body}\n", encoding="utf-8")
    return home
