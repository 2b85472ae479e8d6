"""basic-memory as a peer of the bench: brought into an environment of its own, asked by its own tool.

It is no dependency of Ultan. The version is pinned; the environment is kept in the cache folder for the next
time. Its home is a temporary folder, and it is kept off the network when it runs. The vectors of its hybrid
search need a model which it would fetch from a hub: it finds the same model, bge-small-en-v1.5, in the files
that Ultan's own package brings, laid as its cache has them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from peers_lexical import Answer, Hits
from ultan.library.errors import UltanError
from ultan.retrieval.embedded import FOLDER, MODEL, find_folder
from ultan.service import installing, interpreters

VERSION = "0.24.1"
PYTHONS = ((3, 13), (3, 12), (3, 14))
DRIVER = Path(__file__).with_name("peers_basic_memory_driver.py")
# Where the version's fastembed looks for the model of its default settings.
_MODEL_PLACE = "models--Qdrant--bge-small-en-v1.5-onnx-Q"
_SPECIAL = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "cls", "mask")}
# Its vectors are an extension of SQLite, which not every build of Python can load.
_LOADS_EXTENSIONS = "import sqlite3; print(hasattr(sqlite3.Connection, 'enable_load_extension'))"
_PACKAGES = "import sysconfig; print(sysconfig.get_path('purelib'))"
_STAND_IN = (
    "import sys, pysqlite3; sys.modules.update({'sqlite3': pysqlite3, 'sqlite3.dbapi2': pysqlite3.dbapi2})\n"
)
# Hits are asked for without regard to their scope, so that enough of those in scope are among them.
DEPTH = 100


class Missing(UltanError):
    """basic-memory cannot be had or does not work here."""

    def __init__(self, why: str, advice: str = "") -> None:
        super().__init__(f"basic-memory {' '.join(why.split())}"[:400], "", advice)


def provide(cache: Path, python: Path | None, say: Callable[[str], None]) -> Path:
    """The interpreter of an environment that has basic-memory, installed if need be. Raises Missing.

    python: who is to run it; None: the first fit one that is found.
    """
    venv = cache / f"basic-memory-{VERSION}"
    runs, whole = Path(installing.python_of(str(venv))), venv / "whole"
    if whole.is_file():
        return runs
    environ = installing.environment(dict(os.environ))
    maker, uv = str(python) if python else fit(environ), interpreters.find_uv(environ)
    say(f"installing basic-memory {VERSION} into {venv}")
    shutil.rmtree(venv, ignore_errors=True)
    if maker is not None:
        _run([maker, "-I", "-m", "venv", str(venv)], environ)
    elif uv is not None:
        _run([uv, "venv", "--quiet", "--no-project", "--seed", "--python", "3.13", str(venv)], environ)
    else:
        raise Missing("needs Python 3.12 or later, and none was found.", "Name one: --basic-memory-python.")
    install = [str(runs), "-I", "-m", "pip", "install", "--quiet"]
    _run([*install, f"basic-memory=={VERSION}"], environ)
    if _run([str(runs), "-I", "-c", _LOADS_EXTENSIONS], environ).strip() != "True":
        try:
            _run([*install, "--only-binary", ":all:", "pysqlite3-binary"], environ)
        except Missing:
            say("its Python cannot load SQLite's extensions: without vectors")
        else:
            say("its Python cannot load SQLite's extensions; pysqlite3 stands in for sqlite3")
            folder = _run([str(runs), "-I", "-c", _PACKAGES], environ).strip()
            Path(folder, "pysqlite3.pth").write_text(_STAND_IN, "utf-8")
    whole.touch()
    return runs


def fit(environ: dict[str, str]) -> str | None:
    """The path of a Python that basic-memory runs on."""
    paths = interpreters.candidates(environ, sys.executable, sys.platform == "darwin")
    asked = (interpreters.ask(path, environ) for path in paths)
    found = [one for one in asked if one is not None and one.venv and one.minor in PYTHONS]
    return min(found, key=lambda one: PYTHONS.index(one.minor)).path if found else None


def _run(line: list[str], environ: dict[str, str]) -> str:
    """What a program printed. Raises Missing with the last line of its complaint."""
    try:
        done = subprocess.run(
            line, env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    except OSError as error:
        raise Missing(f"cannot be installed: {error}") from error
    if done.returncode:
        told = [text for text in (done.stdout + done.stderr).splitlines() if text.strip()]
        raise Missing(f"cannot be installed: {told[-1] if told else 'no reason given'}")
    return done.stdout


def lay_model(cache: Path) -> None:
    """Lays the packaged model as fastembed's cache has it. Raises ModelUnavailable or OSError."""
    source = find_folder(FOLDER, MODEL)
    place = cache / _MODEL_PLACE
    files = place / "snapshots" / "packaged"
    files.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(source / name, files / name)
    shutil.copyfile(source / "model.onnx", files / "model_optimized.onnx")
    (files / "special_tokens_map.json").write_text(json.dumps(_SPECIAL), "utf-8")
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("packaged", "utf-8")


