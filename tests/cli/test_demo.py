"""The demo: its script, its judgement, and the whole of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ultan.cli.demo import play, view
from ultan.cli.demo.script import FRIDAY, SECRET, SESSION, START, Step, faults, payload
from ultan.cli.demo.stage import SAMPLE, Stage, environment, understood
from ultan.library.lint import lint
from ultan.library.scopes import project_for
from ultan.library.store import Store
from ultan.wire.home import Home
from ultan.wire.project import identities
from ultan.wire.redact import redact


@pytest.fixture
def stage(repository: Path) -> Any:
    built = Stage.build(repository)
    yield built
    built.close(keep=False)
    assert not built.folder.exists()


def test_the_sample_library_is_in_order(home: Home) -> None:
    Path(home.knowledge).symlink_to(SAMPLE)
    snapshot = Store(home).scan()
    assert len(snapshot.entries) >= 25
    assert [p for p in lint(snapshot, 1_796_000_000.0) if p.code != "full-folder"] == []


def test_every_note_that_the_script_expects_is_in_the_sample() -> None:
    for step in SESSION:
        assert all((SAMPLE / f"{id}.md").is_file() for id in (*step.any_of, *step.none_of))


def test_the_demos_repository_is_a_project_of_the_sample(home: Home, tmp_path: Path, stage: Stage) -> None:
    snapshot = Store(stage.home).scan()
    assert project_for(snapshot, identities(str(stage.project))) == "tidepool"


def test_the_made_up_key_is_one_that_is_redacted() -> None:
    assert SECRET not in redact(f"STRIPE_KEY={SECRET}")


def test_inputs_have_the_form_that_the_client_sends(repository: Path) -> None:
    for step in (START, *SESSION):
        real = json.loads((repository / "tests/cases/payloads" / f"{step.event}.json").read_text())
        played = payload(step, "/home/dev/tidepool", 1, play.SESSION_ID)
        assert set(played) <= set(real) | {"prompt_id"}, step.title


@pytest.mark.parametrize(
    ("expected", "seen", "wrong"),
    [
        ({"silent": True}, "", 0),
        ({"silent": True}, "something", 1),
        ({"any_of": (FRIDAY, "x")}, f"- [P] No deploys ({FRIDAY}): ...", 0),
        ({"any_of": (FRIDAY,)}, "", 1),
        ({"none_of": (FRIDAY,)}, f"- ({FRIDAY})", 1),
        ({"none_of": (FRIDAY,)}, "- (global/other)", 0),
        ({"says": "respx"}, "... respx ...", 0),
        ({"says": "respx"}, "", 1),
    ],
)
def test_a_step_is_judged_by_what_the_agent_saw(expected: dict[str, Any], seen: str, wrong: int) -> None:
    assert len(faults(Step("t", "s", "e", **expected), seen)) == wrong


def test_what_is_no_hook_output_is_a_fault() -> None:
    good = b'{"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "a"}}\n'
    assert understood(good, "Stop") == ("a", "")
    assert understood(b"", "Stop") == ("", "")
    denied = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}
    assert understood(json.dumps({"hookSpecificOutput": denied}).encode(), "PreToolUse") == ("deny: no", "")
    assert understood(good, "SessionEnd")[1] and understood(b"hello", "Stop")[1]


def test_the_persons_own_home_is_out_of_reach(tmp_path: Path) -> None:
    found = environment(
        tmp_path, {"AGENT_MEM_HOME": "/home/ada/.agent-mem", "HOME": "/home/ada", "SOME_KEY": "x"}
    )
    assert found["AGENT_MEM_HOME"] == str(tmp_path / "home")
    assert "SOME_KEY" not in found


def test_hooks_without_a_daemon_are_judged_too(stage: Stage) -> None:
    stage.index()
    (Path(stage.environ["ULTAN_RUNTIME"]) / "current.json").unlink()
    step = next(step for step in SESSION if FRIDAY in step.any_of)
    heard = stage.hook(step.script, payload(step, str(stage.project), 1, play.SESSION_ID))
    assert faults(step, heard.seen) == [] and heard.fault == ""


def test_a_path_with_a_space_can_be_pasted() -> None:
    assert (
        view.loading(Path("/home/ada/my plugins/ultan"))[0]
        == 'claude --plugin-dir "/home/ada/my plugins/ultan"'
    )


def test_the_whole_demo_is_as_it_should_be(repository: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "TMPDIR": str(tmp_path), "ULTAN_ROOT": str(repository)}
    done = subprocess.run(
        [sys.executable, "-I", str(repository / "daemon" / "boot.py"), "demo", "--json"],
        env=environ,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.stderr == b""
    found = json.loads(done.stdout)
    assert found["failed"] == [] and found["ok"] is True, found
    assert done.returncode == 0
    assert SECRET not in done.stdout.decode()
    assert found["events"] >= sum(step.event != "PreToolUse" for step in SESSION) - 3
    assert list(tmp_path.glob("ultan-demo-*")) == []
    assert not Path(os.environ["AGENT_MEM_HOME"]).exists()
