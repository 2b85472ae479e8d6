"""A runtime is installed, completed, replaced and never taken back; commands are recorded, not run."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from ultan.service import commands, provisioning
from ultan.service.commands import Runner, StepFailed
from ultan.service.environment import Environment
from ultan.service.installed import ProvisioningError, installed
from ultan.service.installing import Step, Tools
from ultan.service.interpreters import Interpreter
from ultan.service.progress import Progress
from ultan.service.provisioning import Busy, ensure, warm
from ultan.wire.files import FileLock
from ultan.wire.home import Home
from ultan.wire.runtime import Runtime, find
from ultan.wire.version import VERSION

PYTHON = Interpreter("/usr/bin/python3.12", (3, 12, 4), True)


class Machine:
    """A machine that carries out no command: what was asked of it, what it has, what fails on it."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.tools = Tools(None, PYTHON)
        self.fails: Callable[[list[str]], bool] = lambda argv: False
        self.checked = "-\n"

    def call(self, argv: list[str]) -> tuple[int, str]:
        self.asked.append(argv)
        if self.fails(argv):
            return 1, "it did not work"
        if "venv" in argv:
            python = Path(argv[-1], "bin", "python")
            python.parent.mkdir(parents=True)
            python.write_text("#!/bin/sh\n")
            python.chmod(0o755)
        return 0, self.checked

    @property
    def titles(self) -> list[str]:
        """What each command was for, in one word."""
        words = ("venv", "pip", "-c")
        return [next(word for word in words if word in argv) for argv in self.asked]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()

    class Recorder(Runner):
        def call(self, argv: list[str]) -> tuple[int, str]:
            return made.call(argv)

    monkeypatch.setattr(commands, "Runner", Recorder)
    monkeypatch.setattr(Environment, "look", lambda self: made.tools)
    return made


@pytest.fixture
def checkout(tmp_path: Path, repository: Path) -> Path:
    """A small checkout with the requirements of the real one."""
    root = tmp_path / "checkout"
    (root / "daemon" / "ultan").mkdir(parents=True)
    (root / "daemon" / "boot.py").write_text("boot\n")
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(repository / name, root)
    return root


def install(checkout: Path, home: Home, *extras: str, wait: bool = True) -> Runtime:
    return ensure(str(checkout), home, {}, list(extras), quiet=True, wait=wait)


def state(home: Home) -> dict[str, object]:
    values: dict[str, object] = json.loads(Path(home.runtime, "state.json").read_text())
    return values


def test_a_bare_machine_gets_an_environment_the_packages_a_check_and_a_copy(
    checkout: Path, home: Home, machine: Machine
) -> None:
    found = install(checkout, home)
    assert machine.titles == ["venv", "pip", "-c"]
    current = find(home, {})
    assert current is not None
    assert (current.version, current.code, current.python) == (VERSION, found.code, found.python)
    assert os.path.dirname(found.python).startswith(os.path.join(home.runtime, "venv-"))
    assert state(home)["phase"] == "ready" and state(home)["error"] is None


def test_where_all_is_there_nothing_is_done_and_nothing_is_written(
    checkout: Path, home: Home, machine: Machine
) -> None:
    found = install(checkout, home)
    before = {path.name: path.stat().st_mtime_ns for path in Path(home.runtime).iterdir()}
    machine.asked.clear()
    again = warm(str(checkout), home, {}, [])
    assert again is not None and again.code == found.code
    install(checkout, home)
    assert machine.asked == []
    assert {path.name: path.stat().st_mtime_ns for path in Path(home.runtime).iterdir()} == before


def test_the_runtime_can_stand_elsewhere(
    checkout: Path, home: Home, machine: Machine, tmp_path: Path
) -> None:
    found = ensure(str(checkout), home, {"ULTAN_RUNTIME": str(tmp_path / "elsewhere")}, [], quiet=True)
    assert found.code.startswith(str(tmp_path / "elsewhere"))
    assert not os.path.exists(home.runtime)


def test_changed_code_is_copied_and_no_package_is_installed_again(
    checkout: Path, home: Home, machine: Machine
) -> None:
    first = install(checkout, home)
    machine.asked.clear()
    (checkout / "daemon" / "boot.py").write_text("another boot\n")
    second = install(checkout, home)
    assert machine.asked == []
    assert second.python == first.python and second.code != first.code
    assert os.path.isdir(first.code)  # a daemon may be running from it


