"""The gate of a home: the sets that the person fitted, for a model of theirs, before those that ship."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ultan.retrieval import gate
from ultan.retrieval.evidence import NAMES
from ultan.wire.home import Home


def of_home(home: Home, embedder_id: str | None, english_only: bool = True) -> tuple[gate.Gate, str]:
    """The gate, and what is wrong with the person's own: then the one that ships is used."""
    try:
        own, note = own_sets(Path(home.gate)), ""
    except Unusable as error:
        own, note = {}, f"{home.gate} is not used, it {error}: `ultan eval fit-gate` fits it again."
    return gate.load(embedder_id, english_only, own=own), note


class Unusable(ValueError):
    """The file is no gate, or one for other evidence."""


def own_sets(path: Path) -> dict[str, Any]:
    """The sets of a file by model; none where there is no such file. Raises Unusable."""
    try:
        sets: dict[str, Any] = json.loads(path.read_text("utf-8"))["sets"]
        unknown = {name for one in sets.values() for name in gate.logistic(one).weights} - set(NAMES)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        raise Unusable(f"cannot be read ({type(error).__name__}: {error})") from error
    if unknown:
        raise Unusable(f"weighs {', '.join(sorted(unknown))}, unknown to this version")
    return sets
