"""Whether what a model proposes stands on what the person said. Checked by program, not by a model.

A quote must occur in the turn that it is said to stand in. Who said it decides what it can ground: the
person's own words a rule; a bare "yes, do that" nothing by itself; the agent and its tools at most a finding;
what was pasted no rule at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ultan.curator.actions import Evidence
from ultan.curator.packet import Packet, Speaker, Turn
from ultan.wire.form import form_of
from ultan.wire.stopwords import STOP
from ultan.wire.tokens import is_pair, tokenize

Source = Literal["person", "approval", "assistant", "tool", "pasted", "nowhere"]

# Strongest first: of several quotes the strongest counts.
ORDER: tuple[Source, ...] = ("person", "approval", "assistant", "tool", "pasted", "nowhere")
# A shorter quote occurs by chance; the whole of what somebody said may be shorter.
LEAST_WORDS = 2
LEAST_CHARACTERS = 4
# What a body says in words that the person did not use, and tools or pasted texts did.
MOST_FOREIGN_SHARE = 0.4
MOST_FOREIGN_WORDS = 2
LEAST_OWN_SHARE = 0.2

_PLAIN = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "...", "`": " ", "*": " "}
)
# Agreement in languages that `wire.form` does not read.
_AGREEING = frozenset(
    """ja jo genau gut okay ok klar gerne bitte mach das so weiter danke super passt oui d'accord vas-y merci
    si sí vale bien claro hazlo gracias sim tá bom va bene certo はい お願いします 了解 好 好的 可以 да
    хорошо""".split()
)


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a quote stands. turn: the turn's number there; elsewhere: the number of another turn of the
    person's that holds it, 0 for none."""

    source: Source
    quote: str = ""
    turn: int = 0
    elsewhere: int = 0


@dataclass(frozen=True, slots=True)
class Support:
    """How much of a text's words the person used. own, foreign: shares of its different words; foreign are
    those that only pasted texts and tools hold. words: how many different ones it has."""

    own: float
    foreign: float
    words: int

    @property
    def says_more(self) -> bool:
        """Whether the text says what only others said, or hardly anything that the person did."""
        if self.foreign * self.words > MOST_FOREIGN_WORDS and self.foreign > MOST_FOREIGN_SHARE:
            return True
        return self.words > 0 and self.own < LEAST_OWN_SHARE


def ground(packet: Packet, evidence: Evidence) -> Ground:
    """Who said the words of one piece of evidence, in the turn that it names."""
    quote = plain(evidence.quote)
    here = [turn for turn in packet.turns if turn.seq == evidence.turn]
    source = _source(here, quote)
    elsewhere = 0
    if source not in ("person", "approval"):
        others = (turn for turn in packet.turns if turn.seq != evidence.turn)
        elsewhere = next((turn.seq for turn in others if _source([turn], quote) == "person"), 0)
    return Ground(source, evidence.quote, evidence.turn, elsewhere)


def best(packet: Packet, evidences: Iterable[Evidence]) -> Ground:
    """The strongest ground among several; `nowhere` for none."""
    found = [ground(packet, evidence) for evidence in evidences]
    return min(found, key=lambda one: ORDER.index(one.source), default=Ground("nowhere"))


def complaints(packet: Packet, evidences: Iterable[Evidence]) -> list[str]:
    """What is wrong with the evidence, for the model to put right."""
    found = []
    for evidence in evidences:
        one = ground(packet, evidence)
        if one.source == "nowhere":
            there = f" It stands in turn {one.elsewhere}." if one.elsewhere else " Copy the words exactly."
            found.append(f'the quote "{evidence.quote[:80]}" does not stand in turn {evidence.turn}.{there}')
    return found


def support(packet: Packet, text: str) -> Support:
    """Whose words a text is made of."""
    mine = content_words(text)
    if not mine:
        return Support(1.0, 0.0, 0)
    person = content_words(_said(packet.turns, "user"))
    agent = content_words(_said(packet.turns, "assistant"))
    others = content_words(_said(packet.turns, "pasted", "tool"))
    foreign = (mine & others) - person - agent
    return Support(len(mine & person) / len(mine), len(foreign) / len(mine), len(mine))


def plain(text: str) -> str:
    """A text for comparing: one case, plain quotation marks, single blanks, no marks of emphasis."""
    folded = unicodedata.normalize("NFKC", text).translate(_PLAIN).casefold()
    return " ".join(folded.split())


def content_words(text: str) -> set[str]:
    """The different stems of a text that say something: no function words, no pairs."""
    return {token for token in tokenize(text) if token not in STOP and not is_pair(token)}


def is_bare_approval(text: str) -> bool:
    """Whether a turn of the person's only agrees."""
    form = form_of(text)
    words = re.findall(r"[\w'’-]+", text.casefold())
    return form.approval or form.empty or (len(words) <= 6 and _AGREEING.issuperset(words))


def _source(turns: Sequence[Turn], quote: str) -> Source:
    speakers: tuple[tuple[Speaker, Source], ...] = (
        ("user", "person"),
        ("assistant", "assistant"),
        ("tool", "tool"),
        ("pasted", "pasted"),
    )
    for speaker, source in speakers:
        for turn in turns:
            for span in turn.spans:
                if span.speaker == speaker and _holds(plain(span.text), quote):
                    if speaker == "user" and is_bare_approval(turn.said_by("user")):
                        return "approval"
                    return source
    return "nowhere"


def _holds(text: str, quote: str) -> bool:
    """Whether a text holds a quote as whole words; a quote that is too short must be all of it."""
    if not quote:
        return False
    if text == quote or text.strip(" .!?,;:\"'") == quote.strip(" .!?,;:\"'"):
        return True
    words = quote.split()
    wide = any(ord(c) > 0x2E80 for c in quote)
    if (len(words) < LEAST_WORDS and not wide) or len(quote) < LEAST_CHARACTERS:
        return False
    before = r"(?<!\w)" if quote[0].isalnum() and not wide else ""
    after = r"(?!\w)" if quote[-1].isalnum() and not wide else ""
    return re.search(before + re.escape(quote) + after, text) is not None


def _said(turns: Iterable[Turn], *speakers: Speaker) -> str:
    return "\n".join(turn.said_by(*speakers) for turn in turns)
