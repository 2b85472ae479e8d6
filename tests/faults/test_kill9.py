"""The daemon is killed at random moments under load; nothing is lost, doubled or half-written."""

from __future__ import annotations

import random
from pathlib import Path

from kill9 import Trial, broken_files
from ultan.wire.home import Home

ROUNDS = 20


def test_twenty_kills_under_load_lose_double_and_break_nothing(home: Home) -> None:
    trial = Trial(home, random.Random())
    assert trial.run(ROUNDS) == [], Path(home.daemon_log).read_text()[-4000:]
    assert sum(trial.kills.values()) == ROUNDS
    assert all(trial.written.values()) and trial.saved and trial.put_away()


def test_the_trial_notices_what_is_lost_doubled_or_broken(home: Home) -> None:
    trial = Trial(home, random.Random())
    trial.written["session-0"] = ["never delivered"]
    trial.saved.append("never saved")
    assert len(list(trial._lost_or_doubled())) == 2
    Path(home.catalog).write_text("{")
    Path(home.events).write_text('{"torn')
    Path(home.knowledge).mkdir()
    Path(home.knowledge, "a.md").write_text("---\ntitle: [\n---\n")
    assert len(list(broken_files(home))) == 4
