"""A prompt with several tasks is several questions."""

from __future__ import annotations

import pytest
from ultan.retrieval.asked import MOST_TASKS, asked, tasks

ONE = "rename the invoice columns"
TWO = "write release notes for version two"


@pytest.mark.parametrize(
    "prompt",
    [
        f"{ONE}. Also, {TWO}",
        f"{ONE}, then {TWO}",
        f"{ONE} and then {TWO}",
        f"{ONE}! Finally {TWO}",
        f"- {ONE}\n- {TWO}",
        f"Two things:\n1. {ONE}\n2. {TWO}\n3. push",
    ],
)
def test_each_task_is_a_question_beside_the_whole(prompt: str) -> None:
    assert [each.text for each in asked(prompt)] == [prompt, ONE, TWO]


@pytest.mark.parametrize(
    ("prompt", "count"),
    [
        ("Benenne die Spalten der Rechnung um. Außerdem schreibe die Hinweise zur neuen Version", 2),
        ("Renomme les colonnes de la facture, puis rédige les notes de version", 2),
        ("Cambia los nombres de las columnas. Después escribe las notas de la versión", 2),
        ("重命名发票表的列，然后写第二版的发布说明", 2),
    ],
)
def test_tasks_are_told_apart_in_other_languages(prompt: str, count: int) -> None:
    assert len(tasks(prompt)) == count


@pytest.mark.parametrize(
    "prompt",
    [
        f"{ONE} and push it",
        f"Our pipeline takes an hour. {ONE}.",
        "if the build fails then retry it",
        "when x is set, then stop",
        ONE,
        "",
    ],
)
def test_what_is_one_task_stays_one_question(prompt: str) -> None:
    assert tasks(prompt) == []


def test_a_long_list_is_asked_up_to_its_limit() -> None:
    assert len(tasks("\n".join(f"- write chapter number{n} about topic{n}" for n in range(30)))) == MOST_TASKS
