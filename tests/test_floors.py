"""Each floor imports only the floors below it; what hooks run stays standard, old enough and cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import ROOT, SCRIPTS, environment

PACKAGE = ROOT / "daemon" / "ultan"
FLOORS = {
    "wire": 0,
    "library": 1,
    "retrieval": 2,
    "recall": 3,
    "curator": 3,
    "lifecycle": 3,
    "service": 4,
    "cli": 5,
    "mcp": 5,
}
# Each costs a hook milliseconds at its start; where one is needed it is imported inside the rare function.
SLOW = frozenset(
    """typing dataclasses pathlib subprocess logging hashlib datetime uuid tempfile inspect asyncio email
    urllib argparse shutil random secrets contextlib calendar""".split()
)
HOOKS = sorted((ROOT / "hooks").glob("*.py"))
WIRE = sorted((PACKAGE / "wire").glob("*.py"))


def imports(path: Path, whole: bool = True) -> Iterator[tuple[int, str]]:
    """(line, module) of each import in a file; not whole: only those that run when it is loaded."""
    waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8"), str(path))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are written out in full"
            module = node.module or ""
            yield node.lineno, module
            if module == "ultan":
                yield from ((node.lineno, f"{module}.{name.name}") for name in node.names)
        elif not whole and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_for_checkers(node)
        ):
            continue
        waiting.extend(ast.iter_child_nodes(node))


def is_for_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def floor(module: str) -> str:
    """The floor of `ultan.wire.home`: wire; "" for what is none of ours."""
    parts = module.split(".")
    return parts[1] if parts[0] == "ultan" and len(parts) > 1 else ""


def breaches(package: Path) -> Iterator[str]:
    """What is wrong, as `file:line: why`."""
    for path in sorted(package.rglob("*.py")):
        mine = path.relative_to(package).parts[0]
        if mine not in FLOORS:
            continue
        for line, module in imports(path):
            theirs = floor(module)
            if theirs and theirs != mine and FLOORS.get(theirs, 99) >= FLOORS[mine]:
                where = f"{path.relative_to(package.parent)}:{line}"
                yield f"{where}: {mine} (floor {FLOORS[mine]}) imports {module}"


def test_each_floor_imports_only_floors_below_it() -> None:
    assert list(breaches(PACKAGE)) == []


def test_a_breach_is_named_with_its_file_and_line(tmp_path: Path) -> None:
    for name in ("wire", "curator", "recall"):
        (tmp_path / "ultan" / name).mkdir(parents=True)
    (tmp_path / "ultan" / "wire" / "a.py").write_text(
        "import os\n\ndef f():\n    from ultan.library import entry\n"
    )
    (tmp_path / "ultan" / "curator" / "b.py").write_text(
        "import ultan.recall.log\nfrom ultan.wire import home\n"
    )
    found = list(breaches(tmp_path / "ultan"))
    assert [text.split(": ")[0] for text in found] == ["ultan/curator/b.py:1", "ultan/wire/a.py:4"]


def test_every_folder_of_the_package_is_a_floor() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(FLOORS)


@pytest.mark.parametrize("path", HOOKS + WIRE, ids=lambda path: path.name)
def test_what_hooks_run_can_be_read_by_python_3_9(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), str(path), feature_version=(3, 9))
    future = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    annotated = any(isinstance(node, ast.AnnAssign | ast.FunctionDef) for node in ast.walk(tree))
    assert future or not annotated, f"{path.name}: annotations must not be evaluated"


@pytest.mark.parametrize("path", HOOKS + WIRE, ids=lambda path: path.name)
def test_what_hooks_run_imports_only_the_standard_library(path: Path) -> None:
    for line, module in imports(path):
        top = module.split(".")[0]
        assert top in sys.stdlib_module_names or top == "ultan", f"{path.name}:{line}: {module}"


@pytest.mark.parametrize("path", HOOKS + WIRE, ids=lambda path: path.name)
def test_what_hooks_run_loads_nothing_slow(path: Path) -> None:
    for line, module in imports(path, whole=False):
        assert module.split(".")[0] not in SLOW, f"{path.name}:{line}: {module} is slow to import"


@pytest.mark.parametrize("name", sorted(SCRIPTS.values()))
def test_a_hook_that_runs_has_loaded_nothing_slow(name: str, tmp_path: Path) -> None:
    """Also not through something else; run to the point where the input is read."""
    code = (
        "import sys, os\n"
        "os._exit = lambda code: sys.exit(code)\n"
        "before = set(sys.modules)\n"
        "try: exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'), {'__file__': sys.argv[1]})\n"
        "except SystemExit: pass\n"
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before}))\n"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(ROOT / "hooks" / name)]
    done = subprocess.run(command, input=b"", capture_output=True, env=environment(), timeout=60, check=True)
    loaded = set(ast.literal_eval(done.stdout.decode()))
    assert "ultan" in loaded
    assert loaded & SLOW == set()
