"""What a package built from pyproject.toml would hold."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ultan.service import copies


def test_every_file_of_the_package_that_is_no_code_is_listed_as_its_data(repository: Path) -> None:
    package = repository / "daemon" / "ultan"
    settings = tomllib.loads((repository / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["ultan"]
    listed = {str(path) for pattern in patterns for path in package.glob(pattern)}
    assert {path for path in copies.files(str(package)) if not path.endswith(".py")} <= listed
