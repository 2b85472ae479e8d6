"""The hooks in a hostile place: an odd folder, a bare environment, no Python, a broken or a foreign one."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ODD_FOLDER = "ultan c34/dev's plug-in (β) [x]/ultan"
BOUND_SECONDS = 20


@pytest.fixture
def plugin(repository: Path, tmp_path: Path) -> Path:
    """A copy of the plugin in a folder whose name a shell would take apart."""
    return copy(repository, tmp_path / ODD_FOLDER)


def copy(repository: Path, target: Path) -> Path:
    for folder in ("hooks", "daemon/ultan/wire"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(repository / folder, target / folder, ignore=ignore)
    (target / "daemon" / "ultan" / "__init__.py").touch()
    return target


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """All that a desktop launch may leave."""
    user = tmp_path / "bare"
    user.mkdir()
    return {"PATH": "/usr/bin:/bin", "HOME": str(user), "AGENT_MEM_HOME": str(user / ".agent-mem")}


def payload(event: str) -> str:
    return json.dumps(
        {
            "session_id": "s-1",
            "prompt_id": "p-1",
            "transcript_path": "/home/dev/.claude/projects/x/s-1.jsonl",
            "cwd": "/home/dev/shop",
            "hook_event_name": event,
            "source": "startup",
            "prompt": "hello",
        }
    )


def run(argv: list[str], environment: dict[str, str], event: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        env=environment,
        input=payload(event),
        capture_output=True,
        text=True,
        timeout=BOUND_SECONDS,
        cwd="/",
    )


def recorded(environment: dict[str, str]) -> list[str]:
    path = Path(environment["AGENT_MEM_HOME"], "events.jsonl")
    return [json.loads(line)["event"] for line in path.read_text().splitlines()] if path.exists() else []


def elsewhere(plugin: Path, places: Path) -> Path:
    """The runner, with every usual place of an interpreter moved below `places`."""
    runner = plugin / "hooks" / "run"
    # What follows a closing bracket is a path below the folder of the developer tools.
    text = re.sub(r"(?<!\))/(opt/homebrew|usr/local|usr)/bin", rf"{places}\g<0>", runner.read_text())
    runner.write_text(text)
    return runner


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text + "\n")
    path.chmod(0o755)
    return path


def test_every_hook_runs_its_own_script_in_an_odd_folder_and_a_bare_environment(
    plugin: Path, environment: dict[str, str]
) -> None:
    groups = json.loads((plugin / "hooks" / "hooks.json").read_text())["hooks"]
    for event, found in groups.items():
        handler = found[0]["hooks"][0]
        argv = [part.replace("${CLAUDE_PLUGIN_ROOT}", str(plugin)) for part in handler["args"]]
        done = run([handler["command"], *argv], environment, event)
        assert (done.returncode, done.stderr) == (0, ""), event
        assert done.stdout == "" or json.loads(done.stdout), event
    assert recorded(environment) == [event for event in groups if event != "PreToolUse"]


def test_a_hook_behind_another_shell_still_finds_its_script(
    plugin: Path, environment: dict[str, str]
) -> None:
    line = shlex.join(["/bin/sh", str(plugin / "hooks" / "run"), "user_prompt_submit"])
    assert run(["/bin/sh", "-c", line], environment, "UserPromptSubmit").returncode == 0
    assert recorded(environment) == ["UserPromptSubmit"]


def test_a_second_copy_goes_on_where_the_first_was_removed(
    plugin: Path, repository: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    run(["/bin/sh", str(plugin / "hooks" / "run"), "session_start"], environment, "SessionStart")
    shutil.rmtree(plugin)
    other = copy(repository, tmp_path / "newer")
    run(["/bin/sh", str(other / "hooks" / "run"), "user_prompt_submit"], environment, "UserPromptSubmit")
    assert recorded(environment) == ["SessionStart", "UserPromptSubmit"]


@pytest.mark.parametrize("missing", ["hooks/stop.py", "daemon"])
def test_half_a_plugin_says_nothing_and_fails_nothing(
    plugin: Path, environment: dict[str, str], missing: str
) -> None:
    target = plugin / missing
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    done = run(["/bin/sh", str(plugin / "hooks" / "run"), "stop"], environment, "Stop")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_a_python_the_person_is_told_once_a_session(
    plugin: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    runner = elsewhere(plugin, tmp_path / "empty")
    environment["PATH"] = str(tmp_path / "empty")
    told = run(["/bin/sh", str(runner), "session_start"], environment, "SessionStart")
    assert told.returncode == 0
    assert "Python 3.9" in json.loads(told.stdout)["systemMessage"]
    for _ in range(2):
        done = run(["/bin/sh", str(runner), "user_prompt_submit"], environment, "UserPromptSubmit")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["python3.12", "python3"])
@pytest.mark.parametrize("fault", ["exit 2", "echo noise >&2; exit 1", "kill -9 $$"])
def test_a_broken_python_costs_no_prompt(
    plugin: Path, environment: dict[str, str], tmp_path: Path, name: str, fault: str
) -> None:
    program(tmp_path / "places" / "usr" / "bin" / name, fault)
    runner = elsewhere(plugin, tmp_path / "places")
    environment["PATH"] = str(tmp_path / "nothing")
    done = run(["/bin/sh", str(runner), "user_prompt_submit"], environment, "UserPromptSubmit")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_old_python_is_passed_over_for_a_newer_one_further_on(
    plugin: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    program(tmp_path / "places" / "usr" / "bin" / "python3", "exit 1")  # what a Python 3.8 answers when asked
    program(tmp_path / "later" / "python3", f'exec {shlex.quote(sys.executable)} "$@"')
    runner = elsewhere(plugin, tmp_path / "places")
    environment["PATH"] = str(tmp_path / "later")
    run(["/bin/sh", str(runner), "user_prompt_submit"], environment, "UserPromptSubmit")
    assert recorded(environment) == ["UserPromptSubmit"]


def test_a_python_in_the_persons_own_folder_is_found(
    plugin: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    program(Path(environment["HOME"], ".local/bin/python3.11"), f'exec {shlex.quote(sys.executable)} "$@"')
    runner = elsewhere(plugin, tmp_path / "empty")
    environment["PATH"] = str(tmp_path / "empty")
    run(["/bin/sh", str(runner), "user_prompt_submit"], environment, "UserPromptSubmit")
    assert recorded(environment) == ["UserPromptSubmit"]


@pytest.mark.parametrize("folder", [".", "", "relative/bin"])
def test_a_python_in_the_project_at_hand_is_never_run(
    plugin: Path, environment: dict[str, str], tmp_path: Path, folder: str
) -> None:
    ran = tmp_path / "ran"
    for place in (tmp_path / "project", tmp_path / "project" / "relative" / "bin"):
        program(place / "python3", f"touch {ran}")
        program(place / "python3.12", f"touch {ran}")
    runner = elsewhere(plugin, tmp_path / "empty")
    environment["PATH"] = folder + ":" + folder
    done = subprocess.run(
        ["/bin/sh", str(runner), "stop"], env=environment, cwd=tmp_path / "project", input="{}", text=True
    )
    assert done.returncode == 0
    assert not ran.exists()


@pytest.mark.parametrize("installed", [False, True])
def test_the_stub_that_offers_to_install_tools_is_never_started(
    plugin: Path, environment: dict[str, str], tmp_path: Path, installed: bool
) -> None:
    places, popped_up = tmp_path / "mac", tmp_path / "popped-up"
    tools = tmp_path / "CommandLineTools"
    program(places / "usr" / "bin" / "python3", f"touch {popped_up}")
    if installed:
        program(places / "usr" / "bin" / "xcode-select", f"echo {tools}")
        program(tools / "usr" / "bin" / "python3", f'exec {shlex.quote(sys.executable)} "$@"')
    else:
        program(
            places / "usr" / "bin" / "xcode-select",
            "echo 'unable to get active developer directory' >&2; exit 2",
        )
    runner = elsewhere(plugin, places)
    environment["PATH"] = str(places / "usr" / "bin") + "/:/nowhere"
    done = run(["/bin/sh", str(runner), "user_prompt_submit"], environment, "UserPromptSubmit")
    assert (done.returncode, done.stderr) == (0, "")
    assert recorded(environment) == (["UserPromptSubmit"] if installed else [])
    assert not popped_up.exists()