def test_a_changed_lock_makes_another_environment_with_the_same_extras(
    checkout: Path, home: Home, machine: Machine
) -> None:
    first = install(checkout, home, "hub")
    with (checkout / "requirements.lock").open("a") as lock:
        lock.write("more==1\n")
    second = install(checkout, home)
    assert second.python != first.python
    assert installed(os.path.dirname(os.path.dirname(second.python))) == {"hub"}


def test_an_extra_is_added_to_the_environment_that_is_there(
    checkout: Path, home: Home, machine: Machine
) -> None:
    first = install(checkout, home)
    machine.asked.clear()
    assert warm(str(checkout), home, {}, ["dev"]) is None
    second = install(checkout, home, "dev")
    assert second.python == first.python
    assert machine.titles == ["pip", "-c"]
    assert warm(str(checkout), home, {}, ["dev"]) is not None
    assert warm(str(checkout), home, {}, []) is not None


def test_an_interrupted_first_try_is_made_anew(checkout: Path, home: Home, machine: Machine) -> None:
    def stop(argv: list[str]) -> bool:
        if "pip" in argv:
            raise KeyboardInterrupt
        return False

    machine.fails = stop
    with pytest.raises(KeyboardInterrupt):
        install(checkout, home)
    assert find(home, {}) is None
    assert state(home)["phase"] == "failed" and "interrupted" in str(state(home)["error"])
    machine.fails = lambda argv: False
    machine.asked.clear()
    install(checkout, home)
    assert machine.titles == ["venv", "pip", "-c"]


def test_an_interrupted_addition_is_installed_over_and_the_base_stays_usable(
    checkout: Path, home: Home, machine: Machine
) -> None:
    install(checkout, home)
    machine.fails = lambda argv: "pip" in argv
    with pytest.raises(ProvisioningError):
        install(checkout, home, "dev")
    assert warm(str(checkout), home, {}, []) is not None
    machine.fails = lambda argv: False
    machine.asked.clear()
    install(checkout, home, "dev")
    assert "--ignore-installed" in machine.asked[0]
    machine.asked.clear()
    install(checkout, home, "curator")
    assert "--ignore-installed" not in machine.asked[0]


def test_where_uv_fails_pip_does_it_and_the_person_is_told(
    checkout: Path, home: Home, machine: Machine
) -> None:
    machine.tools = Tools("/bin/uv", PYTHON)
    machine.fails = lambda argv: argv[:3] == ["/bin/uv", "pip", "install"]
    install(checkout, home)
    assert [argv[0] == "/bin/uv" for argv in machine.asked] == [True, True, False, False, False]
    assert "uv failed" in str(state(home)["notes"])


def test_a_machine_with_nothing_to_install_with_is_told_the_ways_out(
    checkout: Path, home: Home, machine: Machine
) -> None:
    machine.tools = Tools(None, None)
    with pytest.raises(ProvisioningError, match=r"no Python 3\.11 or later"):
        install(checkout, home)
    assert "no Python 3.11" in str(state(home)["error"])
    assert machine.asked == []


def test_what_does_not_load_after_the_installation_does_not_count_as_installed(
    checkout: Path, home: Home, machine: Machine
) -> None:
    machine.fails = lambda argv: "-c" in argv
    with pytest.raises(ProvisioningError, match="it did not work"):
        install(checkout, home)
    assert find(home, {}) is None


def test_a_large_build_of_torch_without_a_gpu_is_mentioned(
    checkout: Path, home: Home, machine: Machine
) -> None:
    machine.checked = "13.0\n"
    install(checkout, home, "hub")
    assert "CUDA 13.0" in str(state(home)["notes"])


def make_newer(home: Home, python: str) -> Runtime:
    code = Path(home.runtime, "code-99.0.0-x")
    code.mkdir()
    (code / "boot.py").touch()
    names = {"version": "99.0.0", "code": str(code), "python": python}
    Path(home.runtime, "current.json").write_text(json.dumps(names))
    return Runtime("99.0.0", str(code), python)


def test_a_newer_runtime_is_used_as_it_is_and_never_replaced(
    checkout: Path, home: Home, machine: Machine
) -> None:
    newer = make_newer(home, install(checkout, home).python)
    machine.asked.clear()
    assert install(checkout, home).code == newer.code
    with pytest.raises(ProvisioningError, match=r"Ultan 99\.0\.0 is installed"):
        install(checkout, home, "hub")
    current = find(home, {})
    assert current is not None and current.version == "99.0.0"
    assert machine.asked == []


