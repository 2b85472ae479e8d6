"""What was shown is shown again once the context has lost it, in that session only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import CASES, fill, run_hook
from ultan.wire.home import Home

CASE = CASES / "retrieval-after-compaction"
PAYLOADS = [json.loads(line) for line in (CASE / "payloads.jsonl").read_text("utf-8").splitlines()]


def primed(payloads: list[dict[str, Any]]) -> dict[str, bool]:
    return {
        given["prompt_id"]: bool(ran.context)
        for given, ran in [(given, run_hook(given)) for given in payloads]
        if given["hook_event_name"] == "UserPromptSubmit"
    }


def test_a_compacted_or_cleared_context_may_see_it_again(home: Home) -> None:
    fill(home, CASE / "knowledge")
    wanted = {"1": True, "2": False, "z1": True, "5": True, "6": False, "z2": False, "9": True}
    assert primed(PAYLOADS) == wanted


@pytest.mark.parametrize("left_out", [3, 4])
def test_either_event_of_a_compaction_is_enough(home: Home, left_out: int) -> None:
    fill(home, CASE / "knowledge")
    found = primed([given for number, given in enumerate(PAYLOADS) if number != left_out])
    assert found["5"] and not found["6"] and not found["z2"]


def test_the_end_of_a_compaction_is_enough_too(home: Home) -> None:
    fill(home, CASE / "knowledge")
    end = {"hook_event_name": "PostCompact", "session_id": "Y", "trigger": "auto", "cwd": "/home/dev/shop"}
    assert primed([PAYLOADS[0], PAYLOADS[1], end, PAYLOADS[5]]) == {"1": True, "2": False, "5": True}


def test_a_compaction_of_a_session_that_saw_nothing_leaves_no_file(home: Home) -> None:
    run_hook(PAYLOADS[3])
    run_hook(PAYLOADS[4])
    assert not Path(home.recall).exists()
