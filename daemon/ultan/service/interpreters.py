"""Finds what can install and run Ultan: a Python new enough, and uv.

Runs before anything is installed: Python 3.9, standard library alone. Nothing is started whose name does not
promise a Python, and never the stub of macOS that offers to install the command-line tools.
"""

from __future__ import annotations

import json
import os
import re

# In this order: packages with compiled parts come late for the newest Python.
PREFERRED = ((3, 12), (3, 13), (3, 11), (3, 14))
# What uv is asked for where the system has none of these.
WANTED = "3.12"
PLACES = ("/opt/homebrew/bin", "/usr/local/bin", "/usr/bin", "~/.local/bin")
_UV_PLACES = ("~/.local/bin", "~/.cargo/bin", "/opt/homebrew/bin", "/usr/local/bin")
_CLIENT_PLACES = ("~/.local/bin", "~/.claude/local", "/opt/homebrew/bin", "/usr/local/bin")
_FOREIGN = re.compile(r"/mnt/[a-z](/|$)")
_QUESTION = """\
import importlib.util as util, json, sys, sysconfig
print(json.dumps([list(sys.version_info[:3]), getattr(sys, "_base_executable", "") or sys.executable,
    bool(util.find_spec("venv") and util.find_spec("ensurepip")),
    sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")]))"""


class Interpreter:
    """A Python that was asked: `path` of the base installation, `version` (3, 12, 1), if it has `venv`."""

    __slots__ = ("path", "venv", "version")

    def __init__(self, path: str, version: tuple[int, ...], venv: bool) -> None:
        self.path = path
        self.version = version
        self.venv = venv

    @property
    def minor(self) -> tuple[int, int]:
        return (self.version[0], self.version[1])


def folders(environ: dict[str, str], places: tuple[str, ...] = PLACES) -> list[str]:
    """Where to look: the usual places, then PATH without relative and foreign folders; shims last."""
    home = environ.get("HOME", "")
    found: list[str] = []
    for folder in (*places, *environ.get("PATH", "").split(os.pathsep)):
        folder = home + folder[1:] if folder.startswith("~") and home else folder
        folder = folder.rstrip("/")
        if folder.startswith("/") and not _FOREIGN.match(folder) and folder not in found:
            found.append(folder)
    return sorted(found, key=lambda folder: folder.endswith("/shims"))


def candidates(environ: dict[str, str], own: str, macos: bool) -> list[str]:
    """Paths of Pythons to ask, best name first; `own` is the Python that runs this."""
    places = folders(environ)
    paths: list[str] = []
    for major, minor in PREFERRED:
        name = f"python{major}.{minor}"
        paths.extend(os.path.join(folder, name) for folder in places)
        paths.append(f"/Library/Frameworks/Python.framework/Versions/{major}.{minor}/bin/{name}")
    paths.append(own)
    paths.extend(os.path.join(folder, "python3") for folder in places if not (macos and folder == "/usr/bin"))
    return list(dict.fromkeys(path for path in paths if path and is_program(path)))


def is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def ask(path: str, environ: dict[str, str]) -> Interpreter | None:
    """What the Python at `path` says of itself; None where it is unfit, broken or silent."""
    import subprocess

    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environ,
            timeout=20,
            check=True,
        )
        version, base, venv, fit = json.loads(done.stdout)
        found = Interpreter(str(base), tuple(int(part) for part in version), bool(venv))
    except (OSError, ValueError, TypeError, subprocess.SubprocessError):
        return None
    return found if fit and found.minor in PREFERRED and is_program(found.path) else None


def choose(found: list[Interpreter], need_venv: bool) -> Interpreter | None:
    """The best of those that were asked: by the order of PREFERRED, then by the order they were found."""
    fit = [one for one in found if one.venv or not need_venv]
    return min(fit, key=lambda one: PREFERRED.index(one.minor), default=None)


def find_uv(environ: dict[str, str]) -> str | None:
    """The path of uv, from PATH or where its installers put it."""
    return _program("uv", environ, _UV_PLACES)


def find_client(environ: dict[str, str]) -> str | None:
    """The path of the person's own `claude`, from PATH or where its installers put it."""
    return _program("claude", environ, _CLIENT_PLACES)


def _program(name: str, environ: dict[str, str], places: tuple[str, ...]) -> str | None:
    paths = (os.path.join(folder, name) for folder in reversed_places(environ, places))
    return next((path for path in paths if is_program(path)), None)


def reversed_places(environ: dict[str, str], places: tuple[str, ...]) -> list[str]:
    """PATH first, then `places`: for programs that the person chose by putting them on PATH."""
    on_path = folders(environ, ())
    return on_path + [folder for folder in folders(environ, places) if folder not in on_path]


def has_gpu(environ: dict[str, str], devices: str = "/dev") -> bool:
    """Whether this machine seems to have a GPU that a CUDA build could use."""
    if _program("nvidia-smi", environ, ("/usr/bin",)):
        return True
    try:
        return any(name.startswith("nvidia") for name in os.listdir(devices))
    except OSError:
        return False
