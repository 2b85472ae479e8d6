"""The plugin where most people use it: the client in a terminal, with typing and pasting."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from offline_client.terminal import PASTE, PASTE_END
from stage import FRIDAY, Stage, wait_for

PASTED = "".join(f'  row {number} "$(date)" `id`\n' for number in range(30)) + "the last row"


def turns(stage: Stage) -> int:
    """How many turns have come to their end."""
    return sum(event["event"] == "Stop" for event in stage.events())


@pytest.mark.parametrize("which", ["program", "oldest"])
def test_typed_and_pasted_notes_are_saved_and_prompts_are_heard(
    request: pytest.FixtureRequest, stages: Callable[[str], Stage], which: str
) -> None:
    stage = stages(request.getfixturevalue(which))
    stage.write(FRIDAY)
    with stage.terminal() as terminal:
        wait_for(lambda: bool(stage.events()), "the session's start")
        wait_for(lambda: terminal.shows("❯"), "the prompt line")
        terminal.press("/ultan keep: ")
        wait_for(lambda: terminal.shows("/ultan keep:"), "the typed text")
        terminal.press(PASTE + PASTED + PASTE_END)
        wait_for(lambda: terminal.shows("Pasted text"), "the pasted text")
        terminal.press("\r")
        wait_for(lambda: turns(stage) == 1, "the answer")
        terminal.press("shall we deploy on Friday?")
        wait_for(lambda: terminal.shows("shall we deploy on Friday?"), "the typed prompt")
        terminal.press("\r")
        wait_for(lambda: turns(stage) == 2, "the second answer")
    assert stage.notes() == ["keep: " + PASTED + "\n"]
    prompts = [event["prompt"] for event in stage.events() if event["event"] == "UserPromptSubmit"]
    assert prompts == ["/ultan keep: " + PASTED, "shall we deploy on Friday?"]
