"""Why a stage that has a model of its own said nothing about a prompt."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from ultan.retrieval.stages import FEWEST_WORDS, is_foreign

NO_MODEL = "no model"
UNWEIGHED = "not weighed by the gate"
FOREIGN = "a script it does not know"
NO_VECTORS = "no vectors yet"
SHORT = "too short a prompt"
NO_TIME = "no time"


class Reads(Protocol):
    """Any of the models."""

    @property
    def english_only(self) -> bool: ...


def left_out(
    text: str,
    models: Mapping[str, Reads | None],
    spoke: Collection[str],
    unasked: Collection[str] = (),
    keeps: Mapping[str, bool] | None = None,
) -> dict[str, str]:
    """stage -> why it said nothing, for those in `models` that are not in `spoke`.

    models: by stage, None where there is none; unasked: the stages that were not to be asked; keeps: of the
    stages that compare kept vectors, whether there are any. What nothing else explains had no time.
    """
    found = {}
    for stage, model in models.items():
        if stage in spoke:
            continue
        if model is None:
            found[stage] = NO_MODEL
        elif stage in unasked:
            found[stage] = UNWEIGHED
        elif is_foreign(text, model.english_only):
            found[stage] = FOREIGN
        elif keeps is not None and stage in keeps:
            found[stage] = NO_TIME if keeps[stage] else NO_VECTORS
        else:
            found[stage] = SHORT if len(text.split()) < FEWEST_WORDS else NO_TIME
    return found
