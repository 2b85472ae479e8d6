"""`/ultan` and its relatives, typed into the real client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from offline_client.client import conversation
from stage import FRIDAY, Stage

TEXTS = [
    "use \"uv\", not 'pip', and don't ask",
    "run `date` before each release and `rm -rf $(pwd)/x` never",
    "cost is $(touch @@SENTINEL@@) euros",
    "'; touch @@SENTINEL@@; \" && touch @@SENTINEL@@",
    "two\nlines,\n\n   the third indented\tand tabbed",
    "--help",
    "!`touch @@SENTINEL@@`",
    "${HOME} and $1 and $ARGUMENTS and ${CLAUDE_PLUGIN_ROOT}",
    "本番では絶対に --force を使わない",
]


@dataclass
class Remembered:
    """A session of nothing but `/ultan`: what was typed, what was saved, what the model was told."""

    typed: list[str]
    saved: list[str]
    told: list[str]
    sentinel: Path


@pytest.fixture(scope="module", params=["newest", "oldest"])
def remembered(request: pytest.FixtureRequest, stages: Callable[[str], Stage]) -> Remembered:
    stage = stages(request.getfixturevalue("program" if request.param == "newest" else "oldest"))
    sentinel = stage.folder / "sentinel"
    typed = [text.replace("@@SENTINEL@@", str(sentinel)) for text in TEXTS]
    told = []
    with stage.session() as session:
        for number, text in enumerate(typed):
            session.say(("/ultan " if number % 2 else "/ultan:ultan ") + text)
            told.append(conversation(session.requests[-1]))
    return Remembered(typed, stage.notes(), told, sentinel)


def test_what_was_typed_is_saved_verbatim(remembered: Remembered) -> None:
    assert sorted(body.removesuffix("\n") for body in remembered.saved) == sorted(remembered.typed)


def test_nothing_that_was_typed_is_run(remembered: Remembered) -> None:
    assert not remembered.sentinel.exists()


def test_the_model_is_told_what_was_saved_and_how_to_undo_it(remembered: Remembered) -> None:
    for number, text in enumerate(remembered.told, 1):
        assert text.count("saved word for word as") == number
        assert text.count("To take it back: ultan undo") == number


def test_no_text_saves_nothing_and_says_how_it_is_used(stage: Stage) -> None:
    with stage.session() as session:
        session.say("/ultan   ")
        assert "Nothing was saved" in conversation(session.requests[-1])
    assert stage.notes() == []


def test_a_secret_in_a_note_is_not_stored(stage: Stage) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"
    with stage.session() as session:
        session.say(f"/ultan the deploy token is {secret}")
        assert "secret" in conversation(session.requests[-1])
    assert len(stage.notes()) == 1
    assert secret not in stage.kept()


def test_off_stops_listening_and_on_resumes_it(stage: Stage) -> None:
    with stage.session() as session:
        session.say("/ultan-off")
        assert "is now off" in conversation(session.requests[-1])
        before = len(stage.events())
        session.say("the unheard prompt")
        assert len(stage.events()) == before
        session.say("/ultan kept even while off")
        session.say("/ultan-on")
        session.say("the heard prompt")
    assert stage.notes() == ["kept even while off\n"]
    assert "the unheard prompt" not in stage.kept()
    assert any(event.get("prompt") == "the heard prompt" for event in stage.events())


def test_why_tells_what_was_weighed_for_the_last_prompt(stage: Stage) -> None:
    stage.write(FRIDAY)
    with stage.session() as session:
        session.say("shall we deploy to production this Friday?")
        session.say("/ultan-why")
        answer = conversation(session.requests[-1]).rpartition("Ultan (the user's library)")[2]
    assert "global/deploy/no-friday-deploys: shown" in answer