class Talk:
    """A driver that runs. ask() sends one object and returns its answer. Raises Missing."""

    def __init__(self, sending: IO[str], answers: IO[str]) -> None:
        self._sending = sending
        self._answers = answers

    def ask(self, **asked: object) -> dict[str, Any]:
        """The answer, which may be {"error"}."""
        try:
            self._sending.write(json.dumps(asked) + "\n")
            self._sending.flush()
            line = self._answers.readline()
        except OSError as error:
            raise Missing(f"ended: {error}") from error
        if not line:
            raise Missing("ended without an answer")
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer


@contextmanager
def driven(python: Path, home: Path, driver: Path = DRIVER) -> Iterator[Talk]:
    """A driver with a home of its own, ended with the block. home: a folder that it may fill."""
    home.mkdir(parents=True, exist_ok=True)
    env = environment(installing.environment(dict(os.environ)), home)
    with (home / "driver.log").open("wb") as log:
        child = subprocess.Popen(
            [str(python), str(driver)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
            env=env,
            cwd=home,
        )
        assert child.stdin is not None and child.stdout is not None
        try:
            yield Talk(child.stdin, child.stdout)
        finally:
            try:
                child.stdin.close()
            except OSError:
                pass
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            child.stdout.close()


def environment(environ: dict[str, str], home: Path) -> dict[str, str]:
    """What it runs with: no settings of the person's own, no hub, no updates, no log between the calls."""
    own = ("BASIC_MEMORY_", "FASTEMBED_", "HF_", "LOGFIRE_", "OTEL_", "XDG_", "ULTAN_", "AGENT_MEM_")
    env = {name: value for name, value in environ.items() if not name.startswith(own)}
    return env | {
        "HOME": str(home),
        "HF_HUB_OFFLINE": "1",
        "FASTEMBED_CACHE_PATH": str(home / "models"),
        "BASIC_MEMORY_AUTO_UPDATE": "false",
        "BASIC_MEMORY_LOG_LEVEL": "ERROR",
        "LOGFIRE_IGNORE_NO_CONFIG": "1",
        "LOGFIRE_SEND_TO_LOGFIRE": "false",
    }


class Peer:
    """One way of its search over one driver. start() indexes and returns what answers a prompt."""

    def __init__(self, talk: Talk, mode: str, notes: Path) -> None:
        self.talk = talk
        self.mode = mode
        self.notes = notes
        self.version = VERSION
        self.errors: list[str] = []

    def start(self) -> Answer:
        """Raises Missing, also where the search itself does not work here."""
        done = self.talk.ask(index=str(self.notes), mode=self.mode)
        if "error" in done:
            raise Missing(f"cannot index: {done['error']}")
        self.version = str(done["version"])
        tried = self.talk.ask(query="test", mode=self.mode, limit=1)
        if "error" in tried:
            raise Missing(f"its {self.mode} search does not work here: {tried['error']}")
        return self.answer

    def answer(self, prompt: str) -> Hits:
        """(id, score), best first; none where it answers with an error, which is kept."""
        found = self.talk.ask(query=prompt, mode=self.mode, limit=DEPTH)
        if "error" in found:
            self.errors.append(str(found["error"]))
            return []
        return [(str(file).removesuffix(".md"), float(score)) for file, score in found["results"]]

    def note(self) -> str:
        """How it was asked, for a reader of the figures."""
        told = f"{self.version}, its tool search_notes called in a process of its own, over a pipe"
        if self.mode != "text":
            told += f"; its default model from Ultan's package ({MODEL})"
        return told + (f"; {len(self.errors)} prompts answered by an error" if self.errors else "")
