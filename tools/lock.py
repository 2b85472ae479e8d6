"""Writes requirements.lock from pyproject.toml: lock.py [path of uv]. For who changes a dependency."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# The one version of each package that Ultan is tested with, on every platform and for every extra.
# Written by tools/lock.py and used as constraints: a line says which version, not that it is installed.
# A condition stands only where platforms differ. What a CUDA build of torch needs is left out: torch itself
# names those exactly, and the CPU build that is preferred without a GPU needs none of them.
"""
# Packages that come with a CUDA build of torch only.
CUDA = re.compile(r"(nvidia|cuda)-|triton\b")


def simplify(lines: list[str]) -> list[str]:
    """Pins without what only a CUDA build needs; the condition is dropped where a package has one version."""
    pins = [line for line in lines if "==" in line and not CUDA.match(line)]
    versions = Counter(line.split("==")[0] for line in pins)
    return [
        line if versions[line.split("==")[0]] > 1 else line.split(";")[0].rstrip() for line in sorted(pins)
    ]


def main(argv: list[str]) -> int:
    command = [
        argv[1] if len(argv) > 1 else "uv",
        *("pip", "compile", "--universal", "--all-extras", "--python-version", "3.11"),
        *("--no-header", "--no-annotate", "--no-emit-index-url", "--quiet", str(ROOT / "pyproject.toml")),
    ]
    compiled = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    (ROOT / "requirements.lock").write_text(HEAD + "\n".join(simplify(compiled.splitlines())) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