def test_a_newer_runtime_that_is_broken_is_no_hindrance(checkout: Path, home: Home, machine: Machine) -> None:
    newer = make_newer(home, install(checkout, home).python)
    os.unlink(newer.boot)
    assert install(checkout, home).version == VERSION


def test_an_environment_whose_python_is_gone_is_made_again(
    checkout: Path, home: Home, machine: Machine
) -> None:
    first = install(checkout, home)
    os.unlink(first.python)
    machine.asked.clear()
    install(checkout, home)
    assert machine.titles == ["venv", "pip", "-c"]


def test_the_background_does_not_wait_for_another_installer(
    checkout: Path, home: Home, machine: Machine
) -> None:
    os.makedirs(home.runtime)
    with FileLock(os.path.join(home.runtime, "install.lock"), holder="process 7"), pytest.raises(Busy):
        install(checkout, home, wait=False)
    assert machine.asked == []


def test_what_another_installer_did_meanwhile_is_not_done_again(
    checkout: Path, home: Home, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = install(checkout, home)
    machine.asked.clear()
    answers = iter([None, found])
    monkeypatch.setattr(provisioning, "warm", lambda *args: next(answers))
    assert install(checkout, home) is found
    assert machine.asked == []


def test_a_folder_that_cannot_be_written_is_named(checkout: Path, tmp_path: Path, home: Home) -> None:
    place = tmp_path / "file"
    place.write_text("")
    with pytest.raises(ProvisioningError, match="file/runtime"):
        ensure(str(checkout), home, {"ULTAN_RUNTIME": str(place / "runtime")}, [], quiet=True)


def test_broken_files_of_the_runtime_mean_that_it_is_looked_at_again(
    checkout: Path, home: Home, machine: Machine
) -> None:
    found = install(checkout, home)
    for name in ("seen.json", "current.json"):
        Path(home.runtime, name).write_text("[1, ")
    machine.asked.clear()
    again = install(checkout, home)
    assert (again.code, again.python) == (found.code, found.python)
    assert machine.asked == []


def test_the_ways_of_a_step_are_tried_in_order_until_one_works(home: Home, tmp_path: Path) -> None:
    progress = Progress(str(tmp_path), quiet=True)
    runner = Runner(str(tmp_path / "log"), dict(os.environ), progress)
    step = Step("Trying", [["false"], [str(tmp_path / "absent")], ["true"], ["false"]], {2: "the third"})
    runner.run("packages", step)
    assert progress.notes == ["the third"]
    with pytest.raises(StepFailed, match="Trying failed") as caught:
        runner.run("packages", Step("Trying", [["sh", "-c", "echo some trouble >&2; exit 3"]]))
    assert "some trouble" in caught.value.tail
    assert "$ true" in (tmp_path / "log").read_text()


def test_what_a_killed_installer_left_running_is_waited_for(tmp_path: Path) -> None:
    log = tmp_path / "install.log"
    with (
        log.open("ab") as output,
        subprocess.Popen(["sh", "-c", "read line"], stdin=subprocess.PIPE, stdout=output) as left,
    ):
        fcntl.flock(output.fileno(), fcntl.LOCK_EX)
        output.close()
        progress = Progress(str(tmp_path), quiet=True)
        waiting = threading.Thread(target=Runner(str(log), dict(os.environ), progress).settle)
        waiting.start()
        while not progress.said:
            waiting.join(0.01)
            assert waiting.is_alive()
        assert json.loads((tmp_path / "state.json").read_text())["phase"] == "waiting"
        assert left.stdin is not None
        left.stdin.close()
        waiting.join(60)
        assert not waiting.is_alive()


def test_a_command_holds_the_log_for_as_long_as_it_runs(tmp_path: Path) -> None:
    log = tmp_path / "install.log"
    code = "import fcntl, sys; fcntl.flock(open(sys.argv[1], 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    runner = Runner(str(log), dict(os.environ), Progress(str(tmp_path), quiet=True))
    status, output = runner.call([sys.executable, "-I", "-c", code, str(log)])
    assert status == 1 and "BlockingIOError" in output
