"""docs/schema.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from ultan.library.config import Config, parse
from ultan.library.entry import parse as parse_entry
from ultan.library.fields import KNOWN


def page(repository: Path) -> str:
    return (repository / "docs" / "schema.md").read_text(encoding="utf-8")


def test_the_example_entry_has_every_key_and_reads_without_a_problem(repository: Path) -> None:
    example = re.search(r"```\n(---\nid: global.*?)```", page(repository), re.DOTALL)
    assert example is not None
    entry = parse_entry("global/python/use-uv.md", example[1].encode())
    assert entry.problems == () and entry.type == "preference"
    assert {line.split(":")[0] for line in example[1].split("---")[1].split("\n") if line} == KNOWN
    assert all(f"`{key}`" in page(repository) for key in KNOWN)


def test_the_example_settings_are_the_defaults(repository: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", page(repository), re.DOTALL)
    assert example is not None
    assert parse(example[1]) == Config() or parse(example[1]).model_dump() == Config().model_dump()
