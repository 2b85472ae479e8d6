"""Which packages are asked for, and that one lock names a version of each."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import pytest
from ultan.service import requirements
from ultan.service.requirements import BASE, EXTRAS, package

# What runs before anything is installed, with whatever Python the machine has.
EARLY = """provisioning installed environment installing interpreters requirements copies commands progress
launcher setup""".split()


def test_the_reader_of_lists_finds_what_a_toml_parser_finds(repository: Path) -> None:
    text = (repository / "pyproject.toml").read_text()
    project = tomllib.loads(text)["project"]
    assert requirements.parse(text) == {BASE: project["dependencies"], **project["optional-dependencies"]}


def test_every_direct_dependency_has_a_version_in_the_lock(repository: Path) -> None:
    needs = requirements.read(str(repository))
    pinned = {package(line) for line in needs.lock_text.splitlines() if "==" in line}
    wanted = {package(line) for lines in needs.groups.values() for line in lines}
    assert wanted - pinned == set()


def test_the_lock_names_no_place_to_get_packages_from(repository: Path) -> None:
    text = (repository / "requirements.lock").read_text()
    assert "://" not in text
    assert not [line for line in text.splitlines() if line.startswith(("-", "/"))]


def test_an_item_that_is_no_requirement_is_refused_with_its_line() -> None:
    with pytest.raises(ValueError, match=r"pyproject.toml:3: "):
        requirements.parse('[project]\ndependencies = [\n    {name = "click"},\n]\n')


def test_a_checkout_that_lists_no_extra_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = [\n    "click",\n]\n')
    with pytest.raises(ValueError, match="curator, dev, hub"):
        requirements.read(str(tmp_path))


def test_comments_between_and_behind_items_are_no_items() -> None:
    text = '[project]\ndependencies = [\n    # why\n    "click>=8", # more\n]\n[tool.x]\ny = [\n    1,\n]\n'
    assert requirements.parse(text) == {BASE: ["click>=8"]}


def test_the_fingerprint_follows_the_lists_the_lock_and_the_python(repository: Path) -> None:
    needs = requirements.read(str(repository))
    same = requirements.read(str(repository))
    assert needs.fingerprint((3, 12)) == same.fingerprint((3, 12))
    assert needs.fingerprint((3, 12)) != needs.fingerprint((3, 13))
    same.lock_text += "\nmore==1\n"
    assert needs.fingerprint((3, 12)) != same.fingerprint((3, 12))


def test_every_extra_that_can_be_asked_for_is_listed(repository: Path) -> None:
    assert set(requirements.read(str(repository)).groups) == {BASE, *EXTRAS}


@pytest.mark.parametrize("line", ["Rank_BM25>=0.2", "rank.bm25", "rank-bm25[x]; python_version < '4'"])
def test_a_package_has_one_name_however_it_is_written(line: str) -> None:
    assert package(line) == "rank-bm25"


@pytest.mark.parametrize("name", EARLY)
def test_what_runs_before_the_installation_needs_only_python_3_9(name: str, repository: Path) -> None:
    path = repository / "daemon/ultan/service" / f"{name}.py"
    tree = ast.parse(path.read_text(), str(path), feature_version=(3, 9))
    modules = {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    } | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    for module in modules - {"tomllib"}:
        top, *rest = module.split(".")
        if top == "ultan":
            assert rest[0] == "wire" or rest == ["service"] or rest[1] in EARLY, module
        else:
            assert top in sys.stdlib_module_names, module
