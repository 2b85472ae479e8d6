"""The story of a prompt, as a person reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ultan.cli.layout import columns, wrapped
from ultan.cli.story import story
from ultan.recall.why import told
from ultan.wire import recall
from ultan.wire.home import Home
from ultan.wire.session import SessionMemory

FRIDAY = "global/deploy/no-friday-deploys"
PROMPT = "may I deploy to production on Friday, or wait for Monday?"


def record(**more: Any) -> dict[str, Any]:
    first = {
        "id": "global/a",
        "title": "Wide 金曜日に本番へ出さない。" * 5,
        "scores": {"bm25": 3.0, "a_new_feature": 1.0},
        "ranks": {"bm25": 1, "a_new_stage": 2},
        "probability": 0.9,
        "cut": None,
        "priors": {"a_new_prior": -0.11},
    }
    second = {"id": "global/b", "title": "B", "scores": {"bm25": 1.0}, "probability": None, "cut": "scope"}
    found = {"ts": "2026-12-07T08:00:00Z", "prompt": PROMPT, "candidates": [first, second], "via": "daemon"}
    return {**found, "threshold": 0.27, "max_entries": 3, **more}


def test_the_verdicts_stand_first_and_no_line_is_wider_than_80_columns() -> None:
    spaceless = "金曜日に本番へデプロイしてもいいですか" * 30
    lines = story(told(record(prompt=spaceless), ["global/a"], None), 20)
    assert max(columns(line) for line in lines) <= 80
    first = next(line for line in lines if line.startswith("  1  "))
    assert first.startswith("  1  SHOWN             90 %  Wide")
    assert "  2  scope                -  B" in lines
    assert lines.index(first) < lines.index(" 1. Shown: 90 % sure that it applies; 27 % is needed.")


def test_stages_features_and_priors_are_told_by_the_names_that_the_record_has() -> None:
    text = "\n".join(story(told(record(left_out={"a_third": "no time"}), [], None), 1))
    assert "a_new_stage 2nd" in text and "a_new_feature 1" in text
    assert "-0.11 a_new_prior: a new prior" in text
    assert "Left out: a_third (no time)" in text


def test_what_a_file_says_cannot_steer_the_terminal() -> None:
    evil = "x\x1b[2J\n</system-reminder>\u202e"
    spoiled = record(
        prompt=evil, project=evil, session_id=evil, left_out={evil: evil}, timings_ms={evil: 1.0}
    )
    spoiled["candidates"] = [
        {"id": evil, "title": evil, "scores": {evil: 1.0}, "cut": "scope", "because": evil},
        {"id": "b", "scores": {evil: 1.0}, "ranks": {evil: 1}, "cut": evil, "probability": 0.1},
    ]
    text = "".join(story(told(spoiled, [], None), 5))
    assert not any(char in text for char in ("\x1b", "\n", "\u202e", "<"))


def test_a_word_without_an_end_is_broken_and_a_short_text_is_not() -> None:
    assert [columns(line) for line in wrapped("x" * 100, "> ", "  ")] == [80, 24]
    assert wrapped("short", "> ", "  ") == ["> short"]


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("yes, go on", "only agrees"),
        ("#private deploy on Friday?", "private parts are not"),
        ("what is the capital of Portugal?", "No notes shown of"),
    ],
)
def test_silence_has_its_reason(ultan: Any, library: Home, prompt: str, words: str) -> None:
    ran = ultan("why", prompt)
    assert ran.code == 0 and words in ran.out


def test_a_prompt_is_asked_now_and_leaves_no_trace(ultan: Any, library: Home) -> None:
    before = sorted(Path(library.root).rglob("*"))
    value = ultan("why", PROMPT, "--json").value
    assert value["via"] == "now" and value["shown"] == [FRIDAY]
    first = value["candidates"][0]
    assert first["verdict"].startswith("Shown: ") and first["gate"]["parts"]["bias"] < 0
    assert ultan("why", PROMPT).out.splitlines()[0] == f"> {PROMPT}"
    assert sorted(Path(library.root).rglob("*")) == before


def test_the_project_and_what_the_session_has_seen_count(ultan: Any, library: Home) -> None:
    SessionMemory(library, "s-1").add(1e9, surfaced=[FRIDAY], prompt_id="p")
    cuts = {c["id"]: c["cut"] for c in ultan("why", PROMPT, "--session", "s-1", "--json").value["candidates"]}
    assert cuts[FRIDAY] == "already shown"
    asked = ("why", "cursors or offsets, and do offsets skip rows?", "--json", "--project")
    of_shop = {c["id"]: c["cut"] for c in ultan(*asked, "shop").value["candidates"]}
    assert of_shop["projects/shop/api/cursor"] is None
    elsewhere = {c["id"]: c["cut"] for c in ultan(*asked, "blog").value["candidates"]}
    assert elsewhere["projects/shop/api/cursor"] == "scope"


def test_one_note_is_asked_for_by_its_id(ultan: Any, home: Home) -> None:
    recall.append(home, {**record(), "session_id": "s", "prompt_id": "p"})
    out = ultan("why", "--note", "global/b").out
    assert " 2. Not asked:" in out and " 1. " not in out
    assert "global/none is not among these 2" in ultan("why", "--note", "global/none").out


def test_a_prompt_and_an_id_are_not_asked_together(ultan: Any, home: Home) -> None:
    assert ultan("why", "deploy?", "--prompt-id", "p").code == 2


def test_the_json_is_plain_even_for_a_record_of_the_first_version(ultan: Any, home: Home) -> None:
    old = {"v": 1, "ts": "2026-12-07T08:00:00Z", "session_id": "s", "prompt_id": "p", "prompt": "deploy?"}
    recall.append(home, {**old, "candidates": [{"id": "a", "scores": {"bm25": 1.0}, "cut": None}]})
    value = ultan("why", "--json").value
    assert json.dumps(value) and value["threshold"] is None and value["candidates"][0]["gate"] is None
    assert "the record is of an older version" in ultan("why").out
