"""Whether a text is in a script that an English model has learnt."""

from __future__ import annotations

import unicodedata

SAMPLE_CHARACTERS = 4000
# Above this share of foreign letters an English model's opinion is one of two; above the second it is none.
DOUBTFUL_SHARE = 0.15
FOREIGN_SHARE = 0.5


def foreign_share(text: str) -> float:
    """The share of letters (and letter-like signs) that are not Latin; 0 for a text without letters."""
    sample = text[:SAMPLE_CHARACTERS]
    if sample.isascii():
        return 0.0
    letters = [char for char in sample if char.isalpha()]
    foreign = sum(1 for char in letters if not char.isascii() and not _is_latin(char))
    return foreign / len(letters) if letters else 0.0


def _is_latin(char: str) -> bool:
    return unicodedata.name(char, "").startswith("LATIN")
