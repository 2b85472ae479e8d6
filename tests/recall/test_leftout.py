"""Why a stage said nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from ultan.library.config import Config
from ultan.recall.engine import Engine
from ultan.recall.leftout import left_out
from ultan.retrieval.models import Vector
from ultan.wire.home import Home

PROMPT = "shall we deploy to production on Friday?"


@dataclass
class Model:
    english_only: bool = True


@pytest.mark.parametrize(
    ("text", "unasked", "keeps", "why"),
    [
        (PROMPT, ["some"], {}, "not weighed by the gate"),
        ("金曜日に本番へ出してもいいですか", [], {}, "a script it does not know"),
        (PROMPT, [], {"some": False}, "no vectors yet"),
        (PROMPT, [], {"some": True}, "no time"),
        (PROMPT, [], {}, "no time"),
        ("deploy Friday", [], {}, "too short a prompt"),
    ],
)
def test_each_stage_that_was_silent_has_its_reason(
    text: str, unasked: list[str], keeps: dict[str, bool], why: str
) -> None:
    assert left_out(text, {"some": Model()}, ["bm25"], unasked, keeps) == {"some": why}


def test_a_stage_without_a_model_says_so_and_one_that_spoke_is_not_told() -> None:
    assert left_out(PROMPT, {"dense": Model(), "late": None}, ["bm25", "dense"]) == {"late": "no model"}


class Latin:
    """A stand-in for a model of English: the counts of letters."""

    id, dims, english_only = "latin/1", 26, True

    def embed_query(self, text: str) -> Vector:
        counts = np.array([text.lower().count(chr(97 + n)) for n in range(26)], dtype=np.float32) + 0.01
        return counts / np.linalg.norm(counts)

    embed_document = embed_query


def test_the_record_of_a_prompt_says_what_was_left_out_and_why(home: Home) -> None:
    path = Path(home.knowledge, "global/friday.md")
    path.parent.mkdir(parents=True)
    path.write_text("---\ntitle: No deploys on Fridays\ntype: preference\n---\n金曜日 deploy.\n")
    engine = Engine(home, Config(), Latin())
    engine.refresh()
    assert engine.prime(PROMPT).record["left_out"] == {"late": "no model", "rerank": "no model"}
    assert engine.prime("金曜日に本番へ出してもいいですか").record["left_out"]["dense"] == (
        "a script it does not know"
    )
    assert engine.prime("").record["left_out"] == {}
