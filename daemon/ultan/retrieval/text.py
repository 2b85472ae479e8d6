"""What of an entry is ranked: the text that is embedded, the words that are counted, the hash of both."""

from __future__ import annotations

import hashlib

from ultan.library.entry import Entry
from ultan.wire.tokens import counts

# The embedder reads about 2,000 characters; what stands further down can still be found by its words.
EMBEDDED_CHARACTERS = 8000


def embedded_text(entry: Entry) -> str:
    """Title, when it applies, body: what a vector stands for."""
    head = f"{entry.title}. {entry.applies_when}" if entry.applies_when else entry.title
    return f"{head}\n{entry.body[:EMBEDDED_CHARACTERS]}".strip()


def has_text(entry: Entry) -> bool:
    """Whether there is anything to embed."""
    return bool(entry.title.strip() or entry.applies_when.strip() or entry.body.strip())


def text_hash(entry: Entry) -> str:
    """Changes when, and only when, a text changes that is embedded or counted."""
    parts = (entry.title, entry.applies_when, "\x1f".join(entry.tags), entry.body)
    return hashlib.sha256("\x1e".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def word_counts(entry: Entry) -> dict[str, int]:
    """How often the entry holds each token."""
    return counts(
        {
            "title": entry.title,
            "applies_when": entry.applies_when,
            "tags": entry.tags,
            "body": entry.body,
        }
    )
