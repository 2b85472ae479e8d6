"""One environment with packages: found, made, completed or rebuilt.

Runs before anything is installed: Python 3.9, standard library alone.
"""

from __future__ import annotations

import json
import os
import shutil
import sys

from ultan.service import installing, interpreters
from ultan.service.commands import Runner, StepFailed
from ultan.service.installed import STAMP, ProvisioningError, installed, is_whole
from ultan.service.installing import Tools
from ultan.service.requirements import BASE, read
from ultan.wire.files import utc_now, write_atomic
from ultan.wire.runtime import Runtime

# There while packages are added to a whole environment: what it lists may be half there.
BEGUN = "installing.json"


class Environment:
    """The environment for the checkout at `root`, below the folder `runtime`."""

    def __init__(self, root: str, runtime: str, environ: dict[str, str], runner: Runner) -> None:
        self.needs = read(root)
        self.runtime = runtime
        self.environ = environ
        self.runner = runner

    def complete(self, before: Runtime | None, extras: list[str]) -> str:
        """The path of the Python that has the packages of the base and of `extras`.

        before: the current runtime, whose extras are kept. Raises StepFailed, ProvisioningError or OSError.
        """
        kept = installed(os.path.dirname(os.path.dirname(before.python))) if before is not None else set()
        wanted = sorted(set(extras) | (kept & set(self.needs.groups)))
        venv = self.whole()
        missing = [extra for extra in wanted if venv is None or extra not in installed(venv)]
        problem = installing.unavailable(missing, sys.platform == "darwin", os.uname().machine)
        if problem is not None:
            raise ProvisioningError(problem)
        if venv is None or missing:
            self.runner.settle()
        if venv is None:
            return self._make([BASE, *missing])
        if missing:
            self._add(venv, missing)
        return installing.python_of(venv)

    def whole(self) -> str | None:
        """A whole environment with these requirements, whichever Python it was made with."""
        paths = (self._path(minor) for minor in interpreters.PREFERRED)
        return next((path for path in paths if is_whole(path)), None)

    def _path(self, minor: tuple[int, int]) -> str:
        return os.path.join(self.runtime, "venv-" + self.needs.fingerprint(minor))

    def look(self) -> Tools:
        """What this machine has."""
        macos = sys.platform == "darwin"
        paths = interpreters.candidates(self.environ, sys.executable, macos)
        asked = [interpreters.ask(path, self.environ) for path in paths]
        found = [one for one in asked if one is not None]
        python = interpreters.choose(found, need_venv=True) or interpreters.choose(found, need_venv=False)
        return Tools(
            interpreters.find_uv(self.environ),
            python,
            interpreters.find_client(self.environ),
            interpreters.has_gpu(self.environ),
            macos,
        )

    def _make(self, extras: list[str]) -> str:
        """A new environment, by the first installer that can make it."""
        tools = self.look()
        usable = installing.installers(tools)
        if not usable:
            raise ProvisioningError(installing.no_installer(tools, linux=sys.platform == "linux"))
        minor = tools.python.minor if tools.python else _minor(interpreters.WANTED)
        venv = self._path(minor)
        self.runner.progress.phase("packages", "Installing what Ultan needs, once; later starts take no time")
        for installer in usable:
            shutil.rmtree(venv, ignore_errors=True)  # what an interrupted try left, which nobody runs from
            try:
                self.runner.run("packages", installing.make_environment(installer, tools, venv))
                self._fill(installer, tools, venv, extras)
                return installing.python_of(venv)
            except StepFailed as error:
                if installer == usable[-1]:
                    raise
                self.runner.progress.note(f"{error.title} with uv failed; trying again with pip.")
        raise AssertionError("there is always a last installer")

    def _add(self, venv: str, extras: list[str]) -> None:
        tools = self.look()
        installer = "uv" if tools.uv else "pip"
        begun = os.path.join(venv, BEGUN)
        again = os.path.exists(begun)
        write_atomic(begun, json.dumps({"extras": extras}).encode())
        try:
            self._fill(installer, tools, venv, extras, again)
        except StepFailed as error:
            if installer == "pip":
                raise
            self.runner.progress.note(f"{error.title} with uv failed; trying again with pip.")
            self._fill("pip", tools, venv, extras, again=True)
        os.unlink(begun)

    def _fill(self, installer: str, tools: Tools, venv: str, extras: list[str], again: bool = False) -> None:
        """Install `extras` into `venv`, see that they load, and write down that they are there."""
        for step in installing.install(installer, tools, venv, self.needs, extras, again):
            self.runner.run("packages", step)
        self.runner.progress.phase("checking", "Checking what was installed")
        status, output = self.runner.call(installing.verification(venv, extras))
        if status:
            raise StepFailed("Checking what was installed", self.runner.log, output.strip()[-1500:])
        cuda = output.strip().rpartition("\n")[2]
        if cuda not in ("-", "None") and not tools.gpu:
            self.runner.progress.note(
                f"torch is a build for CUDA {cuda}, though no GPU was found: it is large."
            )
        there = sorted(installed(venv) | set(extras) - {BASE})
        stamp = {"v": 1, "extras": there, "installer": installer, "made": utc_now()}
        write_atomic(os.path.join(venv, STAMP), json.dumps(stamp, indent=1).encode() + b"\n")


def _minor(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)
