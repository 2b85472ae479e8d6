"""read, list, add, lint, undo, log, on, off and why, on a small library."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from ultan.cli.main import main
from ultan.wire import recall, settings
from ultan.wire.home import Home

FRIDAY = "global/deploy/no-friday-deploys"


def give(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Put a text on standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))


def test_read_prints_the_file_as_it_is(library: Home, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = Path(library.knowledge, FRIDAY + ".md")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"\xff")
    assert main(["read", FRIDAY]) == 0
    assert capfdbinary.readouterr().out == path.read_bytes()


def test_read_gives_fields_and_text_as_json(ultan: Any, library: Home) -> None:
    value = ultan("read", FRIDAY + ".md", "--json").value
    assert (value["id"], value["type"], value["body"]) == (FRIDAY, "preference", "Wait for Monday.\n")
    assert value["text"].startswith("---\n")


def test_read_of_a_mistyped_id_names_the_near_ones(ultan: Any, library: Home) -> None:
    ran = ultan("read", "global/deploy/no-friday-deploy")
    assert ran.code == 1
    assert FRIDAY in ran.err


@pytest.mark.parametrize("id", ["../../etc/passwd", "/etc/passwd", "a\0b", ""])
def test_read_stays_inside_the_library(ultan: Any, library: Home, id: str) -> None:
    assert ultan("read", id).code == 1


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ((), [FRIDAY, "global/python/use-uv", "projects/shop/api/cursor"]),
        (("--scope", "global"), [FRIDAY, "global/python/use-uv"]),
        (("--scope", "shop"), ["projects/shop/api/cursor"]),
        (("--scope", "project"), ["projects/shop/api/cursor"]),
        (("--type", "convention"), ["global/python/use-uv"]),
        (("--tag", "Warning"), ["projects/shop/api/cursor"]),
        (("--status", "stale"), []),
    ],
)
def test_list_shows_what_is_asked_for(
    ultan: Any, library: Home, options: tuple[str, ...], ids: list[str]
) -> None:
    value = ultan("list", *options, "--json").value
    assert [entry["id"] for entry in value["entries"]] == ids
    assert value["total"] == 3


def test_list_in_a_pipe_is_one_entry_a_line(ultan: Any, library: Home) -> None:
    rows = [line.split("\t") for line in ultan("list").out.splitlines()]
    assert [row[0] for row in rows] == [FRIDAY, "global/python/use-uv", "projects/shop/api/cursor"]


def test_an_empty_library_says_how_to_begin(ultan: Any, home: Home) -> None:
    assert "ultan add" in ultan("list").out


def test_add_saves_word_for_word_and_undo_takes_it_back(ultan: Any, home: Home, tmp_path: Path) -> None:
    text = 'we use "uv" here, `never` pip\nand  two  spaces'
    added = ultan("add", text, "--scope", "global", "--cwd", str(tmp_path), "--json").value
    path = Path(home.knowledge, added["id"] + ".md")
    assert text in path.read_text()
    assert json.loads(ultan("log", "--json").out)["batches"][0]["id"] == added["batch"]

    would = ultan("undo", "--dry-run", "--json").value["would_undo"]
    assert would["id"] == added["batch"] and path.exists()
    assert ultan("undo", "").code == ultan("undo", "", "--dry-run").code == 1  # not the last one
    assert ultan("undo", added["batch"][:4]).code == 0
    assert not path.exists()
    assert ultan("undo").code == 1


def test_add_refuses_a_folder_that_can_be_none(ultan: Any, home: Home) -> None:
    ran = ultan("add", "use uv", "--folder", "../..")
    assert ran.code == 1 and "cannot be a path" in ran.err
    assert not Path(home.spool).exists()


def test_add_reads_standard_input(ultan: Any, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, "never deploy on a Friday\n")
    assert "Saved word for word" in ultan("add", "-", "--scope", "global").out


def test_add_says_what_the_library_says_already(ultan: Any, home: Home) -> None:
    first = ultan("add", "never deploy on a Friday", "--scope", "global", "--json").value
    again = ultan("add", "never deploy on a Friday", "--scope", "global", "--json")
    assert again.code == 1
    assert (again.value["kind"], again.value["id"]) == ("duplicate", first["id"])
    assert ultan("add", "never deploy on a Friday", "--scope", "global", "--force").code == 0


def test_add_takes_the_persons_choices(ultan: Any, home: Home) -> None:
    chosen = ("--type", "warning", "--title", "Mind the gap", "--scope", "global", "--folder", "trains/doors")
    value = ultan("add", "The gap is wide at platform 4", *chosen, "--json").value
    assert value["id"] == "global/trains/doors/mind-the-gap"
    assert (value["type"], value["title"]) == ("warning", "Mind the gap")


def test_add_keeps_no_secret_and_says_so(ultan: Any, home: Home) -> None:
    secret = "ghp_" + "a1B2c3D4" * 5
    ran = ultan("add", f"the token is {secret}", "--scope", "global")
    assert "is not stored" in ran.out and secret not in ran.out
    assert all(secret not in path.read_text() for path in Path(home.root).rglob("*") if path.is_file())


def test_add_of_nothing_saves_nothing(ultan: Any, home: Home) -> None:
    ran = ultan("add", "  ", "--json")
    assert (ran.code, ran.value["ok"]) == (1, False)


def test_lint_names_place_code_and_remedy(ultan: Any, library: Home) -> None:
    assert ultan("lint").code == 0
    Path(library.knowledge, "global", "broken.md").write_text("---\ntitle: x\n---\nsee [[nowhere]]\n")
    ran = ultan("lint")
    assert ran.code == 1
    assert ran.out.startswith("global/broken.md:4: broken-link: ")
    value = ultan("lint", "--json").value
    assert value["problems"][0] | {"message": "", "fix": ""} == {
        "path": "global/broken.md",
        "line": 4,
        "code": "broken-link",
        "level": "error",
        "message": "",
        "fix": "",
    }


def test_a_full_folder_is_advice_and_no_error(ultan: Any, library: Home) -> None:
    for number in range(6):
        Path(library.knowledge, "global", "deploy", f"n{number}.md").write_text("---\ntitle: x\n---\ny\n")
    ran = ultan("lint", "--json")
    assert (ran.code, ran.value["ok"]) == (0, True)
    assert ran.value["counts"]["full-folder"] == 1


def test_off_and_on_reach_the_very_next_hook(ultan: Any, home: Home) -> None:
    assert ultan("off", "--json").value["changed"] is True
    assert settings.load(home).current and not settings.load(home).daemon
    assert ultan("off", "--json").value["changed"] is False
    assert ultan("on").code == 0
    assert settings.load(home).daemon


def test_off_says_when_the_settings_have_another_mistake(ultan: Any, home: Home) -> None:
    Path(home.config).write_text("oped_in = true\n")
    ran = ultan("off")
    assert ran.code == 0
    assert "oped_in" in ran.out and "opt_in" in ran.out


def test_why_tells_the_story_of_the_newest_prompt(ultan: Any, home: Home) -> None:
    assert ultan("why").code == 1
    candidates: list[dict[str, Any]] = [
        {"id": FRIDAY, "scores": {"dense": 0.71}, "probability": 0.9, "cut": None},
        {"id": "global/x", "scores": {"dense": 0.2}, "probability": 0.1, "cut": "below threshold"},
    ]
    record = recall.line(
        "daemon", "s-1", "p-1", "shop", "deploy on Friday?", candidates, {"total": 12.0}, 1e9
    )
    recall.append(home, record)
    out = ultan("why", "--session", "s-1").out
    assert "deploy on Friday?" in out and "below threshold" in out and "0.71" in out
    value = ultan("why", "--prompt-id", "p-1", "--json").value
    held = [
        {name: item[name] for name in told}
        for item, told in zip(value["candidates"], candidates, strict=True)
    ]
    assert held == candidates and value["ok"] is True
    assert ultan("why", "--session", "other", "--json").value == {"ok": False, "found": False}
