"""The launcher as it is started: by a shell, through links, with little on the machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ultan.service import launcher
from ultan.service import setup as setup_command
from ultan.service.installed import ProvisioningError
from ultan.service.provisioning import Busy
from ultan.wire.home import Home
from ultan.wire.runtime import Runtime
from ultan.wire.version import VERSION


def run(
    path: Path, *arguments: str, environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    env = dict(os.environ) if environ is None else environ
    return subprocess.run(
        [str(path), *arguments], env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def installed(home: Home, repository: Path) -> Home:
    """A home whose runtime is a newer one, which only tells what it was started with."""
    code = Path(home.runtime, "code")
    code.mkdir(parents=True)
    (code / "boot.py").write_text(
        "import json, os, sys\n"
        "flags = [sys.flags.isolated, sys.flags.utf8_mode]\n"
        "print(json.dumps([sys.argv[1:], os.environ['ULTAN_ROOT'], *flags]))\n"
    )
    names = {"version": "99.0", "code": str(code), "python": sys.executable}
    Path(home.runtime, "current.json").write_text(json.dumps(names))
    return home


def test_a_command_goes_to_the_installed_copy_with_the_place_of_the_checkout(
    installed: Home, repository: Path
) -> None:
    done = run(repository / "tools/ultan", "search", "a b", "--json")
    assert json.loads(done.stdout) == [["search", "a b", "--json"], str(repository), 1, 1]
    assert (done.returncode, done.stderr) == (0, "")


def test_the_launcher_can_be_started_through_links_and_from_anywhere(
    installed: Home, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "first").symlink_to(repository / "tools/ultan")
    (tmp_path / "bin" / "ultan").symlink_to("../first")
    done = run(tmp_path / "bin" / "ultan", "x")
    assert json.loads(done.stdout)[1] == str(repository)
    done = subprocess.run(["sh", "ultan", "x"], cwd=repository / "tools", capture_output=True, timeout=60)
    assert json.loads(done.stdout)[1] == str(repository)


def test_the_setup_tells_how_it_is_used_before_anything_is_installed(home: Home, repository: Path) -> None:
    done = run(repository / "tools/ultan", "setup", "--help")
    assert done.returncode == 0
    assert "ultan setup --with hub" in done.stdout
    assert not os.path.exists(home.runtime)


def test_an_unknown_extra_is_refused_with_those_there_are(home: Home, repository: Path) -> None:
    done = run(repository / "tools/ultan", "setup", "--with", "everything")
    assert done.returncode == 2
    assert all(extra in done.stderr for extra in ("hub", "curator", "dev"))


@pytest.fixture
def bare(tmp_path: Path, repository: Path) -> tuple[Path, dict[str, str]]:
    """The launcher with the usual places replaced by a folder without any Python, and the environment."""
    folder = tmp_path / "bare"
    folder.mkdir()
    text = (repository / "tools/ultan").read_text()
    for place in ("/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"):
        text = text.replace(place, f"{folder}{place}")
    script = folder / "ultan"
    script.write_text(text)
    script.chmod(0o755)
    return script, {"PATH": str(folder / "bin"), "HOME": str(folder / "home")}


def test_without_any_python_the_way_out_is_named_and_the_background_is_silent_about_it(
    bare: tuple[Path, dict[str, str]],
) -> None:
    script, environ = bare
    done = run(script, "status", environ=environ)
    assert done.returncode == 1 and "Install Python 3.11 or later, or uv" in done.stderr
    assert run(script, "setup", "--background", environ=environ).returncode == 0


def test_without_any_python_uv_runs_the_launcher(bare: tuple[Path, dict[str, str]]) -> None:
    script, environ = bare
    uv = Path(environ["HOME"], ".local/bin/uv")
    uv.parent.mkdir(parents=True)
    uv.write_text('#!/bin/sh\necho "$@"\n')
    uv.chmod(0o755)
    done = run(script, "status", environ=environ)
    assert done.stdout.startswith("run --quiet --no-project --python 3.12 python -I -S -X utf8 ")
    assert done.stdout.endswith("launch.py status\n")


def test_on_macos_the_stub_that_offers_an_installer_is_never_started(
    bare: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    script, environ = bare
    folder = script.parent / "usr/bin"
    folder.mkdir(parents=True)
    started = tmp_path / "started"
    (folder / "python3").write_text(f"#!/bin/sh\n: > {started}\n")
    (folder / "xcode-select").write_text("#!/bin/sh\nexit 2\n")
    for name in ("python3", "xcode-select"):
        (folder / name).chmod(0o755)
    done = run(script, "setup", "--background", environ=environ)
    assert done.returncode == 0
    assert not started.exists()


def test_tests_are_run_with_what_tests_need(monkeypatch: pytest.MonkeyPatch, home: Home) -> None:
    wanted = []
    current = Runtime(VERSION, "/code", "/python")
    monkeypatch.setattr(
        launcher, "warm", lambda root, home, environ, extras: wanted.append(extras) or current
    )
    monkeypatch.setattr(launcher, "become", lambda current, argv, root, environ: 0)
    for argv in (["test", "-k", "x"], ["status"], []):
        assert launcher.main(argv, "/root") == 0
    assert wanted == [["dev"], [], []]


def test_what_prevents_the_installation_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_args: object) -> Runtime:
        raise ProvisioningError("the disk is full")

    monkeypatch.setattr(launcher, "ensure", fail)
    assert launcher.main(["status"], "/root") == 1
    assert capsys.readouterr() == ("", "ultan: the disk is full\n")
    assert launcher.main(["status", "--json"], "/root") == 1
    out, err = capsys.readouterr()
    assert err == "" and json.loads(out)["error"]["what"] == "the disk is full"


@pytest.mark.parametrize("error", [ProvisioningError("no"), Busy("no")])
def test_the_background_exits_with_0_and_says_nothing(
    error: Exception, monkeypatch: pytest.MonkeyPatch, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_args: object, **_named: object) -> Runtime:
        raise error

    monkeypatch.setattr(setup_command, "ensure", fail)
    assert setup_command.run(["--background"], "/root", home, {}) == 0
    assert capsys.readouterr() == ("", "")


def test_the_setup_reports_for_people_and_for_programs(tmp_path: Path) -> None:
    current = Runtime(VERSION, "/code", str(tmp_path / "venv/bin/python"))
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv/ultan.json").write_text('{"extras": ["hub", "dev"]}')
    assert setup_command.report(current, False, False) == f"Ultan {VERSION} is installed with dev, hub."
    assert setup_command.report(current, True, False) == current.python
    assert json.loads(setup_command.report(current, False, True)) == {
        "version": VERSION,
        "python": current.python,
        "code": "/code",
        "extras": ["dev", "hub"],
    }


def test_the_daemon_is_booted_without_the_packages_of_the_command_line(
    repository: Path, tmp_path: Path
) -> None:
    shutil.copy(repository / "daemon/boot.py", tmp_path)
    for name in ("service", "cli"):
        (tmp_path / "ultan" / name).mkdir(parents=True)
        (tmp_path / "ultan" / name / "__init__.py").touch()
    told = (
        "import sys\ndef main(*args):\n    print(%r, *args, sorted({'click', 'rich'} & set(sys.modules)))\n"
    )
    (tmp_path / "ultan/service/__main__.py").write_text(told % "daemon")
    (tmp_path / "ultan/cli/main.py").write_text(told % "cli")
    for arguments, expected in (
        (["daemon", "run"], "daemon []"),
        (["daemon", "stop"], "cli ['daemon', 'stop'] []"),
        (["daemon", "run", "--help"], "cli ['daemon', 'run', '--help'] []"),
    ):
        command = [sys.executable, "-I", str(tmp_path / "boot.py"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout.strip() == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_tidies_up_and_says_nothing_of_its_inside(
    repository: Path, tmp_path: Path, number: signal.Signals
) -> None:
    shutil.copy(repository / "daemon/boot.py", tmp_path)
    (tmp_path / "ultan" / "cli").mkdir(parents=True)
    busy = "    print('ready', flush=True)\n    sys.stdin.read()\n"
    told = f"import sys\ntry:\n{busy}finally:\n    print('tidied up')\n"
    (tmp_path / "ultan/cli/main.py").write_text(told)
    command = [sys.executable, "-I", str(tmp_path / "boot.py"), "demo"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (130, "tidied up\n", "")
