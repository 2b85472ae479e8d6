"""What each question is answered, and what those that wait get."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from light_daemon import LightEngine
from support import BOUND_SECONDS
from ultan.service import answers
from ultan.service.answers import Answers, Controls
from ultan.wire.home import Home

NOW = 1_796_000_000.0


class Desk:
    """Answers whose engine is light, and whose controls note that they were used."""

    def __init__(self, home: Home, ready: bool = True) -> None:
        self.used: list[str] = []
        self.versions: list[str] = []
        self.troubles: list[str] = []
        controls = Controls(
            status=lambda: {"state": "ready"},
            flush=self.flush,
            shutdown=lambda: self.used.append("shutdown"),
            heard_version=self.versions.append,
            changed=lambda: self.used.append("changed"),
            trouble=lambda where, error: self.troubles.append(type(error).__name__),
        )
        self.answers = Answers(home, controls, lambda: NOW)
        if ready:
            self.engine = LightEngine(home)
            self.engine.refresh()
            self.answers.engine = self.engine

    async def flush(self) -> dict[str, Any]:
        return {"behind_bytes": 0}

    async def ask(self, accepted: float | None = None, **fields: Any) -> dict[str, Any]:
        raw = json.dumps({"v": 1, **fields}).encode()
        moment = time.monotonic() if accepted is None else accepted
        return dict(json.loads(await asyncio.wait_for(self.answers.answer(raw, moment), BOUND_SECONDS)))

    def ask_now(self, **fields: Any) -> dict[str, Any]:
        return asyncio.run(self.ask(**fields))


@pytest.fixture
def library(home: Home) -> Home:
    folder = Path(home.knowledge, "global")
    folder.mkdir(parents=True)
    (folder / "use-uv.md").write_text("---\ntitle: Use uv\n---\nAlways use uv, never pip.\n")
    (folder / "fridays.md").write_text("---\ntitle: No deploys on Fridays\n---\nWait for Monday.\n")
    return home


def refused(answer: dict[str, Any]) -> str:
    assert answer["v"] == 1 and answer["ok"] is False and answer["error"]["message"]
    return str(answer["error"]["type"])


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def test_a_prompt_gets_the_entries_that_apply_but_those_shown_before(library: Home) -> None:
    desk = Desk(library)
    assert ids(desk.ask_now(op="prime", prompt="shall I use uv", session_id="s")["entries"]) == [
        "global/use-uv"
    ]
    assert desk.ask_now(op="prime", prompt="shall I use uv", exclude=["global/use-uv"])["entries"] == []


def test_search_and_read(library: Home) -> None:
    desk = Desk(library)
    assert ids(desk.ask_now(op="search", text="use pip.", limit=1)["results"]) == ["global/use-uv"]
    assert desk.ask_now(op="read", id="global/fridays")["entry"]["title"] == "No deploys on Fridays"
    assert refused(desk.ask_now(op="read", id="global/none")) == "not-found"


def test_what_is_said_is_saved_and_the_library_looked_at_again(library: Home) -> None:
    desk = Desk(library)
    saved = desk.ask_now(op="remember", text="Never rebase a shared branch.", cwd="", session_id="s")["saved"]
    assert saved["kind"] == "saved" and Path(library.knowledge, saved["id"] + ".md").exists()
    assert desk.used == ["changed"]


def test_before_it_is_ready_it_says_so_at_once_but_knows_its_state(home: Home) -> None:
    desk = Desk(home, ready=False)
    assert refused(desk.ask_now(op="prime", prompt="x")) == "warming"
    assert refused(desk.ask_now(op="search", text="x")) == "warming"
    assert refused(desk.ask_now(op="read", id="x")) == "warming"
    assert desk.ask_now(op="status")["state"] == "ready"


def test_what_does_not_exist_yet_is_said_honestly(home: Home) -> None:
    assert refused(Desk(home).ask_now(op="advise", question="tabs?")) == "unavailable"


def test_flush_and_shutdown_reach_the_daemon(home: Home) -> None:
    desk = Desk(home)
    assert desk.ask_now(op="flush")["behind_bytes"] == 0
    assert desk.ask_now(op="shutdown")["ok"] is True
    assert desk.used == ["shutdown"]


def test_an_answer_that_nobody_waits_for_any_more_is_not_worked_out(library: Home) -> None:
    desk = Desk(library)
    desk.engine.prime = lambda *_, **__: pytest.fail("it was worked out")  # type: ignore[method-assign]  # a trap
    answer = asyncio.run(desk.ask(accepted=time.monotonic() - 1, op="prime", prompt="x", deadline_ms=500))
    assert refused(answer) == "late"


def test_while_the_workers_are_busy_the_state_is_still_told_and_too_many_are_refused(
    library: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_WAITING", 3)
    desk, free = Desk(library), threading.Event()

    def wait(text: str, *_: object) -> list[dict[str, Any]]:
        free.wait(BOUND_SECONDS)
        return []

    desk.engine.search = wait  # type: ignore[method-assign]  # an engine that is stuck

    async def play() -> None:
        busy = [asyncio.create_task(desk.ask(op="search", text="x")) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert (await desk.ask(op="status"))["ok"]
        assert refused(await desk.ask(op="search", text="x")) == "busy"
        free.set()
        assert all(answer["ok"] for answer in await asyncio.gather(*busy))

    asyncio.run(play())


def test_a_mistake_of_the_engine_is_refused_without_words_of_the_prompt(library: Home) -> None:
    desk = Desk(library)

    def fail(*_: object, **__: object) -> None:
        raise ValueError("secret prompt")

    desk.engine.prime = fail  # type: ignore[method-assign, assignment]  # a broken engine
    answer = desk.ask_now(op="prime", prompt="secret prompt")
    assert refused(answer) == "failed" and "secret" not in json.dumps(answer)
    assert desk.troubles == ["ValueError"]


def test_the_version_of_who_asks_is_noted_also_when_the_question_is_refused(home: Home) -> None:
    desk = Desk(home)
    desk.ask_now(op="status", client_version="9.0.0")
    desk.ask_now(op="new", client_version="9.1.0")
    assert desk.versions == ["9.0.0", "9.1.0"]
    assert desk.answers.counts.asked == {"status": 1}
    assert desk.answers.counts.refused == {"unknown-op": 1}


def test_asking_for_the_state_does_not_count_as_use(home: Home) -> None:
    desk = Desk(home)
    desk.answers.last_asked = 0.0
    desk.ask_now(op="status")
    assert desk.answers.last_asked == 0.0
    desk.ask_now(op="search", text="x")
    assert desk.answers.last_asked == NOW
