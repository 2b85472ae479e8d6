"""The part of an entry that a cross-encoder reads: short, and the right one for the question.

A long entry is not cut off: its title and when it applies stay, and of its body the run of sentences that
shares most with the question, the one with the rule where none shares anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ultan.library.entry import Entry
from ultan.library.excerpt import prose, shorten, states_a_rule
from ultan.wire.tokens import tokenize

# About 110 tokens of the model.
LIMIT = 440
HEAD_LIMIT = 200
# Of a very long entry only the start is searched for the passage: it takes 1 ms for 1,000 characters.
READ_CHARACTERS = 8000
# What a rule is worth beside shared words, in words that are as rare as the rarest of the question.
RULE_WORTH = 0.5
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")


def passage(entry: Entry, weights: Mapping[str, float], limit: int = LIMIT) -> str:
    """At most `limit` characters. weights: what each token of the question is worth."""
    head = ". ".join(part.strip().rstrip(".") for part in (entry.title, entry.applies_when) if part.strip())
    head = shorten(head, HEAD_LIMIT)
    paragraphs = prose(replace(entry, body=entry.body[:READ_CHARACTERS]))
    room = limit - len(head) - 2
    body = " ".join(paragraphs)
    if len(body) > room:
        body = nearest(paragraphs, weights, room)
    return f"{head}. {body}" if head and body else head or body


def nearest(paragraphs: list[str], weights: Mapping[str, float], room: int) -> str:
    """The run of neighbouring sentences, in at most `room` characters, that shares most with the question."""
    sentences = [part for text in paragraphs for part in _SENTENCE.split(text) if part.strip()]
    if not sentences:
        return ""
    shared = [{token for token in tokenize(text) if token in weights} for text in sentences]
    worth = RULE_WORTH * max(weights.values(), default=1.0)
    rules = [worth if states_a_rule(text) else 0.0 for text in sentences]
    best, chosen = -1.0, ""
    for first in range(len(sentences)):
        length, found, rule, last = 0, set[str](), 0.0, first
        while last < len(sentences) and (last == first or length + len(sentences[last]) <= room):
            found |= shared[last]
            rule = max(rule, rules[last])
            length += len(sentences[last]) + 1
            last += 1
        value = sum(weights[token] for token in found) + rule
        if value > best + 1e-9:
            best, chosen = value, " ".join(sentences[first:last])
    return shorten(chosen, room)
