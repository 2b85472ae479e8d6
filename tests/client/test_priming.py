"""What reaches the model when the person types a prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from offline_client.client import conversation
from stage import FRIDAY, Stage, blocks

ID = "global/deploy/no-friday-deploys"
RULE = "Never start a production deploy on a Friday"


@dataclass
class Told:
    """What the model had before it at the end of each turn of one session."""

    match: dict[str, Any]
    miss: dict[str, Any]
    again: dict[str, Any]
    after_compaction: dict[str, Any]
    after_clearing: dict[str, Any]


LIBRARY = {
    **FRIDAY,
    "global/python/use-uv": "Use uv for Python environments\nCreate virtualenvs with uv, never with pip.",
    "global/git/small-commits": "Small commits\nOne change a commit, with a message that says why.",
}


def play(stage: Stage) -> Told:
    stage.write(LIBRARY)
    turns = (
        "shall we deploy to production this Friday afternoon?",
        "rename the variable foo to bar",
        "so what about that Friday deploy to production?",
        "/compact",
        "now, deploy to production on Friday or not?",
        "/clear",
        "deploy to production this Friday?",
    )
    last = []
    with stage.session() as session:
        for turn in turns:
            session.say(turn)
            last.append(session.requests[-1])
    return Told(last[0], last[1], last[2], last[4], last[6])


@pytest.fixture(scope="module", params=["newest", "oldest"])
def told(request: pytest.FixtureRequest, stages: Callable[[str], Stage]) -> Told:
    """One session, played in each client."""
    return play(stages(request.getfixturevalue("program" if request.param == "newest" else "oldest")))


def test_a_matching_prompt_carries_the_note_exactly_once(told: Told) -> None:
    assert blocks(told.match) == 1
    assert conversation(told.match).count(ID) == 1
    assert RULE in conversation(told.match)


def test_only_what_applies_is_shown(told: Told) -> None:
    assert "use-uv" not in conversation(told.match)


def test_a_prompt_that_nothing_applies_to_adds_nothing(told: Told) -> None:
    assert blocks(told.miss) == 1  # the one that the first prompt brought


def test_a_note_is_not_repeated_while_the_model_still_has_it(told: Told) -> None:
    assert blocks(told.again) == 1


def test_a_note_comes_again_once_compaction_took_it_away(told: Told) -> None:
    assert blocks(told.after_compaction) == 1
    assert ID in conversation(told.after_compaction)


def test_a_note_comes_again_in_a_cleared_session(told: Told) -> None:
    assert blocks(told.after_clearing) == 1


def test_a_curator_session_is_neither_heard_nor_answered(stage: Stage) -> None:
    stage.write(LIBRARY)
    with stage.session(None, ULTAN_CURATOR="1") as session:
        session.say("shall we deploy to production this Friday afternoon?")
        assert blocks(session.requests[-1]) == 0
    assert stage.events() == []
